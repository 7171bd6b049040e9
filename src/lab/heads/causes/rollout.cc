// Rollout is a product of matrices, one for each layer. The report has its means over examples, its
// shares on ground-truth keys, and the cost of masking the ground-truth edges in all heads.
// Read next: truth_edges.cc.
#include "headlab/lab/heads/causes/rollout.h"

#include <algorithm>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

void divide_by_row_sums(Matrix& matrix) {
  for (Index t = 0; t < matrix.rows(); ++t) {
    double sum = 0;
    for (Index s = 0; s < matrix.columns(); ++s) sum += matrix(t, s);
    for (Index s = 0; s < matrix.columns() && sum > 0; ++s) matrix(t, s) /= sum;
  }
}

void require_one_stream(const Transformer& model) {
  if (!model.config().has_source()) return;
  throw Error("cannot combine attention over layers: an encoder-decoder has two streams",
              "use a decoder or an encoder");
}

/// Sums of the report over examples.
class RolloutSums {
 public:
  RolloutSums(const Task& task, Index length)
      : relations_(task.relations()),
        rows_(relations_.size()),
        rollout_(length, length),
        sequences_(static_cast<std::size_t>(length)) {}

  /// uniform: the rollout of the same sequence if attention were uniform.
  void add(const Example& example, Index b, const Matrix& rollout, const Matrix& uniform) {
    for (Index t = 0; t < rollout.rows(); ++t) {
      ++sequences_[static_cast<std::size_t>(t)];
      for (Index s = 0; s < rollout.rows(); ++s) rollout_(t, s) += rollout(t, s);
      for (std::size_t r = 0; r < relations_.size(); ++r) {
        const auto keys = example.truth[r].keys(b, t);
        if (keys.empty()) continue;
        double share = 0;
        for (const std::int32_t key : keys) share += rollout(t, key);
        RolloutReport::Row& row = rows_[r];
        double uniform_share = 0;
        for (const std::int32_t key : keys) uniform_share += uniform(t, key);
        row.rollout.add(share);
        row.uniform.add(uniform_share);
      }
    }
  }

  void finish(RolloutReport& report) const {
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      RolloutReport::Row row = rows_[r];
      row.relation = relations_[r].name;
      report.relations.push_back(row);
    }
    report.rollout = means();
  }

 private:
  /// Returns the mean of each row over the sequences that have it, up to the longest one.
  std::vector<std::vector<double>> means() const {
    const Index longest = std::ssize(sequences_) - std::ranges::count(sequences_, 0);
    std::vector<std::vector<double>> rows;
    for (Index t = 0; t < longest; ++t) {
      std::vector<double>& row = rows.emplace_back();
      const auto count = static_cast<double>(sequences_[static_cast<std::size_t>(t)]);
      for (Index s = 0; s < longest; ++s) row.push_back(rollout_(t, s) / count);
    }
    return rows;
  }

  std::vector<Relation> relations_;
  std::vector<RolloutReport::Row> rows_;
  Matrix rollout_;
  std::vector<Index> sequences_;  // by position: how many reach it
};

/// Returns equal weights on all keys that each query sees, [length, length].
Matrix uniform_pattern(const AttentionLayer& layer, Index length) {
  const AttentionMask mask{.causal = layer.causal, .window = layer.window};
  Matrix pattern(length, length);
  for (Index t = 0; t < length; ++t) {
    for (Index s = 0; s < length; ++s) pattern(t, s) = mask.sees(0, t, s) ? 1 : 0;
  }
  divide_by_row_sums(pattern);
  return pattern;
}

/// Returns the rollout of a model whose heads all attend uniformly.
Matrix uniform_rollout(const Transformer& model, Index length) {
  std::vector<Matrix> layers;
  for (const AttentionLayer& layer : model.attention_layers()) {
    Matrix sum(length, length);
    if (layer.attention->head_count() > 0) sum = uniform_pattern(layer, length);
    for (Index t = 0; t < length; ++t) sum(t, t) += 1;
    divide_by_row_sums(sum);
    layers.push_back(std::move(sum));
  }
  return attention_rollout(layers);
}

}  // namespace

