// Rollout is a product of matrices. Flow is found by augmenting paths in a network with a node for
// each position after each layer; a path is searched breadth-first, so that each is a shortest one
// (Edmonds and Karp 1972). Read next: gold_edges.cc.
#include "headlab/lab/heads/causes/flow.h"

#include <algorithm>
#include <limits>

#include "headlab/core/base/error.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/edits.h"
#include "headlab/lab/heads/causes/gold_edges.h"

namespace headlab {
namespace {

constexpr Index kMostFlowPositions = 64;
constexpr double kLeastCapacity = 1e-9;  // smaller capacities are rounding

/// Capacities that are left between the positions of adjacent layers.
class Network {
 public:
  explicit Network(const std::vector<Matrix>& layers)
      : size_(layers[0].rows()), layers_(std::ssize(layers)) {
    const auto nodes = static_cast<std::size_t>((layers_ + 1) * size_);
    forward_.resize(nodes * static_cast<std::size_t>(size_));
    backward_.resize(forward_.size());
    for (Index l = 0; l < layers_; ++l) {
      for (Index t = 0; t < size_; ++t) {
        for (Index s = 0; s < size_; ++s) forward_[edge(l + 1, t, s)] = layers[l](t, s);
      }
    }
  }

  /// Returns the maximum flow from position t after the last layer to input position s.
  double flow(Index t, Index s) {
    double total = 0;
    while (find_path(layers_ * size_ + t, s)) {
      const double least = least_on_path(layers_ * size_ + t, s);
      change_path(layers_ * size_ + t, s, least);
      total += least;
    }
    return total;
  }

 private:
  /// Returns the index of the edge from position t after layer `level` down to position s.
  std::size_t edge(Index level, Index t, Index s) const {
    return static_cast<std::size_t>((level * size_ + t) * size_ + s);
  }
  /// Returns the capacity left from one node to another, down or (against flow) up.
  double& left(Index from, Index to) {
    const bool is_down = to < from && from / size_ != to / size_;
    return is_down ? forward_[edge(from / size_, from % size_, to % size_)]
                   : backward_[edge(to / size_, to % size_, from % size_)];
  }

  bool find_path(Index source, Index sink) {
    before_.assign(static_cast<std::size_t>((layers_ + 1) * size_), -1);
    std::vector<Index> queue = {source};
    before_[source] = source;
    for (std::size_t i = 0; i < queue.size() && before_[sink] < 0; ++i) {
      const Index node = queue[i];
      const Index level = node / size_;
      for (const Index next_level : {level - 1, level + 1}) {
        if (next_level < 0 || next_level > layers_) continue;
        for (Index p = 0; p < size_; ++p) {
          const Index next = next_level * size_ + p;
          if (before_[next] >= 0 || left(node, next) <= kLeastCapacity) continue;
          before_[next] = node;
          queue.push_back(next);
        }
      }
    }
    return before_[sink] >= 0;
  }

  double least_on_path(Index source, Index sink) {
    double least = std::numeric_limits<double>::infinity();
    for (Index node = sink; node != source; node = before_[node]) {
      least = std::min(least, left(before_[node], node));
    }
    return least;
  }

  void change_path(Index source, Index sink, double amount) {
    for (Index node = sink; node != source; node = before_[node]) {
      left(before_[node], node) -= amount;
      left(node, before_[node]) += amount;
    }
  }

  Index size_, layers_;
  std::vector<double> forward_, backward_;
  std::vector<Index> before_;  // by node: the one before it on the path; -1: not reached
};

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
class FlowSums {
 public:
  FlowSums(const Task& task, Index length)
      : is_causal_(task.shape().architecture == Architecture::decoder),
        relations_(task.relations()),
        rows_(relations_.size()),
        rollout_(length, length),
        flow_(length, length) {}

