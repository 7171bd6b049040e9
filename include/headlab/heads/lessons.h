// The worlds of the lessons: sentences small enough to compute by hand, published models, and what
// articles on multi-head attention get wrong. The terminal's `explain`,
// the lessons of a page and the tests all take their numbers from here. Attention is computed in
// double, step by step, and every intermediate result is kept: to look at, not to train. Read next:
// src/lab/heads/lessons/lesson_tables.cc, the tables; ops/attention.h, the attention that models
// run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/base/table.h"
#include "headlab/heads/matrix.h"

namespace headlab {

/// All that one head computes, in the order in which it does. T queries, S keys.
struct HeadSteps {
  Matrix q, k, v;  // [T, D], [S, D], [S, Dv]
  Matrix scores;   // [T, S]: q k^T
  Matrix scaled;   // [T, S]: scores / sqrt(D)
  Matrix weights;  // [T, S]: softmax of each row over the keys that it sees; 0 on the others
  Matrix output;   // [T, Dv]: weights v

  void members(auto&& f) {
    f("q", q), f("k", k), f("v", v), f("scores", scores), f("scaled", scaled);
    f("weights", weights), f("output", output);
  }
};

/// softmax(q k^T / sqrt(D)) v. `visible` [T, S]: 1 for the keys that a query sees; empty: all. A
/// query that sees none has weights of 0. Error unless the sizes fit.
HeadSteps attend(const Matrix& q, const Matrix& k, const Matrix& v,
                 std::span<const char> visible = {});
/// Columns [begin, end).
Matrix columns_of(const Matrix& matrix, Index begin, Index end);
/// The same for `heads` heads, head h with columns [h D, (h + 1) D) of q, k and v. Error unless
/// the columns divide into as many.
std::vector<HeadSteps> attend_in_heads(const Matrix& q, const Matrix& k, const Matrix& v,
                                       Index heads);
/// Outputs side by side, [T, H Dv].
Matrix concatenated(std::span<const HeadSteps> heads);
/// The pattern averaged over heads, [T, S].
Matrix average_weights(std::span<const HeadSteps> heads);
/// The square root of the sum of squares.
double norm(const Matrix& matrix);
/// By how much the output changes in norm when head h is silenced: |z_h W_O,h|, W_O [H Dv, C].
double change_when_silent(std::span<const HeadSteps> heads, std::size_t h, const Matrix& W_O);
Matrix identity(Index n);

/// Mean Jensen-Shannon distance (natural logarithm) of rows of the same query, over all pairs of
/// heads; 0 for fewer than two.
double diversity_of(std::span<const HeadSteps> heads);

/// A sentence with the q, k and v of its tokens, the columns of all heads side by side.
struct LessonWorld {
  std::string name;   // "five-tokens"
  std::string title;  // one line
  std::vector<std::string> tokens;
  Index heads;     // into which its article splits it
  Matrix q, k, v;  // [T, d]
  Matrix W_O;      // [d, d]
};
/// From {"tokens", "q", "k", "v"} with "heads" (1 if missing) and "W_O" (the identity): a row for
/// each token. Error that says what does not fit.
LessonWorld world_of(const Json& json, const std::string& source);
/// The worlds of the lessons in that form, as the terminal and a page read them: "The cat sat on
/// mat", width 4, two heads; "Cat sleeps", width 4, two heads.
std::span<const char* const> lesson_world_texts();
const std::vector<LessonWorld>& lesson_worlds();
/// Error that lists the names.
const LessonWorld& lesson_world(std::string_view name);

/// Heads on one input, as they are to be shown.
struct ShownHeads {
  std::vector<std::string> queries{}, keys{};  // tokens
  std::vector<std::string> names{};            // "head 1"
  std::vector<HeadSteps> heads{};
};
/// "head 1", "head 2" ... over the tokens of a world.
ShownHeads shown_heads(const std::vector<std::string>& tokens, std::vector<HeadSteps> heads);
/// The computation for one query, a table for each head with a row for each key that it sees: the
/// products of the elements (up to width 4; else the largest of them), their sum, that divided by
/// sqrt(D), exp of it less the largest, the weight, and what the key adds to the output. Error for
/// a query that is not there.
std::vector<Table> query_tables(const ShownHeads& shown, Index query);
/// Every step of all queries as matrices: q, k and v with the columns of heads apart; for each head
/// the scores, the weights and the output; the average; W_O. Error without heads, and for more keys
/// than fit into a terminal.
std::vector<Table> world_tables(const ShownHeads& shown, const Matrix& W_O);

/// Attention of a published model.
struct PublishedModel {
  const char* name;
  Index d_model, heads, kv_heads, d_head, layers;  // layers: of one stack of blocks
  const char* source;
  bool generates = true;
};
std::span<const PublishedModel> published_models();

/// Topic, claim, fact and source of each.
Table corrections_table();
/// The scores that are patterns to know, and what each says.
Table known_patterns_table();

/// What the lessons of a page compute with: {"worlds", "models"}.
Json lessons_json();

}  // namespace headlab
