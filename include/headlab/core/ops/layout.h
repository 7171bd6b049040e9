// Ops that move elements without computing on them, and lookups by index. Reshape shares the
// storage; the others copy, because tensors are always contiguous, which keeps every kernel simple.
// Ids are plain integers instead of tensors because they have no gradient; they are checked before
// any element is read. Read next: src/core/ops/layout.cc.
#pragma once

#include <span>

#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Returns the same elements in another shape of equal count. Shares the storage.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Replaces each tensor that occurs earlier in `inputs` by a reshape of itself. An op that computes
/// several gradients at once needs a separate node, with its own buffer, for each input.
void separate(std::span<Tensor> inputs);
/// Permutes the axes: axis i of y is axis order[i] of x. Error unless `order` names each axis once.
Tensor permute(const Tensor& x, std::initializer_list<int> order);
/// Exchanges two axes.
Tensor transpose(const Tensor& x, int axis_a = -2, int axis_b = -1);
/// Returns elements [begin, end) of an axis. Error unless 0 <= begin <= end <= size.
Tensor slice(const Tensor& x, int axis, Index begin, Index end);
/// Concatenates the parts along an axis; their other axes must be equal. Error if there are no
/// parts.
Tensor concat(std::span<const Tensor> parts, int axis);
inline Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

/// Looks up rows: y[i] = table[ids[i]] with table [V, C] and y [ids..., C], where `ids_shape` is
/// the shape of the ids. dtable[v] = the sum of dy[i] over ids[i] = v. Errors name the first id
/// outside [0, V).
Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids, const Shape& ids_shape);

}}  // namespace headlab
