// Gold edges hidden by HeadEdits, which renormalises what is left: a head that loses its gold key
// must look elsewhere, where an ablated head would fall silent. All losses are those of the
// relation's own targets, example by example, so that the intervals are paired. Read next:
// report/causes_text.h.
#include "headlab/heads/gold_edges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/evaluate.h"

namespace headlab {
namespace {

using Mask = std::vector<std::uint8_t>;

bool is_in(std::span<const std::int32_t> keys, Index s) {
  return std::find(keys.begin(), keys.end(), s) != keys.end();
}

/// Edges of attention that are to be hidden in a pass, and what they weighed.
class Edges {
 public:
  explicit Edges(const std::vector<AttentionCaptures>& modules) : modules_(&modules) {
    for (const AttentionCaptures& module : modules) {
      const Index count = module.pattern.defined() ? module.pattern.count() : 0;
      edits_.push_back({.hidden_edges = Flags(static_cast<std::size_t>(count), 0)});
    }
  }

  /// The place of an edge in the pattern [B, H, T, S] of its module.
  struct Edge {
    std::size_t module, place;
  };
  Edge edge(std::size_t module, Index head, const Gold::Query& query, Index key) const {
    const Shape& shape = (*modules_)[module].pattern.shape();
    const Index row = (query.b * shape[1] + head) * shape[2] + query.t;
    return {module, static_cast<std::size_t>(row * shape[3] + key)};
  }
  double weight(const Edge& edge) const {
    return static_cast<double>((*modules_)[edge.module].pattern.values()[edge.place]);
  }
  /// Returns its weight.
  double hide(const Edge& edge) {
    edits_[edge.module].hidden_edges[edge.place] = 1;
    mass_ += weight(edge);
    return weight(edge);
  }
  const Shape& shape(std::size_t module) const { return (*modules_)[module].pattern.shape(); }
  const std::vector<HeadEdits>& edits() const { return edits_; }
  double mass() const { return mass_; }