  void add(const Example& example, Index b, const Matrix& rollout, const Matrix& flow) {
    for (Index t = 0; t < rollout.rows(); ++t) {
      for (Index s = 0; s < rollout.rows(); ++s) {
        rollout_(t, s) += rollout(t, s);
        flow_(t, s) += flow(t, s);
      }
      for (std::size_t r = 0; r < relations_.size(); ++r) {
        const auto keys = example.truth[r].keys(b, t);
        if (keys.empty()) continue;
        FlowReport::Row& row = rows_[r];
        ++row.queries;
        row.uniform += static_cast<double>(keys.size()) /
                       static_cast<double>(is_causal_ ? t + 1 : rollout.rows());
        for (const std::int32_t key : keys) {
          row.rollout += rollout(t, key);
          row.flow += flow(t, key);
        }
      }
    }
  }

  void finish(FlowReport& report) const {
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      FlowReport::Row row = rows_[r];
      const double n = static_cast<double>(std::max<Index>(1, row.queries));
      row.relation = relations_[r].name;
      for (double* sum : {&row.rollout, &row.flow, &row.uniform}) *sum /= n;
      report.relations.push_back(row);
    }
    report.rollout = means(rollout_, report.examples);
    report.flow = means(flow_, report.examples);
  }

 private:
  static std::vector<std::vector<double>> means(const Matrix& sums, Index examples) {
    std::vector<std::vector<double>> rows;
    for (Index t = 0; t < sums.rows(); ++t) {
      std::vector<double>& row = rows.emplace_back();
      for (Index s = 0; s < sums.columns(); ++s) {
        row.push_back(sums(t, s) / static_cast<double>(examples));
      }
    }
    return rows;
  }

  bool is_causal_;
  std::vector<Relation> relations_;
  std::vector<FlowReport::Row> rows_;
  Matrix rollout_, flow_;
};

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

Matrix attention_flow(const std::vector<Matrix>& layers) {
  const Index T = layers.at(0).rows();
  Matrix flow(T, T);
  for (Index t = 0; t < T; ++t) {
    for (Index s = 0; s < T; ++s) flow(t, s) = Network(layers).flow(t, s);
  }
  divide_by_row_sums(flow);
  return flow;
}

FlowReport find_flow(const Transformer& model, const Task& task, Index examples,
                     Index cost_examples) {
  require_one_stream(model);
  const Example example = held_out_examples(task, examples);
  const Batch& all = example.batch;
  require(all.length <= kMostFlowPositions, "cannot compute flow over ", all.length,
          " positions: the most are ", kMostFlowPositions);
  FlowReport report{.attention = attention_layer_names(model), .examples = all.size};
  FlowSums sums(task, all.length);
  for (Index b = 0; b < all.size; ++b) {
    const Batch one = all.rows(b, b + 1);
    const Activations activations(model, one);
    const std::vector<Matrix> layers = layer_attention(model, activations, 0, all.length_of(b));
    if (layers.empty()) continue;
    sums.add(example, b, attention_rollout(layers), attention_flow(layers));
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

Result result_of(const FlowReport& report) {
  Table table{
      "relations",
      {Column("relation", "relation", "relation of the task").no_legend(),
       Column("queries", "queries", "number of them").no_legend(),
       Column("rollout", "rollout",
              "share of the rollout (product of all attention matrices) on the ground-truth keys")
           .fixed(3),
       Column("flow", "flow", "the same share for the maximum flow to each input").fixed(3),
       Column("uniform", "uniform", "the same share if attention were uniform over visible keys")
           .fixed(3)}};
  table.append(change_columns("cost.", "cost",
                              "rise of the loss if the ground-truth keys are masked in all heads"));
  for (const FlowReport::Row& row : report.relations) {
    const Json::Array first = {row.relation, row.queries, row.rollout, row.flow, row.uniform};
    table.rows.push_back(row_with(first, cells_of(row.cost)));
  }
  table.note =
      "rollout and flow describe attention and are no causes; the cost is one (see `ablate RUN "
      "--gold-edges`)";
  return {.about = stamped({{"attention", report.attention}, {"examples", report.examples}}),
          .tables = {table},
          .figures = {{"rollout", "rollout: a row for each query, a column for each input position",
                       report.rollout},
                      {"flow", "flow: a row for each query, a column for each input position",
                       report.flow}}};
}

}  // namespace headlab
