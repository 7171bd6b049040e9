// Attention step by step, as tables. Vectors are written out only if they are narrow enough to be
// checked by hand; for wide heads only the largest element of a product is shown. Heads of worked
// examples are counted from 1, as in articles; heads of models by their usual names.
// Read next: src/app/cli/explain.cc.
#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

constexpr Index kWrittenOut = 4;  // elements of a vector that is shown in full
constexpr Index kMostKeys = 12;   // columns of a matrix that is shown in full

using Row = std::vector<double>;

Row row_of(const Matrix& matrix, Index t) {
  const auto first = matrix.values().begin() + t * matrix.columns();
  return {first, first + matrix.columns()};
}

/// Returns the shortest text with at most four decimals: 1, 0.5, 0.2509.
std::string short_number(double value) {
  std::string digits = fixed(value, 4);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string vector_text(const Row& values) {
  return "[" + join(texts_of(values, short_number), ", ") + "]";
}

/// Returns "1 x 0 + 1 x 1".
std::string products_text(const Row& q, const Row& k) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < q.size(); ++i) {
    parts.push_back(short_number(q[i]) + " x " + short_number(k[i]));
  }
  return join(parts, " + ");
}

/// Returns "q3 k3 = 1.24".
std::string largest_product(const Row& q, const Row& k) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (std::abs(q[i] * k[i]) > std::abs(q[largest] * k[largest])) largest = i;
  }
  return text("q", largest, " k", largest, " = ", fixed(q[largest] * k[largest], 4));
}

/// Returns a vector, or only its length if it is too wide.
Json vector_or_length(const Row& v, bool whole) {
  double squares = 0;
  for (const double x : v) squares += x * x;
  return whole ? Json(vector_text(v)) : Json(std::sqrt(squares));
}

/// Returns one row of a matrix, divided at the columns of each head: "1 0 | 1 0".
std::string cut_row(const std::vector<HeadSteps>& heads, Matrix HeadSteps::*part, Index t) {
  std::vector<std::string> parts;
  for (const HeadSteps& head : heads) {
    parts.push_back(join(texts_of(row_of(head.*part, t), short_number), " "));
  }
  return join(parts, " | ");
}

std::string shape_text(const Matrix& matrix) {
  return text("[", matrix.rows(), ", ", matrix.columns(), "]");
}

std::string four_decimals(const Row& row) {
  return join(texts_of(row, [](double value) { return fixed(value, 4); }), " ");
}

/// Returns the indices of the rows of a table.
auto rows_of(const Matrix& values) { return std::views::iota(Index{0}, values.rows()); }

/// Returns a column for the token of a query and one for each key, at the path of `corner`. Without
/// `decimals`, numbers have 4 significant digits.
Fields<Index> key_fields(const ShownHeads& shown, const Column& corner, const Matrix& values,
                         std::optional<int> decimals) {
  Fields<Index> fields;
  fields.add(Column("token", corner.title, corner.meaning).no_legend(),
             [&](Index t) { return shown.queries[t]; });
  for (Index s = 0; s < values.columns(); ++s) {
    const Column column = element_column(corner.key, s, shown.keys[s]);
    fields.add(decimals ? column.fixed(*decimals) : column,
               [&values, s](Index t) { return values(t, s); });
  }
  return fields;
}

Table inputs_table(const ShownHeads& shown) {
  const std::vector<HeadSteps>& heads = shown.heads;
  const Index H = std::ssize(heads), T = std::ssize(shown.queries);
  Fields<Index> fields;
  fields.add(Column("token", "token", "token as text").no_legend(),
             [&](Index t) { return shown.queries[t]; });
  fields.add(Column("q", "q", "the token's query").no_legend(),
             [&](Index t) { return cut_row(heads, &HeadSteps::q, t); });
  fields.add(Column("k", "k", "the token's key").no_legend(),
             [&](Index t) { return cut_row(heads, &HeadSteps::k, t); });
  fields.add(Column("v", "v", "the token's value").no_legend(),
             [&](Index t) { return cut_row(heads, &HeadSteps::v, t); });
  return fields.table({.name = "inputs",
                       .title = text("q, k [", T, ", ", H * heads[0].q.columns(), "], v [", T, ", ",
                                     H * heads[0].v.columns(), "]: ",
                                     H > 1 ? "each head has its own columns, between bars"
                                           : "one head")},
                      std::views::iota(Index{0}, T));
}