std::vector<Matrix> layer_attention(const Transformer& model, const Activations& activations,
                                    Index b, Index length) {
  require_one_stream(model);
  std::vector<Matrix> layers;
  for (const AttentionActivations& layer : activations.cache().attention) {
    Matrix sum(length, length);
    for (Index t = 0; t < length; ++t) sum(t, t) = 1;
    for (Index h = 0; h < std::ssize(layer.heads); ++h) {
      const auto pattern = layer.pattern_of(h, b);
      const Index width = layer.pattern.size(3);
      for (Index t = 0; t < length; ++t) {
        for (Index s = 0; s < length; ++s) {
          sum(t, s) += static_cast<double>(pattern[static_cast<std::size_t>(t * width + s)]) /
                       static_cast<double>(layer.heads.size());
        }
      }
    }
    divide_by_row_sums(sum);
    layers.push_back(std::move(sum));
  }
  return layers;
}

Matrix attention_rollout(const std::vector<Matrix>& layers) {
  Matrix product = layers.at(0);
  for (std::size_t l = 1; l < layers.size(); ++l) product = layers[l] * product;
  return product;
}

RolloutReport find_rollout(const Transformer& model, const Task& task, Index examples,
                           Index cost_examples) {
  require_one_stream(model);
  const Example example = held_out_examples(task, examples);
  const Batch& all = example.batch;
  RolloutReport report{.attention = attention_layer_names(model), .examples = all.size};
  RolloutSums sums(task, all.length);
  std::map<Index, Matrix> uniform;  // by length
  for (Index b = 0; b < all.size; ++b) {
    const Batch one = all.rows(b, b + 1);
    const Activations activations(model, one);
    const std::vector<Matrix> layers = layer_attention(model, activations, 0, all.length_of(b));
    if (layers.empty()) continue;
    const Index length = all.length_of(b);
    if (!uniform.contains(length)) uniform.emplace(length, uniform_rollout(model, length));
    sums.add(example, b, attention_rollout(layers), uniform.at(length));
  }
  sums.finish(report);
  if (all.size < 2) return report;  // a cost needs two examples
  const EdgeExperiment experiment(model, task, {.examples = cost_examples});
  const std::vector<HeadId> heads = all_heads(model);
  for (std::size_t r = 0; r < report.relations.size() && !heads.empty(); ++r) {
    report.relations[r].cost = experiment.test(r, heads).truth;
  }
  return report;
}

Result result_of(const RolloutReport& report) {
  using Row = RolloutReport::Row;
  Fields<Row> fields;
  fields.add(Column("relation", "relation", "relation of the task").no_legend(), &Row::relation);
  fields.add(Column("queries", "queries", "number of them").no_legend(),
             [](const Row& row) { return row.rollout.count(); });
  fields.add(
      Column("rollout", "rollout",
             "share of the rollout (product of all attention matrices) on the ground-truth keys")
          .fixed(3)
          .mean_over("queries"),
      &Row::rollout);
  fields.add(Column("uniform", "uniform",
                    "the same share of the rollout if all heads attended uniformly")
                 .fixed(3)
                 .mean_over("queries"),
             &Row::uniform);
  fields.add_part(
      change_fields("cost.", "cost",
                    "rise of the loss if the ground-truth keys are masked in all heads"),
      &Row::cost);
  const Table table{.name = "relations",
                    .note =
                        "rollout describes attention and is no cause; the cost is one (see `ablate "
                        "RUN --truth-edges`)"};
  return {.about = stamped({{"attention", report.attention}, {"examples", report.examples}}),
          .tables = {fields.table(table, report.relations)},
          .figures = {{"rollout", "rollout: a row for each query, a column for each input position",
                       report.rollout}}};
}

}  // namespace headlab
