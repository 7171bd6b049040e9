// The sizes of a tensor's axes, kept in place: making one asks nobody for
// memory, so that ops can compute with shapes freely. Sizes are checked here,
// in every build. Read next: tensor.h.
#pragma once

#include <array>
#include <initializer_list>
#include <ostream>
#include <span>

#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

class Shape {
 public:
  static constexpr int kMaxRank = 8;

  /// Rank 0: one element.
  Shape() = default;
  /// Error for more than kMaxRank axes, a negative size, or a product that overflows.
  Shape(std::initializer_list<Index> sizes);
  explicit Shape(std::span<const Index> sizes);

  int rank() const { return rank_; }
  /// The size of an axis; negative axes count from the end. Error if there is no such axis.
  Index operator[](int axis) const { return sizes_[axis_of(axis)]; }
  /// The axis as a number in [0, rank). Error if there is no such axis.
  int axis_of(int axis) const;
  /// The number of elements.
  Index count() const { return count_; }
  /// The product of the sizes of axes [first, last).
  Index count(int first, int last) const;

  /// This shape with one axis of another size, without an axis, or with an axis more at the end.
  Shape with(int axis, Index size) const;
  Shape without(int axis) const;
  Shape then(Index size) const;

  const Index* begin() const { return sizes_.data(); }
  const Index* end() const { return sizes_.data() + rank_; }
  friend bool operator==(const Shape& a, const Shape& b);
  /// [2, 3]
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  std::array<Index, kMaxRank> sizes_{};
  int rank_ = 0;
  Index count_ = 1;
};

/// The shape that a and b broadcast to by NumPy's rule: aligned at the last axis, sizes equal or 1.
/// Error that names `op` and both shapes.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

}}  // namespace headlab