Table scores_table(const ShownHeads& shown, std::size_t h) {
  const HeadSteps& head = shown.heads[h];
  const Column corner("scores", "q k^T", "the scores of a query, by key");
  const std::string title =
      text(shown.names[h], ": scores ", shape_text(head.scores), " = q ", shape_text(head.q),
           " x k^T [", head.k.columns(), ", ", head.k.rows(), "]");
  return key_fields(shown, corner, head.scores, std::nullopt)
      .table({.name = text("scores.", h + 1), .title = title}, rows_of(head.scores));
}

Table weights_table(const ShownHeads& shown, std::size_t h) {
  const HeadSteps& head = shown.heads[h];
  const Column corner("weights", "weights", "the softmax of the scaled scores, by key");
  const bool whole = head.v.columns() <= kWrittenOut;
  Fields<Index> fields = key_fields(shown, corner, head.weights, 4);
  fields.add(Column("output", whole ? "output" : "|output|", "weights times values, or its length")
                 .fixed(4)
                 .no_legend(),
             [&](Index t) { return vector_or_length(row_of(head.output, t), whole); });
  const std::string title = text("divided by sqrt(", head.q.columns(),
                                 ") = ", fixed(std::sqrt(static_cast<double>(head.q.columns())), 4),
                                 ", softmax over each row; output ", shape_text(head.output),
                                 " = weights x v ", shape_text(head.v));
  return fields.table({.name = text("weights.", h + 1), .title = title}, rows_of(head.weights));
}

/// Returns a note on the rows that attend equally to all keys, because their query is 0; "" if
/// there is none.
std::string uniform_text(const ShownHeads& shown) {
  Index uniform = 0, rows = 0;
  for (const HeadSteps& head : shown.heads) {
    for (Index t = 0; t < head.weights.rows(); ++t, ++rows) {
      const Row row = row_of(head.weights, t);
      uniform += row.size() > 1 &&
                 std::ranges::all_of(row, [&](double w) { return std::abs(w - row[0]) < 1e-12; });
    }
  }
  if (uniform == 0) return "";
  return text("\n", uniform, " of ", rows,
              " rows are uniform: their query is 0 in these columns, so all scores are 0.");
}

/// Returns the concatenated outputs, their product with W_O, and the change of the output without
/// each head.
Table mixing_table(const ShownHeads& shown, const Matrix& W_O) {
  const Matrix z = concatenated(shown.heads), y = z * W_O;
  std::vector<std::string> changes;
  for (std::size_t h = 0; h < shown.heads.size(); ++h) {
    changes.push_back(text("without ", shown.names[h], " by ",
                           fixed(change_when_ablated(shown.heads, h, W_O), 4)));
  }
  Fields<Index> fields;
  fields.add({"token", "token"}, [&](Index t) { return shown.queries[t]; });
  fields.add(
      Column("concatenated", "concatenated", "outputs of all heads as one vector").no_legend(),
      [&](Index t) { return four_decimals(row_of(z, t)); });
  fields.add(
      Column("mixed", "after W_O",
             "the concatenated outputs times W_O, which attention adds to the residual stream")
          .no_legend(),
      [&](Index t) { return four_decimals(row_of(y, t)); });
  return fields.table({.name = "mixed",
                       .title = text("concatenated outputs of all heads ", shape_text(z),
                                     ", times W_O ", shape_text(W_O)),
                       .note =
                           text("The output changes (L2) ", join(changes, ", "),
                                "; its own norm is ", fixed(norm(y), 4), ".", uniform_text(shown))},
                      rows_of(z));
}

/// Flags that say whether products and values of all keys are short enough to be written out in
/// full.
struct Written {
  bool products, values;

  Written(const HeadSteps& head, Index t)
      : products(head.q.columns() <= kWrittenOut), values(head.v.columns() <= kWrittenOut) {
    for (Index s = 0; s < head.weights.columns(); ++s) {
      products = products && products_text(row_of(head.q, t), row_of(head.k, s)).size() <= 24;
      values = values && vector_text(row_of(head.v, s)).size() <= 12;
    }
  }
};

/// A key that a query sees, with each step from their product to what the key adds to the output.
struct KeyStep {
  std::string key, products;
  double score, scaled, exp, weight;
  Json v, added;
};

