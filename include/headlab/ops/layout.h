// Ops that move elements and compute nothing, and lookups by whole numbers. Reshape shares the
// storage; the others copy, because tensors are always contiguous, which keeps every kernel simple.
// Ids are plain numbers, not tensors, because they have no gradient; they are checked before
// anything is read. Read next: src/core/ops/layout.cc.
#pragma once

#include <span>

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The same elements in another shape of equal count. Shares the storage.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Replaces each tensor that stands in `inputs` before by a reshape of itself: an op that computes
/// several gradients at once needs a node, and so a buffer, for each.
void separate(std::span<Tensor> inputs);
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

/// y[i] = table[ids[i]]: table [V, C], y [ids..., C] where `ids_shape` is the shape of the ids.
/// dtable[v] = the sum of dy[i] over ids[i] = v. Error that names the first id outside [0, V).
Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids, const Shape& ids_shape);

}}  // namespace headlab
