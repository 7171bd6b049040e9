// Shape, and Tensor: a value handle on a shared node. Copying a Tensor copies the handle, not the
// elements: both handles refer to the same tensor. Elements are always Scalar, contiguous and
// row-major; reshape shares the storage, every other op that moves data copies it. `backward`
// (tape.h) computes gradients. HEADLAB_SCALAR is the namespace of the number type: f32, or f64 in
// the library for gradient checks (src/README.md). Read next: tape.h, core/ops/ops.h.
#pragma once

#include <array>
#include <initializer_list>
#include <ostream>
#include <span>

#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The sizes of the axes, stored inline: constructing a Shape allocates no memory, so ops can
/// compute with shapes freely. Sizes are checked in every build.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  /// Rank 0: one element.
  Shape() = default;
  /// Constructs a shape from its sizes. Error if there are more than kMaxRank axes, if a size is
  /// negative, or if the product overflows.
  Shape(std::initializer_list<Index> sizes);
  explicit Shape(std::span<const Index> sizes);

  int rank() const { return rank_; }
  /// The size of an axis; negative axes count from the end. Error if there is no such axis.
  Index operator[](int axis) const { return sizes_[axis_of(axis)]; }
  /// Converts a possibly negative axis to a number in [0, rank). Error if there is no such axis.
  int axis_of(int axis) const;
  Index count() const { return count_; }
  /// The product of the sizes of axes [first, last).
  Index count(int first, int last) const;

  /// Return this shape with another size of one axis, without an axis, or with an axis added at the
  /// end.
  Shape with(int axis, Index size) const;
  Shape without(int axis) const;
  Shape then(Index size) const;

  const Index* begin() const { return sizes_.data(); }
  const Index* end() const { return sizes_.data() + rank_; }
  friend bool operator==(const Shape& a, const Shape& b);
  /// Prints the shape as [2, 3].
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  std::array<Index, kMaxRank> sizes_{};
  int rank_ = 0;
  Index count_ = 1;
};

/// Returns the shape that a and b broadcast to by NumPy's rule: axes are aligned at the last one,
/// and sizes must be equal or 1. Errors name `op` and both shapes.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

class Node;

class Tensor {
 public:
  /// Constructs an undefined tensor; only defined() may be called on it.
  Tensor() = default;
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Tensor& operator=(Tensor other) noexcept;
  ~Tensor();

  /// Returns a tensor with uninitialised elements (NaN in a debug build), for ops that write every
  /// element.
  static Tensor empty(const Shape& shape);
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor full(const Shape& shape, Scalar value);
  /// Error unless values.size() is the shape's count.
  static Tensor of(const Shape& shape, std::span<const Scalar> values);
  static Tensor of(const Shape& shape, std::initializer_list<Scalar> values);
  static Tensor scalar(Scalar value) { return full({}, value); }

  bool defined() const { return node_ != nullptr; }
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  /// The size of an axis; negative axes count from the end.
  Index size(int axis) const { return shape()[axis]; }
  Index count() const { return shape().count(); }

  /// Returns the elements. Write only to parameters and new tensors: a value that a recorded op has
  /// read must not change before backward.
  Scalar* data() const;
  std::span<Scalar> values() const { return {data(), static_cast<std::size_t>(count())}; }
  /// Error unless there is exactly one element.
  Scalar item() const;

  /// Returns whether backward computes a gradient for this tensor. It may only be set on leaves,
  /// that is tensors that are not the output of an op.
  bool requires_grad() const;
  Tensor& set_requires_grad(bool value = true);
  /// Keeps the gradient of the output of an op; by default backward frees it after its last use.
  void retain_grad();
  /// Returns dLoss/dthis after backward, of the same shape; undefined if no gradient reached it.
  /// Gradients accumulate over backward calls until zero_grad.
  Tensor grad() const;
  void zero_grad() const;

  /// Returns a tensor with the same storage that is not connected to the tape.
  Tensor detach() const;
  /// Returns a copy of the elements that is not connected to the tape.
  Tensor clone() const;
  /// Returns a tensor with the same storage and another shape of equal count, not connected to the
  /// tape (the op `reshape` stays connected).
  Tensor viewed_as(const Shape& shape) const;

  Node* node() const { return node_; }

 private:
  friend class Node;
  explicit Tensor(Node* node) noexcept : node_(node) {}
  Node* node_ = nullptr;
};

/// Prints the shape, as [2, 3], then one line per row; long tensors are cut to the beginnings of
/// their first rows.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}}  // namespace headlab
