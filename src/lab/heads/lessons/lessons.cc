// Attention by its definition, row by row. Models compute the same in float, several rows at once
// and without keeping the scores (src/core/kernels/attention.cc); tests compare the two. Read next:
// lesson_tables.cc.
#include "headlab/lab/heads/lessons/lessons.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

constexpr Index kMostTokens = 64, kMostWidth = 1024;  // limits of a worked example

Matrix scaled_by(const Matrix& matrix, double factor) {
  return {matrix.rows(), matrix.columns(), [&](Index i, Index j) { return matrix(i, j) * factor; }};
}

/// Computes the softmax of each row over the keys that its query sees; subtracts the largest score
/// first, so that exp does not overflow.
Matrix softmax_of_rows(const Matrix& scaled, std::span<const char> visible) {
  const Index S = scaled.columns();
  const auto sees = [&](Index t, Index s) { return visible.empty() || visible[t * S + s] != 0; };
  Matrix weights(scaled.rows(), S);
  for (Index t = 0; t < scaled.rows(); ++t) {
    double largest = -INFINITY, sum = 0;
    for (Index s = 0; s < S; ++s) {
      if (sees(t, s)) largest = std::max(largest, scaled(t, s));
    }
    for (Index s = 0; s < S; ++s) {
      if (sees(t, s)) sum += weights(t, s) = std::exp(scaled(t, s) - largest);
    }
    for (Index s = 0; s < S && sum > 0; ++s) weights(t, s) /= sum;
  }
  return weights;
}

/// Returns a matrix from rows of numbers, all as long as the first.
Matrix matrix_of(const Json& json, const char* name, Index expected) {
  const Json::Array& rows = json.items();
  require(std::ssize(rows) == expected, "cannot compute attention: ", name, " has ", rows.size(),
          " rows where ", expected, " are expected");
  const Index columns = std::ssize(rows[0].items());
  require(0 < columns && columns <= kMostWidth, "cannot compute attention: ", name, " is ", columns,
          " wide: 1 to ", kMostWidth, " can be shown");
  for (const Json& row : rows) {
    require(std::ssize(row.items()) == columns, "cannot compute attention: ", name,
            " has a row of ", row.items().size(), " numbers after one of ", columns);
  }
  return {expected, columns, [&](Index i, Index j) { return rows[i].items()[j].number(); }};
}

}  // namespace

HeadSteps attend(const Matrix& q, const Matrix& k, const Matrix& v, std::span<const char> visible) {
  require(visible.empty() || std::ssize(visible) == q.rows() * k.rows(),
          "cannot compute attention of ", q.rows(), " queries over ", k.rows(),
          " keys: ", visible.size(), " cells are marked as visible");
  Matrix scores = q * k.transposed();
  Matrix scaled = scaled_by(scores, 1 / std::sqrt(static_cast<double>(q.columns())));
  Matrix weights = softmax_of_rows(scaled, visible);
  Matrix output = weights * v;
  return {q, k, v, std::move(scores), std::move(scaled), std::move(weights), std::move(output)};
}

Matrix columns_of(const Matrix& matrix, Index begin, Index end) {
  require(0 <= begin && begin <= end && end <= matrix.columns(), "cannot take columns ", begin,
          " to ", end, " of a matrix that has ", matrix.columns());
  return {matrix.rows(), end - begin, [&](Index i, Index j) { return matrix(i, begin + j); }};
}

std::vector<HeadSteps> attend_in_heads(const Matrix& q, const Matrix& k, const Matrix& v,
                                       Index heads) {
  require(heads > 0 && q.columns() % heads == 0 && v.columns() % heads == 0,
          "cannot compute attention: queries of width ", q.columns(), " and values of width ",
          v.columns(), " cannot be split into ", heads, " heads");
  const auto part = [&](const Matrix& all, Index h) {
    const Index width = all.columns() / heads;
    return columns_of(all, h * width, (h + 1) * width);
  };
  std::vector<HeadSteps> steps;
  for (Index h = 0; h < heads; ++h) steps.push_back(attend(part(q, h), part(k, h), part(v, h)));
  return steps;
}

