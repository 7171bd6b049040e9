// Sums, means and maxima over one axis or over everything. Terms
// are added in the order of memory, whatever the number of
// threads. Read next: softmax.h.
#pragma once

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The sum over an axis, which goes away (or stays with size 1 if `keep`). dx = dy, repeated.
Tensor sum(const Tensor& x, int axis, bool keep = false);
/// The sum divided by the size of the axis. Error if the axis is empty.
Tensor mean(const Tensor& x, int axis, bool keep = false);
/// The largest element; its gradient goes to the first of equals. Error if the axis is empty.
Tensor max(const Tensor& x, int axis, bool keep = false);
/// The sum and the mean of all elements, rank 0.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

}}  // namespace headlab
