// Matrix products: C = A B, with or without adding to C, for any size and any transposes. An
// operand is a pointer and two strides, so that a transpose costs nothing and heads are read in
// place inside [B, T, H*D]. The order in which the terms of an output are added depends on k alone,
// so results are bit-identical for any number of threads. A readable version:
// tests/kernels/plain.h. Read next: src/core/kernels/gemm.cc, for the optimisations.
#pragma once

#include <span>

#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A matrix whose element (i, j) is data[i * row_stride + j * column_stride]: row-major if
/// column_stride is 1, with row_stride as leading dimension; column-major if row_stride is 1.
struct ConstMatrix {
  const Scalar* data;
  Index row_stride;
  Index column_stride = 1;

  ConstMatrix transposed() const { return {data, column_stride, row_stride}; }
};

/// The epilogue: operations on c, in this order, when a sum is complete and still in cache; null:
/// none. Matrices have c's leading dimension. Each operation saves a pass over memory and a
/// parallel loop.
struct Finish {
  const Scalar* bias = nullptr;    // [n]: c += bias[j]
  const Scalar* factor = nullptr;  // [m, n]: c *= factor
  Scalar* gelu = nullptr;          // [m, n]: receives gelu(c)
};

/// The product c[i, j] = (accumulate ? c[i, j] : 0) + sum over k of a[i, k] b[k, j]; a [m, k], b
/// [k, n], c [m, n] with rows c_stride apart. c must not overlap a or b. k = 0 gives zeros (or
/// leaves c, when accumulating). If column_sums [n] is not null: += sum over k of b[k, j], as if a
/// had one more row, of ones; this is the gradient of a bias, computed together with that of its
/// weights.
struct Gemm {
  Index m, n, k;
  ConstMatrix a, b;
  Scalar* c;
  Index c_stride;
  bool accumulate = false;
  Finish finish{};
  Scalar* column_sums = nullptr;
};

/// Computes a product, blocked and vectorised, on all threads if that is faster.
void gemm(const Gemm& problem);
/// Computes independent products, each with its own c. Each thread does its part of all products,
/// so that threads start and synchronise once.
void gemm_together(std::span<const Gemm> problems);
/// Computes a product on the calling thread; bit-identical to gemm.
void gemm_serial(const Gemm& problem);
/// Returns rows [i, i + m) and columns [j, j + n) of the product as a separate product. The part
/// with the first rows adds the column sums.
Gemm gemm_part(const Gemm& problem, Index i, Index m, Index j, Index n);
/// Transposes: to [n, m] = the transpose of from [m, n]; on all threads.
void transpose_matrix(Index m, Index n, const Scalar* from, Scalar* to);

/// `count` products of one shape: problem i has its a, b, c moved by i times these strides (0:
/// shared). Epilogue and column sums do not move.
struct GemmBatch {
  Gemm first;
  Index count;
  Index a_step, b_step, c_step;
};
/// Runs the products in parallel, one thread each, or one after the other if each is large.
void gemm_batched(const GemmBatch& batch);

}}  // namespace headlab
