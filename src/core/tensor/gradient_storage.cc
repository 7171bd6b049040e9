// Gradients that are shared, given or stored by rows (gradient_storage.h). Storage counts its
// users: Node::slot copies a gradient that others share before a kernel changes it. Read next:
// tape.cc.
#include "core/tensor/gradient_storage.h"

#include <algorithm>
#include <utility>

#include "core/kernels/elementwise.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

void GradientStorage::pass_to(const Node& node, std::size_t i) {
  if (!node.wants(i)) return;
  Node& to = *node.inputs_[i].node();
  if (to.gradient_ == nullptr && !to.is_leaf() && !node.retain_gradient_) {
    node.gradient_->references.fetch_add(1, std::memory_order_relaxed);
    to.gradient_ = node.gradient_;
  } else {
    add_scaled(node.count(), 1, node.gradient(), node.sum_into(i));
  }
}

void GradientStorage::give(const Node& node, std::size_t i, const Tensor& gradient) {
  if (!node.wants(i)) return;
  Node& to = *node.inputs_[i].node();
  const Scalar factor = *node.gradient();
  if (factor != 1) scale_array(gradient.count(), factor, gradient.data());
  if (to.gradient_ != nullptr) {
    add_scaled(gradient.count(), 1, gradient.data(), node.sum_into(i));
    return;
  }
  to.gradient_ = gradient.node()->storage_;
  to.gradient_->references.fetch_add(1, std::memory_order_relaxed);
}

Scalar* GradientStorage::sum_into_rows(const Node& node, std::size_t i, const Ids& rows) {
  Node& to = *node.inputs_[i].node();
  if (!node.wants(i) || !to.is_leaf() || to.gradient_ != nullptr || rows.empty()) return nullptr;
  const Index width = to.shape_.count(1, to.shape_.rank());
  Storage* const few = Storage::make(std::ssize(rows) * width);
  few->rows = rows;
  fill_array(few->count, 0, few->data());
  to.gradient_ = few;
  return few->data();
}

void GradientStorage::complete(Node& node) {
  if (node.gradient_ == nullptr || node.gradient_->rows.empty()) return;
  Storage* const few = std::exchange(node.gradient_, Storage::make(node.count()));
  const Index width = few->count / std::ssize(few->rows);
  fill_array(node.count(), 0, node.gradient_->data());
  for (Index i = 0; i < std::ssize(few->rows); ++i) {
    std::copy_n(few->data() + i * width, width, node.gradient_->data() + few->rows[i] * width);
  }
  Storage::release(few);
}

const Storage* GradientStorage::of(const Tensor& tensor) { return tensor.node()->gradient_; }

}}  // namespace headlab
