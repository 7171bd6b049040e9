// Worked examples: sentences small enough to compute by hand, attention of published models, and
// common errors in articles about multi-head attention. `explain`, the lessons of a page and the
// tests take their numbers from here. Attention is computed in double, step by step, with every
// intermediate result kept for display. Read next: src/lab/heads/lessons/lesson_tables.cc, the
// tables; core/ops/attention.h, the attention that models run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/lab/heads/weights/matrix.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Intermediate results of one head in order of computation. T queries, S keys.
struct HeadSteps {
  Matrix q, k, v;  // [T, D], [S, D], [S, Dv]
  Matrix scores;   // [T, S]: q k^T
  Matrix scaled;   // [T, S]: scores / sqrt(D)
  Matrix weights;  // [T, S]: softmax of each row over its visible keys; 0 on the others
  Matrix output;   // [T, Dv]: weights v

  void members(auto&& f) {
    f("q", q), f("k", k), f("v", v), f("scores", scores), f("scaled", scaled);
    f("weights", weights), f("output", output);
  }
};

/// Returns the steps of softmax(q k^T / sqrt(D)) v. `visible` [T, S]: 1 for the keys that a query
/// sees; empty: all. A query without visible keys has weights of 0. Error unless the sizes fit.
HeadSteps attend(const Matrix& q, const Matrix& k, const Matrix& v,
                 std::span<const char> visible = {});
/// Returns columns [begin, end).
Matrix columns_of(const Matrix& matrix, Index begin, Index end);
/// Returns the steps of `heads` heads; head h has columns [h D, (h + 1) D) of q, k and v. Error
/// unless `heads` divides the number of columns.
std::vector<HeadSteps> attend_in_heads(const Matrix& q, const Matrix& k, const Matrix& v,
                                       Index heads);
/// Returns the concatenated outputs, [T, H Dv].
Matrix concatenated(std::span<const HeadSteps> heads);
/// Returns the pattern averaged over heads, [T, S].
Matrix average_weights(std::span<const HeadSteps> heads);
/// Returns the square root of the sum of squares.
double norm(const Matrix& matrix);
/// Returns the norm of the change of the output when head h is ablated: |z_h W_O,h|, W_O [H Dv, C].
double change_when_ablated(std::span<const HeadSteps> heads, std::size_t h, const Matrix& W_O);
Matrix identity(Index n);

/// Returns the mean Jensen-Shannon distance (natural logarithm) of rows of the same query, over all
/// pairs of heads; 0 for fewer than two heads.
double diversity_of(std::span<const HeadSteps> heads);

/// Sentence with the q, k and v of its tokens; the columns of all heads are concatenated.
struct WorkedExample {
  std::string name;   // "five-tokens"
  std::string title;  // one line
  std::vector<std::string> tokens;
  Index heads;     // number of heads in its article
  Matrix q, k, v;  // [T, d]
  Matrix W_O;      // [d, d]
};
/// Reads {"tokens", "q", "k", "v"} with "heads" (1 if missing) and "W_O" (the identity if missing);
/// matrices have one row per token. Error that names the part that does not fit.
WorkedExample worked_example_of(const Json& json, const std::string& source);
/// Returns the worked examples as JSON text, the form that the terminal and a page read: "The cat
/// sat on mat", width 4, two heads; "Cat sleeps", width 4, two heads.
std::span<const char* const> worked_example_texts();
const std::vector<WorkedExample>& worked_examples();
/// Returns the worked example of this name. Error that lists the names if there is none.
const WorkedExample& worked_example(std::string_view name);

/// Heads on one input, ready for display.
struct ShownHeads {
  std::vector<std::string> queries{}, keys{};  // tokens
  std::vector<std::string> names{};            // "head 1"
  std::vector<HeadSteps> heads{};
};
/// Names the heads "head 1", "head 2" ... over the tokens of a worked example.
ShownHeads shown_heads(const std::vector<std::string>& tokens, std::vector<HeadSteps> heads);
/// Returns the computation for one query: for each head a table with one row per visible key.
/// Columns: the products of the elements (up to width 4; else the largest of them), their sum, the
/// sum divided by sqrt(D), exp of it minus the largest, the weight, and the key's contribution to
/// the output. Error for a query that does not exist.
std::vector<Table> query_tables(const ShownHeads& shown, Index query);
/// Returns every step of all queries as matrices: q, k and v with the columns of heads apart; for
/// each head the scores, the weights and the output; the average; W_O. Errors: no heads; more keys
/// than a terminal is wide enough for.
std::vector<Table> worked_example_tables(const ShownHeads& shown, const Matrix& W_O);

/// Attention of a published model.
struct PublishedModel {
  const char* name;
  Index d_model, heads, kv_heads, d_head, layers;  // layers of one stack of blocks
  const char* source;
  bool generates = true;
};
std::span<const PublishedModel> published_models();
/// Returns the models with the weights of an attention layer, without biases, and the bytes of a
/// token in the cache of generation.
Table published_models_table();

/// Returns topic, claim, fact and source of each correction.
Table corrections_table();
/// Returns the scores for well-known patterns and the meaning of each.
Table known_patterns_table();

/// Returns the data with which the lessons of a page compute: {"worlds", "models"}.
Json lessons_json();

}  // namespace headlab
