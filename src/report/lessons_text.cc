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
  Texts table({"token", "q", "k", "v"});
  for (std::size_t t = 0; t < shown.queries.size(); ++t) {
    const auto row = static_cast<Index>(t);
    table.add({shown.queries[t], cut_row(heads, &HeadSteps::q, row),
               cut_row(heads, &HeadSteps::k, row), cut_row(heads, &HeadSteps::v, row)});
  }
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

Index uniform_rows(const HeadSteps& head) {
  Index count = 0;
  for (Index t = 0; t < head.weights.rows(); ++t) {
    const auto row = row_of(head.weights, t);
    count += head.weights.columns() > 1 &&
             std::ranges::all_of(row, [&](double w) { return std::abs(w - row[0]) < 1e-12; });
  }
  return count;
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

std::string matrices_text(const ShownHeads& shown) {
  require(!shown.heads.empty(), "there is no head to show");
  require(std::ssize(shown.keys) <= kMostKeys, "matrices of ", shown.keys.size(),
          " keys are too wide for a terminal: name a query");
  const HeadSteps& head = shown.heads[0];
  const auto H = std::ssize(shown.heads);
  std::string all =
      text("q, k [", shown.queries.size(), ", ", H * head.q.columns(), "], v [",
           shown.queries.size(), ", ", H * head.v.columns(),
           "]: ", H > 1 ? "each head has its own columns, between bars\n\n" : "one head\n\n",
           inputs_text(shown), "\n");
  for (std::size_t h = 0; h < shown.heads.size(); ++h) all += head_text_of(shown, h);
  if (H < 2) return all;
  const Matrix mean = average_weights(shown.heads);
  Texts table = key_table(shown, "average");
  for (std::size_t t = 0; t < shown.queries.size(); ++t)
    table.add(row_of(shown.queries[t], four_decimals(row_of(mean, static_cast<Index>(t)))));
  return all + "the weights averaged over heads: what each did can no longer be seen\n\n" +
         table.to_string() + "\n";
}

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
  const auto H = std::ssize(shown.heads);
  const bool mixed = largest_share(W_O, H) < 1 - 1e-12;
  return text("heads side by side ", shape_text(z), ", then times W_O ", shape_text(W_O), "\n\n",
              table.to_string(), "\nlargest share of one head in a column: ",
              fixed(largest_share(identity(W_O.rows()), H), 4), " before W_O, ",
              fixed(largest_share(W_O, H), 4), " after it",
              mixed ? ": W_O mixes what heads found" : ": here W_O mixes nothing",
              ".\nThe output changes (L2) ", join(changes, ", "), "; its own norm is ",
              fixed(norm(y), 4), ".\n\n");
}

std::string uniform_text(const ShownHeads& shown) {
  Index uniform = 0, rows = 0;
  for (const HeadSteps& head : shown.heads) {
    uniform += uniform_rows(head);
    rows += head.weights.rows();
  }
  if (uniform == 0) return "";
  return text(uniform, " of ", rows,
              " rows look at all keys alike: their query is 0 in these columns, so all scores are "
              "0.\n\n");
}

std::string head_counts_text(const std::vector<std::vector<HeadSteps>>& by_count) {
  Texts table({"heads", "width", "entropy", "focus", "diversity", "uniform rows"});
  for (const std::vector<HeadSteps>& heads : by_count) {
    double entropy = 0, focus = 0;
    Index uniform = 0, rows = 0;
    for (const HeadSteps& head : heads) {
      entropy += entropy_of(head) / static_cast<double>(heads.size());
      focus += focus_of(head) / static_cast<double>(heads.size());
      uniform += uniform_rows(head);
      rows += head.weights.rows();
    }
    table.add({std::to_string(heads.size()), std::to_string(heads[0].q.columns()),
               fixed(entropy, 4), fixed(focus, 4), fixed(diversity_of(heads), 4),
               text(uniform, " of ", rows)});
  }
  return table.to_string();
}

std::string entropies_text(std::span<const HeadSteps> heads) {
  Texts table({"head", "entropy", "focus"});
  for (std::size_t h = 0; h < heads.size(); ++h)
    table.add(
        {std::to_string(h + 1), fixed(entropy_of(heads[h]), 3), percent(focus_of(heads[h]), 1)});
  const auto S = heads.empty() ? Index{1} : heads[0].weights.columns();
  return text(table.to_string(), "\nentropy: nats, at most ln ", S, " = ",
              fixed(std::log(static_cast<double>(S)), 3),
              " where all keys weigh alike; focus: 1 - entropy / ln ", S, "\n");
}

}  // namespace headlab
