// Masking of ground-truth edges by HeadInterventions. If the attention function normalises, a head
// without its ground-truth key attends to other keys, whereas an ablated head has no output; if
// not, its output only loses the contribution of that key. All losses are those of the relation's
// own targets, example by example, so that the intervals are paired. Read next:
// truth_edges_report.cc.
#include "headlab/lab/heads/causes/truth_edges.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/mean.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"

namespace headlab {

/// Position of a head in the activation cache.
struct CachedHead {
  Index attention_layer, head;
};

/// Ground truth of a tested relation, and of all relations of its kind of attention: those whose
/// keys its targets may depend on, itself among them, and the others.
struct TestedTruth {
  const GroundTruth* tested;
  std::vector<const GroundTruth*> kept{}, others{};
};

namespace {

/// Masked edges of attention in a pass, and their weights.
class MaskedEdges {
 public:
  explicit MaskedEdges(const ActivationCache& activations)
      : attention_layers_(activations.attention) {
    for (const AttentionActivations& in : attention_layers_) {
      interventions_.push_back(
          {.masked_edges = Flags(in.pattern.defined() ? in.pattern.count() : 0)});
    }
  }

  /// Index of an edge in the pattern [B, H, T, S] of its attention layer.
  struct Edge {
    Index attention_layer, slot;
  };
  Edge edge(const CachedHead& at, const GroundTruth::Query& query, Index key) const {
    const Shape& shape = attention_layers_[at.attention_layer].pattern.shape();
    return {at.attention_layer,
            ((query.b * shape[1] + at.head) * shape[2] + query.t) * shape[3] + key};
  }
  double weight(const Edge& edge) const {
    return static_cast<double>(attention_layers_[edge.attention_layer].pattern.values()[edge.slot]);
  }
  /// Masks an edge and returns its weight.
  double hide(const Edge& edge) {
    interventions_[edge.attention_layer].masked_edges[edge.slot] = 1;
    mass_ += weight(edge);
    return weight(edge);
  }
  const std::vector<HeadInterventions>& interventions() const { return interventions_; }
  double mass() const { return mass_; }

