// Shape, and Tensor: a value handle on a shared node. Copying a Tensor copies the handle, not the
// numbers: both names mean the same tensor. Elements are Scalar, contiguous, row-major, always;
// reshape shares the storage, and everything else that moves data copies it. `backward` (tape.h)
// fills in gradients. HEADLAB_SCALAR is the namespace of the number type: f32, or f64 in the
// library for checks (src/README.md). Read next: tape.h, ops/.
#pragma once

#include <array>
#include <initializer_list>
#include <ostream>
#include <span>

#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The sizes of the axes, stored inline: making one allocates nothing, so that ops can compute with
/// shapes freely. Sizes are checked here, in every build.
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

class Node;

class Tensor {
 public:
  /// No tensor at all; only defined() may be asked.
  Tensor() = default;
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Tensor& operator=(Tensor other) noexcept;
  ~Tensor();

  /// Elements not initialised (NaN in a debug build): for ops, which write every one.
  static Tensor empty(const Shape& shape);
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor full(const Shape& shape, Scalar value);
  /// Error unless values.size() is the shape's count.
  static Tensor of(const Shape& shape, std::span<const Scalar> values);
  static Tensor of(const Shape& shape, std::initializer_list<Scalar> values);
  /// One element, rank 0.
  static Tensor scalar(Scalar value) { return full({}, value); }

  bool defined() const { return node_ != nullptr; }
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  /// The size of an axis; negative axes count from the end.
  Index size(int axis) const { return shape()[axis]; }
  Index count() const { return shape().count(); }

  /// The elements. Writing to them is for parameters and new tensors: a value that a recorded op
  /// has read must not change before backward.
  Scalar* data() const;
  std::span<Scalar> values() const { return {data(), static_cast<std::size_t>(count())}; }
  /// The only element. Error if there are more.
  Scalar item() const;

  /// Whether backward computes a gradient here. Setting it is for leaves: tensors that no op made.
  bool requires_grad() const;
  Tensor& set_requires_grad(bool value = true);
  /// Keeps the gradient of a tensor that an op made; otherwise backward frees it once it is used.
  void retain_grad();
  /// dLoss/dthis, of the same shape, after backward; undefined if nothing reached it. Gradients
  /// accumulate over backward calls until zero_grad.
  Tensor grad() const;
  void zero_grad() const;

  /// The same storage, cut off from the tape.
  Tensor detach() const;
  /// A copy of the elements, cut off from the tape.
  Tensor clone() const;
  /// The same storage with another shape of equal count, cut off from the tape (ops/: reshape keeps
  /// it).
  Tensor viewed_as(const Shape& shape) const;

  Node* node() const { return node_; }

 private:
  friend class Node;
  explicit Tensor(Node* node) noexcept : node_(node) {}
  Node* node_ = nullptr;
};

/// [2, 3], then a line for each row; of a long tensor the beginnings of the first rows.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}}  // namespace headlab
