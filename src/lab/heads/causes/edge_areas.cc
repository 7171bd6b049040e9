// The report of `edges`: how well each score ranks the ground-truth edges. Areas are computed
// within an example, so that no score needs the same scale in all examples, and then averaged. Read
// next: edges.cc, the scores.
#include <algorithm>
#include <limits>

#include "headlab/core/base/error.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/edges.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

constexpr Index kMostEdgePositions = 128;
constexpr EdgeScore kAll[] = {EdgeScore::attention,        EdgeScore::rollout,
                              EdgeScore::ablation,         EdgeScore::attribution,
                              EdgeScore::attribution_loss, EdgeScore::importance};

/// Edges of the queries of one relation in one sequence.
struct RankedEdges {
  std::vector<ScoredEdge> truth{};   // to the relation's ground-truth keys
  std::vector<ScoredEdge> others{};  // to keys that belong to no relation
};

RankedEdges ranked_edges(const Example& example, const std::vector<Relation>& relations,
                         std::size_t relation, Index b, const std::vector<ScoredEdge>& edges) {
  RankedEdges ranked;
  for (const ScoredEdge& edge : edges) {
    const auto is_truth_of = [&](std::size_t r) {
      const auto keys = example.truth[r].keys(b, edge.t);
      return relations[r].kind == relations[relation].kind && std::ranges::count(keys, edge.s) > 0;
    };
    if (example.truth[relation].keys(b, edge.t).empty()) continue;
    bool is_of_any = false;
    for (std::size_t r = 0; r < relations.size(); ++r) is_of_any = is_of_any || is_truth_of(r);
    if (is_truth_of(relation)) {
      ranked.truth.push_back(edge);
    } else if (!is_of_any) {
      ranked.others.push_back(edge);
    }
  }
  return ranked;
}

std::vector<double> values_of(const std::vector<ScoredEdge>& edges, EdgeScore score) {
  std::vector<double> values;
  for (const ScoredEdge& edge : edges) values.push_back(edge.at(score));
  return values;
}

/// Returns the row of one score, from the examples with edges on both sides.
EdgeAreaReport::Row row_of(const std::string& relation, EdgeScore score,
                           const std::vector<RankedEdges>& by_example) {
  EdgeAreaReport::Row row{.relation = relation, .score = score};
  std::vector<double> areas;
  for (const RankedEdges& ranked : by_example) {
    if (ranked.truth.empty() || ranked.others.empty()) continue;
    row.edges += std::ssize(ranked.truth);
    areas.push_back(roc_area(values_of(ranked.truth, score), values_of(ranked.others, score)));
  }
  row.examples = std::ssize(areas);
  if (!areas.empty()) row.area = share_interval(areas);
  return row;
}

/// Adds a row for each score of each relation of one kind of attention.
void add_rows(const Transformer& model, const Example& example,
              const std::vector<Relation>& relations, AttentionKind kind, EdgeAreaReport& report) {
  const auto edges = score_edges(model, example, relations, kind);
  const bool has_rollout = !model.config().has_source();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    if (relations[r].kind != kind) continue;
    std::vector<RankedEdges> by_example;
    for (Index b = 0; b < example.batch.size; ++b) {
      by_example.push_back(
          ranked_edges(example, relations, r, b, edges[static_cast<std::size_t>(b)]));
    }
    for (const EdgeScore score : kAll) {
      if (score == EdgeScore::rollout && !has_rollout) continue;
      report.rows.push_back(row_of(relations[r].name, score, by_example));
    }
  }
}

}  // namespace

double roc_area(std::span<const double> positives, std::span<const double> negatives) {
  if (positives.empty() || negatives.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> all(positives.begin(), positives.end());
  all.insert(all.end(), negatives.begin(), negatives.end());
  const std::vector<double> ranked = ranks(all);
  double sum = 0;
  for (std::size_t i = 0; i < positives.size(); ++i) sum += ranked[i];
  const auto p = static_cast<double>(positives.size());
  const auto n = static_cast<double>(negatives.size());
  return (sum - p * (p + 1) / 2) / (p * n);
}

EdgeAreaReport find_edge_areas(const Transformer& model, const Task& task, Index examples) {
  const Example example = held_out_examples(task, examples);
  const Index positions = std::max(example.batch.length, example.batch.source_length);
  if (positions > kMostEdgePositions) {
    throw Error(text("cannot score the edges of ", positions, " positions: each edge is masked in ",
                     "a pass of its own, and the most positions are ", kMostEdgePositions),
                "use a task with shorter sequences");
  }
  EdgeAreaReport report{.attention = attention_layer_names(model), .examples = example.batch.size};
  const std::vector<Relation> relations = task.relations();
  for (const AttentionKind kind :
       {AttentionKind::self, AttentionKind::encoder, AttentionKind::cross}) {
    const bool has_relation =
        std::ranges::find(relations, kind, &Relation::kind) != relations.end();
    if (has_relation) add_rows(model, example, relations, kind, report);
  }
  return report;
}

Result result_of(const EdgeAreaReport& report) {
  using Row = EdgeAreaReport::Row;
  Fields<Row> fields;
  fields.add(Column("relation", "relation", "relation of the task").no_legend(), &Row::relation);
  fields.add(Column("score", "score", "how edges are scored"),
             [](const Row& row) { return name_of(row.score); });
  fields.add(interval_column("area", "area",
                             "probability that a ground-truth edge scores higher than another edge "
                             "of the same queries: 0.5 is chance, 1 is perfect; with its 95% "
                             "interval over examples")
                 .mean_over("examples"),
             &Row::area);
  fields.add(Column("examples", "examples", "examples that have both kinds of edges"),
             &Row::examples);
  fields.add(Column("edges", "edges", "ground-truth edges").shown_as(Form::grouped), &Row::edges);
  const Table table{
      .name = "relations",
      .note =
          "attention: weight, summed over heads; rollout: product of all layers' attention; "
          "ablation: rise of the loss if the edge is masked in all heads; attribution: estimated "
          "fall of the target's logit above the mean logit, gradient times change of the weights; "
          "attribution_loss: the same for the loss; importance: size of the gradient of the loss "
          "by a gate on the edge, summed over heads",
      .inner = "scores"};
  return {.about = stamped({{"attention", report.attention}, {"examples", report.examples}}),
          .tables = {fields.table(table, report.rows)}};
}

}  // namespace headlab
