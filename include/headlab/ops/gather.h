// Lookups by whole numbers: rows of a table, and one element of each row. Ids are plain numbers,
// not tensors, because they have no gradient; they are checked before anything is read. Read next:
// softmax.h.
#pragma once

#include <span>

#include "headlab/base/pool.h"
#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y[i] = table[ids[i]]: table [V, C], y [ids..., C] where `ids_shape` is the shape of the ids.
/// dtable[v] = the sum of dy[i] over ids[i] = v. Error that names the first id outside [0, V).
Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids, const Shape& ids_shape);

/// y[r] = x[r, ids[r]] for x [..., V]; y [...]. dx[r, ids[r]] = dy[r], 0 elsewhere.
Tensor gather(const Tensor& x, std::span<const std::int32_t> ids);

}}  // namespace headlab
