// Lessons as text for a terminal: attention step by step, for one query or as matrices; what W_O
// does; heads of random weights; known patterns; what articles get wrong. Pure functions of numbers
// that heads/lessons.h and heads/model_steps.h compute. Read next: src/cli/topics.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/heads/known_patterns.h"
#include "headlab/heads/lessons.h"
#include "headlab/heads/model_steps.h"
#include "headlab/report/heatmap.h"

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
/// q, k and v with the columns of heads apart, then for each head the scores, the weights and the
/// output; with shapes.
std::string matrices_text(const ShownHeads& shown);
/// The concatenated outputs, what W_O makes of them, and by how much the output changes without
/// each head.
std::string mixing_text(const ShownHeads& shown, const Matrix& W_O);
/// How many rows look at all keys alike, because their query is 0; "" if none does.
std::string uniform_text(const ShownHeads& shown);
/// A line for each number of heads: width, entropy, focus, diversity, uniform rows.
std::string head_counts_text(const std::vector<std::vector<HeadSteps>>& by_count);
/// A line for each head: entropy against ln S, focus.
std::string entropies_text(std::span<const HeadSteps> heads);

/// What each head of a model writes on one input.
std::string writes_text(const std::vector<HeadWrite>& writes);
/// A line for each head: its distance from each known pattern, nearest to `first` at the top, and
/// what it is most like; last uniform attention, for comparison.
std::string likeness_text(const LikenessReport& report, std::string_view first);
/// The known patterns on these tokens, as small maps.
std::string known_patterns_text(const std::vector<std::string>& tokens, Shades shades);

/// What is said of a topic and what is so; of all topics for "". "" if nothing is.
std::string corrections_text(std::string_view topic);

}  // namespace headlab
