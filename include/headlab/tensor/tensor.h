// Tensor: a value handle on a shared node. Copying a Tensor copies the handle, not the numbers:
// both names mean the same tensor. Elements are Scalar, contiguous, row-major, always; reshape
// shares the storage, and everything else that moves data copies it. `backward` (tape.h) fills in
// gradients. Read next: tape.h, ops/.
#pragma once

#include <initializer_list>
#include <span>

#include "headlab/kernels/scalar.h"
#include "headlab/tensor/shape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

class Node;

class Tensor {
 public:
  /// No tensor at all; only defined() may be asked.
  Tensor() = default;
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Tensor& operator=(Tensor other) noexcept;
  ~Tensor();

  /// Elements not initialised: for ops, which write every one.
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

}}  // namespace headlab