 private:
  const std::vector<AttentionCaptures>* modules_;
  std::vector<HeadEdits> edits_;
  double mass_ = 0;
};

/// A query of a part of the examples, and what its gold edges weigh in the heads that lose them.
struct Query {
  Gold::Query at;                   // b counts within the part
  std::vector<std::int32_t> truth;  // the keys of all relations of its kind that are asked there
  double mass = 0;
};

std::vector<Query> queries_of(const Example& example, const std::vector<Relation>& relations,
                              std::size_t relation, Index first, Index end) {
  std::vector<Query> queries;
  for (Index i = 0; i < example.gold[relation].queries(); ++i) {
    const auto [b, t, keys] = example.gold[relation].query(i);
    if (b < first || b >= end) continue;
    Query& query = queries.emplace_back(Query{{b - first, t, keys}, {}, 0});
    for (std::size_t r = 0; r < relations.size(); ++r) {
      const auto more = example.gold[r].keys(b, t);
      if (relations[r].kind == relations[relation].kind)
        query.truth.insert(query.truth.end(), more.begin(), more.end());
    }
  }
  return queries;
}

/// Hides random edges of these modules at a query until they weigh as much. Edges to what another
/// relation asks for are no random ones: they may carry another half of the answer.
void hide_random(Edges& edges, const std::vector<std::size_t>& modules, const Query& query,
                 Generator random) {
  std::vector<Edges::Edge> pool;
  for (const std::size_t m : modules) {
    const Index heads = edges.shape(m)[1], keys = edges.shape(m)[3];
    for (Index i = 0; i < heads * keys; ++i) {
      const Edges::Edge edge = edges.edge(m, i / keys, query.at, i % keys);
      if (edges.weight(edge) > 0 && !is_in(query.truth, i % keys)) pool.push_back(edge);
    }
  }
  random.shuffle(std::span<Edges::Edge>(pool));
  double left = query.mass;
  for (std::size_t i = 0; i < pool.size() && left > 0; ++i) left -= edges.hide(pool[i]);
}

/// Adds `share` of the losses [B, T, K] that the mask selects to the sums of the examples from
/// `first` on.
void add_losses(const Tensor& losses, const Mask& mask, Index first, double share,
                std::vector<double>& sums) {
  const Index each = losses.shape().count(1, 3);
  for (Index i = 0; i < losses.count(); ++i)
    if (mask[first * each + i] != 0)
      sums[first + i / each] += share * static_cast<double>(losses.values()[i]);
}

Json test_to_json(const EdgeTest& test) {
  Json json = Json::object();
  Json& heads = json["heads"] = Json::array();
  for (const HeadId& head : test.heads) heads.push_back(Json::Array{head.layer, head.head});
  json["lift"] = test.lift;
  json["mass"] = test.mass;
  json["control_mass"] = test.control_mass;
  test.gold.write_to(json["gold"] = Json::object());
  test.control.write_to(json["control"] = Json::object());
  test.difference.write_to(json["difference"] = Json::object());
  json["cause"] = test.is_cause();
  json["verdict"] = test.verdict();
  return json;
}

}  // namespace

std::string EdgeTest::verdict() const {
  if (heads.size() == 1 && lift >= kOwnerLift)
    return is_cause() ? "cause" : "pattern and cause disagree";
  if (heads.size() == 1 && is_cause()) return "cause without pattern";
  return is_cause() ? "cause" : "no cause";
}

Mask targets_of_relation(const Task& task, const Example& example, std::size_t relation) {
  const Batch& batch = example.batch;
  const Relation asked = task.relations()[relation];
  const std::vector<std::string> names = task.target_names();
  const bool named = std::find(names.begin(), names.end(), asked.name) != names.end();
  Mask chosen(batch.targets.size()), all(batch.targets.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto K = static_cast<std::size_t>(batch.targets_per_position);
    const auto T = static_cast<std::size_t>(batch.length);
    const auto b = static_cast<Index>(i / K / T), t = static_cast<Index>(i / K % T);
    const bool wanted = !named || names[i % K] == asked.name;
    all[i] = batch.targets[i] >= 0;
    chosen[i] = all[i] != 0 && wanted && !example.gold[relation].keys(b, t).empty();
  }
  const bool none = std::find(chosen.begin(), chosen.end(), 1) == chosen.end();
  return none || asked.kind == AttentionKind::encoder ? all : chosen;
}

EdgeExperiment::EdgeExperiment(const Transformer& model, const Task& task,
                               const EdgeOptions& options)
    : model_(model),
      modules_(model_.attention_modules()),
      relations_(task.relations()),
      example_(held_out_examples(task, options.examples)),
      options_(options) {
  require(options.examples >= 2 && options.batch >= 1 && options.draws >= 1,
          "a test of gold edges on ", options.examples, " examples with ", options.draws,
          " draws of random edges cannot be made");
  for (std::size_t r = 0; r < relations_.size(); ++r)
    targets_.push_back(targets_of_relation(task, example_, r));
}

/// What one test gathers while it walks over parts of the examples.
struct EdgeExperiment::Pass {
  struct Place {
    std::size_t module;
    Index head;  // its place in the module
  };
  std::size_t relation;
  std::vector<Place> heads{};          // in which gold edges are hidden
  std::vector<std::size_t> modules{};  // of the relation's kind: where random edges are hidden
  std::vector<double> whole{}, gold{}, control{};  // losses of the examples
  double mass = 0, control_mass = 0, queries = 0;  // sums over queries, and how many these are
};

EdgeExperiment::Pass EdgeExperiment::pass_for(std::size_t relation, const HeadSet& heads) const {
  require(relation < relations_.size(), "the task has ", relations_.size(), " relations, not ",
          relation + 1);
  const Relation& asked = relations_[relation];
  Pass pass{.relation = relation};
  for (std::size_t m = 0; m < modules_.size(); ++m)
    if (modules_[m].kind == asked.kind && modules_[m].attention->head_count() > 0)
      pass.modules.push_back(m);
  for (const HeadId& head : heads) {
    const Index place = place_of(model_, head);
    const auto m = static_cast<std::size_t>(head.layer);
    require(modules_[m].kind == asked.kind, "head ", head.layer, ".", head.head, " of ",
            modules_[m].name, " cannot hold the relation ", asked.name);
    pass.heads.push_back({m, place});
  }
  for (std::vector<double>* sums : {&pass.whole, &pass.gold, &pass.control})
    sums->resize(static_cast<std::size_t>(example_.batch.size));
  return pass;
}

EdgeTest EdgeExperiment::test(std::size_t relation, const HeadSet& heads) const {
  const NoGrad no_grad;
  Pass pass = pass_for(relation, heads);
  for (Index first = 0; first < example_.batch.size; first += options_.batch) add_part(first, pass);
  const Mask& mask = targets_[relation];
  const auto each = std::ssize(mask) / example_.batch.size;
  std::vector<double> targets;
  for (auto row = mask.begin(); row != mask.end(); row += each)
    targets.push_back(std::accumulate(row, row + each, 0.0));
  const double queries = std::max(1.0, pass.queries);
  return {.heads = heads,
          .mass = pass.mass / queries,
          .control_mass = pass.control_mass / queries,
          .gold = paired_change(pass.gold, pass.whole, targets),
          .control = paired_change(pass.control, pass.whole, targets),
          .difference = paired_change(pass.gold, pass.control, targets)};
}

void EdgeExperiment::add_part(Index first, Pass& pass) const {
  const Index end = std::min(example_.batch.size, first + options_.batch);
  const Batch part = example_.batch.rows(first, end);
  const Mask& mask = targets_[pass.relation];
  const auto add_with = [&](const Edges& edges, double share, std::vector<double>& sums) {
    const Tensor logits = model_.forward(part, {}, {.edits = edges.edits()});
    add_losses(target_losses(logits, part), mask, first, share, sums);
  };
  ModelCaptures captures;
  const Tensor whole = model_.forward(part, {}, {.captures = &captures});
  add_losses(target_losses(whole, part), mask, first, 1, pass.whole);
  std::vector<Query> queries = queries_of(example_, relations_, pass.relation, first, end);
  Edges hidden(captures.attention);
  for (Query& query : queries) {
    for (const Pass::Place& at : pass.heads)
      for (const std::int32_t key : query.at.keys)
        query.mass += hidden.hide(hidden.edge(at.module, at.head, query.at, key));
  }
  add_with(hidden, 1, pass.gold);
  pass.mass += hidden.mass();
  pass.queries += static_cast<double>(queries.size());
  const double share = 1 / static_cast<double>(options_.draws);
  const Key key = Key{static_cast<std::uint64_t>(options_.seed)}.fold("random edges");
  for (Index draw = 0; draw < options_.draws; ++draw) {
    Edges random(captures.attention);
    for (const Query& query : queries) {
      const Key drawn = key.fold(pass.relation).fold(draw).fold(first + query.at.b);
      hide_random(random, pass.modules, query, Generator(drawn.fold(query.at.t)));
    }
    add_with(random, share, pass.control);
    pass.control_mass += share * random.mass();
  }
}

EdgeReport test_gold_edges(const Transformer& model, const Task& task, const EdgeOptions& options) {
  const EdgeExperiment experiment(model, task, options);
  Transformer shared = model;
  const std::vector<AttentionModule> modules = shared.attention_modules();
  const HeadsReport scores = score_heads(shared, task, {.examples = options.examples});
  EdgeReport report;
  report.options = options;
  report.attention = scores.attention;
  for (std::size_t r = 0; r < scores.relations.size(); ++r) {
    const Relation& relation = scores.relations[r].relation;
    EdgeReport::Row row{relation, {}};
    HeadSet all;
    for (std::size_t h = 0; h < scores.heads.size(); ++h) {
      const HeadScores& head = scores.heads[h];
      const double lift = head.relations[r].lift;
      if (modules[head.layer].kind != relation.kind) continue;
      all.push_back({head.layer, head.head});
      if (lift >= kOwnerLift || h == scores.relations[r].best) {
        row.tests.push_back(experiment.test(r, {all.back()}));
        row.tests.back().lift = lift;
      }
    }
    if (all.size() > 1) row.tests.push_back(experiment.test(r, all));
    report.relations.push_back(std::move(row));
  }
  return report;
}

Json EdgeReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["examples"] = options.examples;
  json["draws"] = options.draws;
  json["seed"] = options.seed;
  Json& list = json["relations"] = Json::array();
  for (const Row& row : relations) {
    Json entry = Json::object();
    entry["name"] = row.relation.name;
    Json& tests = entry["tests"] = Json::array();
    for (const EdgeTest& test : row.tests) tests.push_back(test_to_json(test));
    list.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