Matrix concatenated(std::span<const HeadSteps> heads) {
  Index width = 0;
  for (const HeadSteps& head : heads) width += head.output.columns();
  Matrix all(heads.empty() ? 0 : heads[0].output.rows(), width);
  Index first = 0;
  for (const HeadSteps& head : heads) {
    for (Index t = 0; t < all.rows(); ++t) {
      for (Index j = 0; j < head.output.columns(); ++j) all(t, first + j) = head.output(t, j);
    }
    first += head.output.columns();
  }
  return all;
}

Matrix average_weights(std::span<const HeadSteps> heads) {
  require(!heads.empty(), "cannot average patterns: there is none");
  Matrix mean(heads[0].weights.rows(), heads[0].weights.columns());
  for (const HeadSteps& head : heads) {
    for (Index t = 0; t < mean.rows(); ++t) {
      for (Index s = 0; s < mean.columns(); ++s) mean(t, s) += head.weights(t, s);
    }
  }
  return scaled_by(mean, 1 / static_cast<double>(heads.size()));
}

double norm(const Matrix& matrix) { return std::sqrt(inner(matrix, matrix)); }

double change_when_ablated(std::span<const HeadSteps> heads, std::size_t h, const Matrix& W_O) {
  Index first = 0;
  for (std::size_t i = 0; i < h; ++i) first += heads[i].output.columns();
  const Matrix& z = heads[h].output;
  const auto row_below = [&](Index i, Index j) { return W_O(first + i, j); };
  return norm(z * Matrix(z.columns(), W_O.columns(), row_below));
}

Matrix identity(Index n) {
  return {n, n, [](Index i, Index j) { return i == j; }};
}

double diversity_of(std::span<const HeadSteps> heads) {
  double total = 0;
  Index count = 0;
  for (std::size_t a = 0; a < heads.size(); ++a) {
    for (std::size_t b = a + 1; b < heads.size(); ++b) {
      const Matrix &p = heads[a].weights, &q = heads[b].weights;
      const Index S = p.columns();
      for (Index t = 0; t < p.rows(); ++t, ++count) {
        total += jensen_shannon_distance(S, &p.values()[t * S], &q.values()[t * S]);
      }
    }
  }
  return count > 0 ? total / static_cast<double>(count) : 0;
}

WorkedExample worked_example_of(const Json& json, const std::string& source) {
  const std::vector<std::string> tokens = texts_of(json.at("tokens").items(), &Json::string);
  const Index T = std::ssize(tokens);
  require(0 < T && T <= kMostTokens, "cannot read ", source, ": it has ", T,
          " tokens, expected 1 to ", kMostTokens);
  const auto part = [&](const char* name) { return matrix_of(json.at(name), name, T); };
  const Matrix q = part("q"), k = part("k"), v = part("v");
  require(q.columns() == k.columns() && q.columns() == v.columns(), "cannot read ", source,
          ": q, k and v are ", q.columns(), ", ", k.columns(), " and ", v.columns(),
          " wide, and must be equally wide");
  const auto text_or = [&](const char* key, const std::string& other) {
    const Json* found = json.find(key);
    return found == nullptr ? other : found->string();
  };
  const Json *heads = json.find("heads"), *W_O = json.find("W_O");
  const Index count = heads == nullptr ? 1 : heads->integer();
  require(count > 0, "cannot read ", source, ": heads must be 1 or more, got ", count);
  return {.name = text_or("name", "attention"),
          .title = text_or("title", "numbers of " + source),
          .tokens = tokens,
          .heads = count,
          .q = q,
          .k = k,
          .v = v,
          .W_O = W_O == nullptr ? identity(q.columns()) : matrix_of(*W_O, "W_O", q.columns())};
}

const std::vector<WorkedExample>& worked_examples() {
  static const std::vector<WorkedExample> examples =
      mapped(worked_example_texts(),
             [](const char* worked) { return worked_example_of(Json::parse(worked), "a lesson"); });
  return examples;
}

const WorkedExample& worked_example(std::string_view name) {
  return named("lesson", name, worked_examples(), &WorkedExample::name);
}

}  // namespace headlab
