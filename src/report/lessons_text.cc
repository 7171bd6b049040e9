// Vectors are written out only where they are narrow enough to be checked by hand; of wide heads
// the largest element of a product stands for all. Read next: table.h, which aligns the cells.
// Heads of worlds are counted from 1, as articles do; heads of models as everywhere else.
#include "headlab/report/lessons_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr Index kWrittenOut = 4;  // elements of a vector that is shown whole
constexpr Index kMostKeys = 12;   // columns of a matrix that is shown whole

/// As short as possible with at most four decimals: 1, 0.5, 0.2509.
std::string short_number(double value) {
  std::string digits = fixed(value, 4);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

/// "1 x 0 + 1 x 1".
std::string products_text(std::span<const double> q, std::span<const double> k) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < q.size(); ++i)
    parts.push_back(short_number(q[i]) + " x " + short_number(k[i]));
  return join(parts, " + ");
}

/// "q3 k3 = 1.24".
std::string largest_product(std::span<const double> q, std::span<const double> k) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (std::abs(q[i] * k[i]) > std::abs(q[largest] * k[largest])) largest = i;
  return text("q", largest, " k", largest, " = ", fixed(q[largest] * k[largest], 4));
}

double length_of(std::span<const double> v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// A vector, or of a wide one its length.
std::string vector_or_length(std::span<const double> v) {
  return std::ssize(v) <= kWrittenOut ? vector_text(v) : fixed(length_of(v), 4);
}

/// One row of a matrix, cut at the columns of each head: "1 0 | 1 0".
std::string cut_row(const std::vector<HeadSteps>& heads, Matrix HeadSteps::*part, Index t) {
  std::vector<std::string> parts;
  for (const HeadSteps& head : heads)
    parts.push_back(join(texts_of(row_of(head.*part, t), short_number), " "));
  return join(parts, " | ");
}

std::string shape_text(const Matrix& matrix) {
  return text("[", matrix.rows(), ", ", matrix.columns(), "]");
}

std::vector<std::string> four_decimals(std::span<const double> values) {
  return texts_of(values, [](double value) { return fixed(value, 4); });
}

/// A row for each query, a column for each key.
Texts key_table(const ShownHeads& shown, const char* corner) {
  std::vector<std::string> header = {corner};
  header.insert(header.end(), shown.keys.begin(), shown.keys.end());
  return Texts(header);
}

std::string inputs_text(const ShownHeads& shown) {
  const std::vector<HeadSteps>& heads = shown.heads;
  const Index H = std::ssize(heads), T = std::ssize(shown.queries);
  Texts table({"token", "q", "k", "v"});
  for (Index t = 0; t < T; ++t)
    table.add({shown.queries[t], cut_row(heads, &HeadSteps::q, t), cut_row(heads, &HeadSteps::k, t),
               cut_row(heads, &HeadSteps::v, t)});
  return text("q, k [", T, ", ", H * heads[0].q.columns(), "], v [", T, ", ",
              H * heads[0].v.columns(),
              "]: ", H > 1 ? "each head has its own columns, between bars\n\n" : "one head\n\n",
              table.to_string(), "\n");
}

/// A row of four decimals for each query.
std::string rows_text(const ShownHeads& shown, const char* corner, const Matrix& weights) {
  Texts table = key_table(shown, corner);
  for (std::size_t t = 0; t < shown.queries.size(); ++t)
    table.add(row_of(shown.queries[t], four_decimals(row_of(weights, static_cast<Index>(t)))));
  return table.to_string();
}

std::string head_text_of(const ShownHeads& shown, std::size_t h) {
  const HeadSteps& head = shown.heads[h];
  Texts scores = key_table(shown, "q k^T"), weights = key_table(shown, "weights");
  std::vector<std::string> outputs;
  for (std::size_t t = 0; t < shown.queries.size(); ++t) {
    const auto row = static_cast<Index>(t);
    scores.add(row_of(shown.queries[t], texts_of(row_of(head.scores, row), short_number)));
    weights.add(row_of(shown.queries[t], four_decimals(row_of(head.weights, row))));
    outputs.push_back(vector_or_length(row_of(head.output, row)));
  }
  const bool whole = head.v.columns() <= kWrittenOut;
  weights.add_column(whole ? "output" : "|output|", outputs);
  return text(shown.names[h], ": scores ", shape_text(head.scores), " = q ", shape_text(head.q),
              " x k^T [", head.k.columns(), ", ", head.k.rows(), "]\n\n", scores.to_string(),
              "\ndivided by sqrt(", head.q.columns(),
              ") = ", fixed(std::sqrt(static_cast<double>(head.q.columns())), 4),
              ", softmax over each row; output ", shape_text(head.output), " = weights x v ",
              shape_text(head.v), "\n\n", weights.to_string(), "\n");
}

/// The outputs side by side, what W_O makes of them, and how much the output changes without each
/// head.
std::string mixing_text(const ShownHeads& shown, const Matrix& W_O) {
  const Matrix z = concatenated(shown.heads), y = z * W_O;
  Texts table({"token", "concatenated", "after W_O"});
  for (std::size_t t = 0; t < shown.queries.size(); ++t)
    table.add({shown.queries[t], join(four_decimals(row_of(z, static_cast<Index>(t))), " "),
               join(four_decimals(row_of(y, static_cast<Index>(t))), " ")});
  std::vector<std::string> changes;
  for (std::size_t h = 0; h < shown.heads.size(); ++h)
    changes.push_back(text("without ", shown.names[h], " by ",
                           fixed(change_when_silent(shown.heads, h, W_O), 4)));
  return text("heads side by side ", shape_text(z), ", then times W_O ", shape_text(W_O),
              ", which mixes them\n\n", table.to_string(), "\nThe output changes (L2) ",
              join(changes, ", "), "; its own norm is ", fixed(norm(y), 4), ".\n\n");
}

/// How many rows look at all keys alike, because their query is 0; "" if none does.
std::string uniform_text(const ShownHeads& shown) {
  Index uniform = 0, rows = 0;
  for (const HeadSteps& head : shown.heads) {
    for (Index t = 0; t < head.weights.rows(); ++t, ++rows) {
      const auto row = row_of(head.weights, t);
      uniform += row.size() > 1 &&
                 std::ranges::all_of(row, [&](double w) { return std::abs(w - row[0]) < 1e-12; });
    }
  }
  if (uniform == 0) return "";
  return text(uniform, " of ", rows,
              " rows look at all keys alike: their query is 0 in these columns, so all scores are "
              "0.\n\n");
}

/// What a key adds to the output.
std::vector<double> added_by(const HeadSteps& head, Index t, Index s) {
  std::vector<double> added;
  for (const double x : row_of(head.v, s)) added.push_back(head.weights(t, s) * x);
  return added;
}

/// Whether products and values of all keys are short enough to be written out in full.
struct Written {
  bool products, values;

  Written(const HeadSteps& head, Index t)
      : products(head.q.columns() <= kWrittenOut), values(head.v.columns() <= kWrittenOut) {
    for (Index s = 0; s < head.weights.columns(); ++s) {
      products = products && products_text(row_of(head.q, t), row_of(head.k, s)).size() <= 24;
      values = values && vector_text(row_of(head.v, s)).size() <= 12;
    }
  }
  std::string value(std::span<const double> v) const {
    return values ? vector_text(v) : fixed(length_of(v), 4);
  }
};

/// The table of one query in one head.
std::string steps_text(const ShownHeads& shown, std::size_t h, Index t) {
  const HeadSteps& head = shown.heads[h];
  const Written written(head, t);
  Texts table({"key", written.products ? "products" : "largest product", "score", "scaled", "exp",
               "weight", written.values ? "v" : "|v|", written.values ? "weight v" : "weight |v|"});
  const auto scaled = row_of(head.scaled, t), weights = row_of(head.weights, t);
  double largest = -INFINITY;
  Index hidden = 0;
  for (std::size_t s = 0; s < weights.size(); ++s)
    if (weights[s] > 0) largest = std::max(largest, scaled[s]);
  for (std::size_t s = 0; s < weights.size(); ++s) {
    const auto key = static_cast<Index>(s);
    if (weights[s] == 0 && ++hidden > 0) continue;
    const auto q = row_of(head.q, t), k = row_of(head.k, key);
    table.add({shown.keys[s], written.products ? products_text(q, k) : largest_product(q, k),
               fixed(head.scores(t, key), 4), fixed(scaled[s], 4),
               fixed(std::exp(scaled[s] - largest), 4), fixed(weights[s], 4),
               written.value(row_of(head.v, key)), written.value(added_by(head, t, key))});
  }
  return text(shown.names[h], ", query ", t, " \"", shown.queries[static_cast<std::size_t>(t)],
              "\"", written.products ? ": q = " + vector_text(row_of(head.q, t)) : "", "\n\n",
              table.to_string(), "\noutput ", written.values ? "" : "of length ",
              written.value(row_of(head.output, t)),
              hidden > 0 ? text("; ", hidden, " keys are hidden from it by the mask") : "", "\n\n");
}

}  // namespace

