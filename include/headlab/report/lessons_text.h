// Lessons as text for a terminal: attention step by step, for one query or as matrices, and what
// articles get wrong. Pure functions of numbers that heads/lessons.h and heads/model_steps.h
// compute. Read next: src/cli/explain.cc.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "headlab/heads/lessons.h"

namespace headlab {

/// Heads on one input, as they are to be shown.
struct ShownHeads {
  std::vector<std::string> queries{}, keys{};  // tokens
  std::vector<std::string> names{};            // "head 1"
  std::vector<HeadSteps> heads{};
};
/// "head 1", "head 2" ... over the tokens of a world.
ShownHeads shown_heads(const std::vector<std::string>& tokens, std::vector<HeadSteps> heads);

/// "[0.5, 1, 0]", with at most four decimals.
std::string vector_text(std::span<const double> values);
/// Row t of a matrix.
std::span<const double> row_of(const Matrix& matrix, Index t);

/// The computation for one query in each head, a line for each key that it sees: the products of
/// the elements (up to width 4; else the largest of them), their sum, that divided by sqrt(D), exp
/// of it less the largest, the weight, and what the key adds to the output. Error for a query that
/// is not there.
std::string query_text(const ShownHeads& shown, Index query);
/// Every step of all queries as matrices with their shapes: q, k and v with the columns of heads
/// apart; for each head the scores, the weights and the output; the average; W_O. Error without
/// heads, and for more keys than fit into a terminal.
std::string world_text(const ShownHeads& shown, const Matrix& W_O);

/// What articles say of attention, and what is so.
std::string corrections_text();
/// The glossary of the lessons: a term ("query, q"), and what it means, in a word and exactly.
std::vector<std::array<std::string, 2>> glossary();

}  // namespace headlab
