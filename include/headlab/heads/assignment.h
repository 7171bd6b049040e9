// Who does what, one to one: a head that looks like the best for two relations can be given to one
// of them only, and the other gets its next best. Choosing greedily, relation by relation, would
// depend on their order. Read next: scores.h, which assigns heads to relations.
#pragma once

#include <span>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab {

/// For each row of values [rows, columns] a column of its own, such that the sum of their values is
/// as large as it can be; -1 for the rows that are left over where there are fewer columns.
/// Errors: a value that is not finite, a matrix of another size.
/// Source: the Hungarian method, Kuhn 1955; with potentials, O(rows^2 columns).
std::vector<Index> best_assignment(Index rows, Index columns, std::span<const double> values);

}  // namespace headlab
