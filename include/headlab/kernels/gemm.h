// Matrix products: C = A B, with or without adding to C, for any size and any transposes. An
// operand is a pointer and two strides, so that a transpose costs nothing and heads are read in
// place inside [B, T, H*D]. See src/kernels/gemm.cc for how it is made fast. The order in which the
// terms of an output are added depends on k alone: results are bit-identical for any number of
// threads.
#pragma once

#include "headlab/kernels/scalar.h"

namespace headlab::inline HEADLAB_SCALAR {

/// Element (i, j) is data[i * row_stride + j * column_stride].
struct ConstMatrix {
  const Scalar* data;
  Index row_stride;
  Index column_stride = 1;

  ConstMatrix transposed() const { return {data, column_stride, row_stride}; }
};

/// c[i, j] = (accumulate ? c[i, j] : 0) + sum over k of a[i, k] b[k, j]; a [m, k], b [k, n], c [m,
/// n] with rows c_stride apart. c must not overlap a or b. k = 0 gives zeros (or leaves c, when
/// accumulating).
struct Gemm {
  Index m, n, k;
  ConstMatrix a, b;
  Scalar* c;
  Index c_stride;
  bool accumulate = false;
};

/// Blocked, vectorised, on all threads where that pays.
void gemm(const Gemm& problem);
/// The same on the calling thread; bit-identical to gemm.
void gemm_serial(const Gemm& problem);
/// What it computes, in a dozen lines: the reference of the tests.
void gemm_plain(const Gemm& problem);

/// `count` products of one shape: problem i has its a, b, c moved by i times these strides (0:
/// shared).
struct GemmBatch {
  Gemm first;
  Index count;
  Index a_step, b_step, c_step;
};
/// Runs the products in parallel, one thread each, or one after the other where each is large.
void gemm_batched(const GemmBatch& batch);

}  // namespace headlab::inline HEADLAB_SCALAR