 private:
  const std::vector<AttentionActivations>& attention_layers_;
  std::vector<HeadInterventions> interventions_;
  double mass_ = 0;
};

using Edges = std::vector<MaskedEdges::Edge>;

/// Query of a part of the examples, and the weight of its ground-truth edges in the heads that lose
/// them.
struct TestedQuery {
  GroundTruth::Query at;  // b counts within the part
  double mass = 0;
  std::vector<std::int32_t> kept_keys = {};   // true keys that its targets may depend on
  std::vector<std::int32_t> other_keys = {};  // true keys of relations with other targets
};

/// Appends the keys of example b and query t in each of these ground truths.
void add_keys(const std::vector<const GroundTruth*>& truths, Index b, Index t,
              std::vector<std::int32_t>& keys) {
  for (const GroundTruth* truth : truths) {
    const auto added = truth->keys(b, t);
    keys.insert(keys.end(), added.begin(), added.end());
  }
}

/// Returns the queries of a relation in the examples [first, end), numbered from `first`.
std::vector<TestedQuery> tested_queries(const TestedTruth& truth, Index first, Index end) {
  std::vector<TestedQuery> queries;
  for (Index i = 0; i < truth.tested->queries(); ++i) {
    const auto [b, t, keys] = truth.tested->query(i);
    if (b < first || b >= end) continue;
    queries.push_back({{b - first, t, keys}});
    add_keys(truth.kept, b, t, queries.back().kept_keys);
    add_keys(truth.others, b, t, queries.back().other_keys);
  }
  return queries;
}

/// Masks the ground-truth edges of the queries in these heads.
void hide_truth(const std::vector<CachedHead>& heads, std::vector<TestedQuery>& queries,
                MaskedEdges& truth) {
  for (TestedQuery& query : queries) {
    for (const CachedHead& head : heads) {
      for (const std::int32_t key : query.at.keys) {
        query.mass += truth.hide(truth.edge(head, query.at, key));
      }
    }
  }
}

/// Appends the edges of nonzero weight from a query to a key in these heads.
void add_edges(const MaskedEdges& edges, const std::vector<CachedHead>& heads, Index key,
               const TestedQuery& query, Edges& pool) {
  for (const CachedHead& head : heads) {
    const MaskedEdges::Edge edge = edges.edge(head, query.at, key);
    if (edges.weight(edge) > 0) pool.push_back(edge);
  }
}

/// Draws random edges of these heads at a query, with at least the weight of its ground-truth
/// edges: first to keys that are true in no relation, then to those of relations with other
/// targets, and none to a key that its targets may depend on.
Edges random_edges(const MaskedEdges& edges, const std::vector<CachedHead>& heads, Index keys,
                   const TestedQuery& query, Generator random) {
  Edges free_pool, other_pool;
  for (Index key = 0; key < keys; ++key) {
    if (std::ranges::count(query.kept_keys, key) > 0) continue;
    const bool is_other = std::ranges::count(query.other_keys, key) > 0;
    add_edges(edges, heads, key, query, is_other ? other_pool : free_pool);
  }
  random.shuffle(std::span(free_pool));
  random.shuffle(std::span(other_pool));
  Edges drawn;
  double left = query.mass;
  for (const Edges* pool : {&free_pool, &other_pool}) {
    for (auto edge = pool->begin(); edge != pool->end() && left > 0; ++edge) {
      drawn.push_back(*edge);
      left -= edges.weight(*edge);
    }
  }
  return drawn;
}

}  // namespace

std::string EdgeTest::guard() const {
  if (!truth.enough()) return kExamplesGuard;
  if (!is_costly()) return "";
  if (at_guessing) return kGuessingGuard;
  if (!is_fair()) return kControlGuard;
  return is_significant() && !is_large() ? kSizeGuard : "";
}

std::string EdgeTest::conclusion() const {
  if (!truth.enough()) return truth.lacking();
  if (guard() == kGuessingGuard) return kAtGuessing;
  if (guard() == kControlGuard) return "no fair control: too little other attention to mask";
  if (guard() == kSizeGuard) return "small";
  const std::string about = asks ? "" : ", judged on all answers";
  if (heads.size() > 1) return (is_cause() ? "cause" : "no cause") + about;
  if (lift >= kOwnerLift) return (is_cause() ? "cause" : "pattern and cause disagree") + about;
  return (is_cause() ? "cause without pattern" : "no cause") + about;
}

/// Sums of one test while it runs over parts of the examples.
struct EdgeExperiment::Trial {
  std::size_t relation;
  TestedTruth known;
  Batch examples;        // with only the targets of the relation
  AgainstTargets named;  // those of them for which lines name another answer
  std::vector<CachedHead> heads{},
      all{};  // heads that lose ground-truth edges; heads of the relation's kind
  std::vector<double> whole{}, truth{}, random{};                          // losses of the examples
  std::vector<double> whole_against{}, truth_against{}, random_against{};  // logit differences
  double mass = 0, random_mass = 0;                                        // sums over queries
  Index queries = 0;                                                       // their number
};

EdgeExperiment::EdgeExperiment(const Transformer& model, const Task& task,
                               const EdgeOptions& options)
    : model_(model),
      task_(task),
      relations_(task.relations()),
      example_(held_out_examples(task, options.examples)),
      options_(options) {
  require(options.examples >= 2 && options.batch >= 1 && options.draws >= 1,
          "cannot test ground-truth edges on ", options.examples, " examples with ", options.draws,
          " draws of random edges");
}

void EdgeExperiment::choose_heads(const HeadSet& heads, Trial& trial) const {
  const Relation& asked = relations_[trial.relation];
  const std::vector<AttentionLayer> attention_layers = model_.attention_layers();
  for (const HeadId& head : all_heads(model_)) {
    if (attention_layers[head.attention_layer].kind == asked.kind) {
      trial.all.push_back({head.attention_layer, slot_of(model_, head)});
    }
  }
  for (const HeadId& head : heads) {
    trial.heads.push_back({head.attention_layer, slot_of(model_, head)});
    const AttentionLayer& attention_layer = attention_layers[head.attention_layer];
    require(attention_layer.kind == asked.kind, "cannot test ground-truth edges: head ",
            head_text(head), " of ", attention_layer.name, " cannot hold the relation ",
            asked.name);
  }
}

TestedTruth EdgeExperiment::known_truth(std::size_t relation, bool is_alone) const {
  TestedTruth known{&example_.truth[relation]};
  for (std::size_t r = 0; r < relations_.size(); ++r) {
    if (relations_[r].kind != relations_[relation].kind) continue;
    const bool is_kept = r == relation || !is_alone;
    std::vector<const GroundTruth*>& group = is_kept ? known.kept : known.others;
    group.push_back(&example_.truth[r]);
  }
  return known;
}

EdgeTest EdgeExperiment::test(std::size_t relation, const HeadSet& heads) const {
  const NoGrad no_grad;
  require(relation < relations_.size(), "cannot test ground-truth edges: the task has ",
          relations_.size(), " relations");
  const RelationTargets asked = targets_of(task_, example_, relation);
  const bool is_alone = asked.own && has_own_target(task_, relations_[relation].name);
  Trial trial{relation, known_truth(relation, is_alone), asked.examples,
              AgainstTargets(task_, Split::validation, asked.examples)};
  choose_heads(heads, trial);
  const std::vector<double> targets = targets_by_example(trial.examples);
  const auto judged = std::ranges::count_if(targets, [](double count) { return count > 0; });
  EdgeTest test{.heads = heads, .targets = trial.examples.target_count(), .asks = asked.own};
  test.truth.examples = judged;
  if (judged == 0) return test;
  for (std::vector<double>* sums : {&trial.whole, &trial.truth, &trial.random}) {
    sums->resize(trial.examples.size);
  }
  for_parts(trial.examples, options_.batch,
            [&](const Batch& part, Index first) { add_part(part, first, trial); });
  test.queries = trial.queries;
  test.mass = Mean(trial.mass, trial.queries).or_nan();
  test.random_mass = Mean(trial.random_mass, trial.queries).or_nan();
  test.at_guessing = against_guessing(trial.whole, trial.examples).is_at_guessing();
  test.truth = paired_change(trial.truth, trial.whole, targets);
  test.random = paired_change(trial.random, trial.whole, targets);
  test.difference = paired_change(trial.truth, trial.random, targets);
  if (!trial.named.empty()) test.against = against_of(trial);
  return test;
}

EdgeAgainst EdgeExperiment::against_of(const Trial& trial) {
  const std::vector<double> none(trial.whole_against.size());
  EdgeAgainst against;
  against.whole = trial.named.change(trial.whole_against, none);
  against.truth = trial.named.change(trial.truth_against, trial.whole_against);
  against.random = trial.named.change(trial.random_against, trial.whole_against);
  against.rows = trial.named.rows(trial.whole_against, "");
  against.masked = trial.truth_against;
  against.random_masked = trial.random_against;
  return against;
}

void EdgeExperiment::add_part(const Batch& part, Index first, Trial& trial) const {
  const Activations whole(model_, part);
  add_losses(whole.logits(), part, first, 1, trial.whole);
  trial.named.add(whole.logits(), part, first, 1, trial.whole_against);
  const auto add_without = [&](const MaskedEdges& edges, double share, std::vector<double>& sums,
                               std::vector<double>& against) {
    const Tensor logits = model_.forward(part, {}, {.interventions = edges.interventions()});
    add_losses(logits, part, first, share, sums);
    trial.named.add(logits, part, first, share, against);
  };
  std::vector<TestedQuery> queries = tested_queries(trial.known, first, first + part.size);
  MaskedEdges truth(whole.cache());
  hide_truth(trial.heads, queries, truth);
  add_without(truth, 1, trial.truth, trial.truth_against);
  trial.mass += truth.mass();
  trial.queries += std::ssize(queries);
  const double share = 1 / static_cast<double>(options_.draws);
  const Index keys = part.keys(relations_[trial.relation].kind);
  const Key key = streams::seeded(options_.seed).fold("random edges").fold(trial.relation);
  for (Index draw = 0; draw < options_.draws; ++draw) {
    MaskedEdges random(whole.cache());
    std::vector<Edges> drawn(queries.size());
    parallel_for(std::ssize(queries), [&](Index i) {
      const TestedQuery& query = queries[i];
      const Key of_query = key.fold(draw).fold(first + query.at.b).fold(query.at.t);
      drawn[i] = random_edges(random, trial.all, keys, query, Generator(of_query));
    });
    for (const Edges& edges : drawn) {
      for (const MaskedEdges::Edge& edge : edges) random.hide(edge);
    }
    add_without(random, share, trial.random, trial.random_against);
    trial.random_mass += share * random.mass();
  }
}

EdgeReport test_truth_edges(const Transformer& model, const Task& task,
                            const EdgeOptions& options) {
  const EdgeExperiment experiment(model, task, options);
  const std::vector<AttentionLayer> attention_layers = model.attention_layers();
  const HeadsReport scores =
      score_heads(model, task,
                  {.examples = std::min(options.examples, HeadsOptions().examples),
                   .patterns_only = true});
  EdgeReport report{.attention = scores.attention, .options = options, .relations = {}};
  report.options.examples = at_most_different(task, options.examples);
  Steps steps(std::ssize(scores.relations) * std::ssize(scores.heads));
  for (std::size_t r = 0; r < scores.relations.size(); ++r) {
    EdgeReport::Row row{scores.relations[r].relation, {}};
    HeadSet all;
    for (std::size_t h = 0; h < scores.heads.size(); ++h) {
      const HeadScores& head = scores.heads[h];
      steps.done();
      if (attention_layers[head.attention_layer].kind != row.relation.kind) continue;
      all.push_back(head);
      if (head.relations[r].lift < kOwnerLift && h != scores.relations[r].best) continue;
      row.tests.push_back(experiment.test(r, {head}));
      row.tests.back().lift = head.relations[r].lift;
    }
    if (all.size() > 1) row.tests.push_back(experiment.test(r, all));
    for (EdgeTest& test : row.tests) test.share = test.truth.change / row.tests.back().truth.change;
    report.relations.push_back(std::move(row));
  }
  return report;
}

std::vector<PairedChange> EdgeReport::changes() const {
  std::vector<PairedChange> all;
  for (const Row& row : relations) {
    for (const EdgeTest& test : row.tests) {
      all.insert(all.end(), {test.truth, test.random, test.difference});
    }
  }
  return all;
}

}  // namespace headlab
