// Ops that move elements and compute nothing. Reshape shares the storage; the
// others copy, because tensors are always contiguous, which keeps every kernel
// simple. Read next: src/ops/layout.cc.
#pragma once

#include <span>

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The same elements in another shape of equal count. Shares the storage.
Tensor reshape(const Tensor& x, const Shape& shape);
/// y's axis i is x's axis order[i]. Error unless `order` names each axis once.
Tensor permute(const Tensor& x, std::initializer_list<int> order);
/// Exchanges two axes.
Tensor transpose(const Tensor& x, int axis_a = -2, int axis_b = -1);
/// Elements [begin, end) of an axis. Error unless 0 <= begin <= end <= size.
Tensor slice(const Tensor& x, int axis, Index begin, Index end);
/// The parts one after the other along an axis; their other axes must be equal. Error for no part
/// at all.
Tensor concat(std::span<const Tensor> parts, int axis);
inline Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

}}  // namespace headlab