Fields<KeyStep> step_fields(const Written& written) {
  Fields<KeyStep> fields;
  fields.add(Column("key", "key", "a token visible to the query").no_legend(), &KeyStep::key);
  fields.add(Column("products", written.products ? "products" : "largest product",
                    "query times key, element by element; their sum is the score")
                 .no_legend(),
             &KeyStep::products);
  fields.add(Column("score", "score", "query times key: q k^T").fixed(4).no_legend(),
             &KeyStep::score);
  fields.add(Column("scaled", "scaled", "score / sqrt(D)").fixed(4), &KeyStep::scaled);
  fields.add(Column("exp", "exp", "exp(scaled - largest scaled score of the row)").fixed(4),
             &KeyStep::exp);
  fields.add(
      Column("weight", "weight", "exp / sum of all exp: the attention weight of the key").fixed(4),
      &KeyStep::weight);
  fields.add(Column("v", written.values ? "v" : "|v|", "the key's value, or its length")
                 .fixed(4)
                 .no_legend(),
             &KeyStep::v);
  fields.add(Column("added", written.values ? "weight v" : "weight |v|",
                    "what the key adds to the output")
                 .fixed(4)
                 .no_legend(),
             &KeyStep::added);
  return fields;
}

/// Returns the table of one query in one head.
Table steps_table(const ShownHeads& shown, std::size_t h, Index t) {
  const HeadSteps& head = shown.heads[h];
  const Written written(head, t);
  const Row q = row_of(head.q, t), scaled = row_of(head.scaled, t),
            weights = row_of(head.weights, t);
  double largest = -INFINITY;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (weights[s] > 0) largest = std::max(largest, scaled[s]);
  }
  std::vector<KeyStep> steps;
  for (Index s = 0; s < std::ssize(weights); ++s) {
    if (weights[s] == 0) continue;
    const Row k = row_of(head.k, s), v = row_of(head.v, s);
    Row added = v;
    for (double& x : added) x *= weights[s];
    steps.push_back({shown.keys[s], written.products ? products_text(q, k) : largest_product(q, k),
                     head.scores(t, s), scaled[s], std::exp(scaled[s] - largest), weights[s],
                     vector_or_length(v, written.values), vector_or_length(added, written.values)});
  }
  const std::size_t hidden = weights.size() - steps.size();
  const Json output = vector_or_length(row_of(head.output, t), written.values);
  const std::string title = text(shown.names[h], ", query ", t, " \"", shown.queries[t], "\"",
                                 written.products ? ": q = " + vector_text(q) : "");
  const std::string note =
      text("output ",
           output.is_string() ? output.string() : "of length " + fixed(output.number(), 4),
           hidden > 0 ? text("; ", hidden, " keys are masked") : "");
  return step_fields(written).table({.name = text("steps.", h + 1), .title = title, .note = note},
                                    steps);
}

}  // namespace

ShownHeads shown_heads(const std::vector<std::string>& tokens, std::vector<HeadSteps> heads) {
  ShownHeads shown{.queries = tokens, .keys = tokens, .heads = std::move(heads)};
  for (std::size_t h = 1; h <= shown.heads.size(); ++h) shown.names.push_back(text("head ", h));
  return shown;
}

std::vector<Table> query_tables(const ShownHeads& shown, Index query) {
  require(0 <= query && query < std::ssize(shown.queries), "cannot show query ", query, ": the ",
          shown.queries.size(), " queries are counted from 0");
  std::vector<Table> tables;
  for (std::size_t h = 0; h < shown.heads.size(); ++h) {
    tables.push_back(steps_table(shown, h, query));
  }
  for (std::size_t h = 0; h + 1 < tables.size(); ++h) {  // the last one's legend applies to all
    for (Column& column : tables[h].columns) column.in_legend = false;
  }
  return tables;
}

std::vector<Table> worked_example_tables(const ShownHeads& shown, const Matrix& W_O) {
  require(!shown.heads.empty(), "cannot show the steps: there is no head");
  require(std::ssize(shown.keys) <= kMostKeys, "cannot show the steps: matrices of ",
          shown.keys.size(), " keys are too wide for a terminal: name a query");
  std::vector<Table> tables = {inputs_table(shown)};
  for (std::size_t h = 0; h < shown.heads.size(); ++h) {
    tables.push_back(scores_table(shown, h));
    tables.push_back(weights_table(shown, h));
  }
  if (shown.heads.size() > 1) {
    const Matrix averages = average_weights(shown.heads);
    const Column corner("average", "average", "weights averaged over heads, by key");
    tables.push_back(
        key_fields(shown, corner, averages, 4)
            .table({.name = "average_weights",
                    .title = "weights averaged over heads: the average hides what each head does"},
                   rows_of(averages)));
  }
  tables.push_back(mixing_table(shown, W_O));
  return tables;
}

}  // namespace headlab
