// Heads as points: how far apart the patterns of two heads are, a map on which near heads do alike,
// and in how many directions a head writes. Everything rests on the eigenvalues of small symmetric
// matrices. Read next: src/heads/geometry.cc.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab {

/// Mean over queries of -sum p ln p, for rows of weights [rows, n]; 0 ln 0 = 0.
double mean_entropy(Index rows, Index n, const Scalar* weights);
/// sqrt of the Jensen-Shannon divergence of two distributions over n keys, natural logarithm.
double jensen_shannon_distance(Index n, const Scalar* p, const Scalar* q);

/// matrix = sum over i of values[i] v_i v_i^T, with v_i = vectors[i n ... i n + n).
struct SymmetricEigen {
  std::vector<double> values;   // [n], descending
  std::vector<double> vectors;  // [n, n]: rows of length 1, at right angles
};

/// Eigenvalues and eigenvectors of a symmetric matrix [n, n]; its upper triangle is read. The
/// largest element of each vector is positive.
/// Errors: another number of elements than n^2, one that is not finite.
/// Source: cyclic Jacobi rotations, Golub and Van Loan 1996, section 8.4.
SymmetricEigen symmetric_eigen(Index n, std::span<const double> matrix);

/// Points in the plane whose distances come as near to distances [n, n] as planar points can, their
/// centre at 0: coordinate k of point i is sqrt(lambda_k) v_k[i] for the two largest eigenvalues of
/// -J D^2 J / 2, J = I - 1/n.
/// Source: classical scaling, Torgerson 1952.
std::vector<std::array<double, 2>> classical_scaling(Index n, std::span<const double> distances);

/// exp of the entropy of the singular values of Z, divided by their sum, from Z^T Z [n, n]: n for
/// n equal ones, 1 for a single one; 0 for Z = 0.
/// Source: Roy and Vetterli 2007, definition 1.
double effective_rank(Index n, std::span<const double> gram);

}  // namespace headlab
