// Handles: counting references to nodes, and to the storage that nodes share. What a node holds and
// how it ends stands in tape.cc, because the end of a graph is a matter of the tape. Read next:
// tape.cc.
#include "headlab/tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "headlab/base/error.h"
#include "headlab/kernels/elementwise.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Tensor::Tensor(const Tensor& other) noexcept : node_(other.node_) {
  if (node_ != nullptr) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

Tensor& Tensor::operator=(Tensor other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}

Tensor::~Tensor() {
  if (node_ != nullptr) Node::release(node_);
}

Tensor Tensor::empty(const Shape& shape) { return Node::make(shape, Storage::make(shape.count())); }

Tensor Tensor::full(const Shape& shape, Scalar value) {
  Tensor t = empty(shape);
  fill_array(t.count(), value, t.data());
  return t;
}

Tensor Tensor::of(const Shape& shape, std::span<const Scalar> values) {
  require(static_cast<Index>(values.size()) == shape.count(), "shape ", shape, " holds ",
          shape.count(), " values, got ", values.size());
  Tensor t = empty(shape);
  std::copy(values.begin(), values.end(), t.data());
  return t;
}

Tensor Tensor::of(const Shape& shape, std::initializer_list<Scalar> values) {
  return of(shape, std::span(values.begin(), values.size()));
}

const Shape& Tensor::shape() const {
  require(defined(), "an undefined tensor has no shape");
  return node_->shape_;
}

Scalar* Tensor::data() const {
  require(defined(), "an undefined tensor has no elements");
  return node_->storage_->data();
}

Scalar Tensor::item() const {
  require(count() == 1, "item() needs one element, the shape is ", shape());
  return *data();
}

bool Tensor::requires_grad() const { return defined() && node_->requires_grad_; }

Tensor& Tensor::set_requires_grad(bool value) {
  require(defined(), "an undefined tensor has no gradient");
  require(node_->is_leaf(), "set_requires_grad is for leaves; this tensor was made by ",
          node_->is_leaf() ? "" : node_->name());
  node_->requires_grad_ = value;
  return *this;
}

void Tensor::retain_grad() {
  require(requires_grad(), "retain_grad on a tensor that requires no gradient");
  node_->retain_gradient_ = true;
}

Tensor Tensor::grad() const {
  if (!defined() || node_->gradient_ == nullptr) return {};
  node_->gradient_->references.fetch_add(1, std::memory_order_relaxed);
  return Node::make(shape(), node_->gradient_);
}

void Tensor::zero_grad() const {
  if (defined()) node_->drop_gradient();
}

Tensor Tensor::detach() const { return viewed_as(shape()); }

Tensor Tensor::clone() const { return of(shape(), values()); }

Tensor Tensor::viewed_as(const Shape& other) const {
  require(other.count() == count(), "reshape: ", shape(), " has ", count(), " elements, ", other,
          " has ", other.count());
  node_->storage_->references.fetch_add(1, std::memory_order_relaxed);
  return Node::make(other, node_->storage_);
}

}}  // namespace headlab