ShownHeads shown_heads(const std::vector<std::string>& tokens, std::vector<HeadSteps> heads) {
  ShownHeads shown{.queries = tokens, .keys = tokens, .heads = std::move(heads)};
  for (std::size_t h = 1; h <= shown.heads.size(); ++h) shown.names.push_back(text("head ", h));
  return shown;
}

std::string vector_text(std::span<const double> values) {
  return "[" + join(texts_of(values, short_number), ", ") + "]";
}

std::span<const double> row_of(const Matrix& matrix, Index t) {
  require(0 <= t && t < matrix.rows(), "there is no row ", t, " among ", matrix.rows());
  return std::span(matrix.values())
      .subspan(static_cast<std::size_t>(t * matrix.columns()),
               static_cast<std::size_t>(matrix.columns()));
}

std::string query_text(const ShownHeads& shown, Index query) {
  require(0 <= query && query < std::ssize(shown.queries), "there is no query ", query, ": the ",
          shown.queries.size(), " are counted from 0");
  std::string all;
  for (std::size_t h = 0; h < shown.heads.size(); ++h) all += steps_text(shown, h, query);
  return all +
         "scaled: score / sqrt(D); exp: of scaled less the largest; weight: exp / their sum\n";
}

std::string world_text(const ShownHeads& shown, const Matrix& W_O) {
  require(!shown.heads.empty(), "there is no head to show");
  require(std::ssize(shown.keys) <= kMostKeys, "matrices of ", shown.keys.size(),
          " keys are too wide for a terminal: name a query");
  std::string all = inputs_text(shown);
  for (std::size_t h = 0; h < shown.heads.size(); ++h) all += head_text_of(shown, h);
  if (shown.heads.size() > 1)
    all += "the weights averaged over heads: what each did can no longer be seen\n\n" +
           rows_text(shown, "average", average_weights(shown.heads)) + "\n";
  return all + mixing_text(shown, W_O) + uniform_text(shown);
}

std::string corrections_text() {
  std::string all = "what articles say, and what is so:\n";
  for (const Correction& correction : corrections())
    all += "\n" + wrapped(text("said:  ", correction.claim), "       ") +
           wrapped(text("is so: ", correction.fact, " (", correction.source, ")"), "       ");
  return all;
}

}  // namespace headlab
