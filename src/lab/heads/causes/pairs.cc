// Pairs of heads. Losses of all pairs are computed first, on all targets. Then, for each relation
// and each head that owns it, the direct shares of all heads on the relation's targets are computed
// with that head ablated, at the layer-norm scales of the unchanged model. Read next:
// attribution.h.
#include "headlab/lab/heads/causes/pairs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"

namespace headlab {

bool HeadPairReport::redundant() const {
  const double a = of_first.share.change, b = of_second.share.change;
  return PairSide::is_sure(of_first.share) && PairSide::is_sure(of_second.share) &&
         std::min(a, b) >= kLeastShare * std::max(a, b) && PairSide::is_sure(beyond) &&
         beyond.change >= kLeast && beyond_share >= kLeastBeyond;
}

bool HeadPairReport::takes_over(const PairSide& side, const PairSide& gone) {
  return gone.owns && PairSide::is_sure(gone.share) && PairSide::is_sure(side.rise) &&
         side.rise.change >= kLeastRise * gone.share.change;
}

std::string HeadPairReport::conclusion() const {
  std::vector<std::string> words;
  if (redundant()) words.emplace_back("redundant");
  if (first_takes_over()) words.push_back(head_text(first) + " compensates");
  if (second_takes_over()) words.push_back(head_text(second) + " compensates");
  return join(words, ", ");
}

namespace {

/// Direct shares of all heads by example, each summed over the example's targets.
using Shares = std::vector<std::vector<double>>;

/// Data of a relation: its targets and its owners.
struct TestedRelation {
  std::string name;
  Batch examples;               // with only the relation's targets
  std::vector<double> targets;  // of each example
  HeadSet owners;
  Shares whole{};                 // of the unchanged model
  std::vector<Shares> without{};  // with each owner ablated

  bool owned_by(const HeadId& head) const { return std::ranges::count(owners, head) > 0; }
};

/// Returns the relations with an owner and targets of their own; `unasked` names those with an
/// owner only.
std::vector<TestedRelation> tested_relations(const Transformer& model, const Task& task,
                                             const Example& example, std::string& unasked) {
  const HeadsReport scores = score_heads(model, task, {.without_truth = false});
  std::vector<TestedRelation> all;
  std::vector<std::string> without_targets;
  std::vector<std::string> at_guessing;
  for (std::size_t r = 0; r < scores.relations.size(); ++r) {
    const std::string& name = scores.relations[r].relation.name;
    HeadSet owners;
    for (const HeadScores& head : scores.heads) {
      if (head.relations[r].looks_like_owner()) owners.push_back(head);
    }
    if (owners.empty()) continue;
    if (scores.best_score(r).at_guessing) {
      at_guessing.push_back(name);
      continue;
    }
    auto [examples, own] = targets_of(task, example, r);
    if (!own || examples.target_count() == 0) {
      without_targets.push_back(name);
      continue;
    }
    std::vector<double> targets = targets_by_example(examples);
    all.push_back({name, std::move(examples), std::move(targets), std::move(owners)});
  }
  std::vector<std::string> reasons;
  if (!without_targets.empty()) {
    reasons.push_back("not asked, because no target is its own: " + join(without_targets, ", "));
  }
  if (!at_guessing.empty()) {
    reasons.push_back(text("not asked (", kAtGuessing, "): ", join(at_guessing, ", ")));
  }
  unasked = join(reasons, "; ");
  return all;
}

/// Adds the shares of a pass over a part of the examples to those of its relation.
void add_shares(const Attribution& found, const HeadSet& heads, const TestedRelation& relation,
                Index first, Shares& sums) {
  const Batch& batch = relation.examples;
  const Index each = batch.length * batch.targets_per_position;
  sums.resize(heads.size(), std::vector<double>(batch.size));
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const auto part = std::ranges::find(found.parts, head_text(heads[h]));
    if (part == found.parts.end()) continue;  // an encoder's head writes to no logit itself
    const std::vector<double>& shares = found.shares[part - found.parts.begin()];
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const Index row = first * each + found.rows[i];
      if (batch.targets[row] >= 0) sums[h][row / each] += shares[i];
    }
  }
}

/// Fills the shares of all relations.
void find_shares(const Transformer& model, const Batch& examples, Index size,
                 std::vector<TestedRelation>& relations) {
  const HeadSet heads = all_heads(model);
  for (TestedRelation& relation : relations) relation.without.resize(relation.owners.size());
  for_parts(examples, size, [&](const Batch& part, Index first) {
    if (part.target_count() == 0) return;
    NormScales norms;
    const Attribution whole = attribute_logits(model, part, true, {}, &norms);
    norms.given = true;
    std::map<std::string, Attribution> known;  // by the ablated head
    for (TestedRelation& relation : relations) {
      add_shares(whole, heads, relation, first, relation.whole);
      for (std::size_t i = 0; i < relation.owners.size(); ++i) {
        const auto [found, is_new] = known.try_emplace(head_text(relation.owners[i]));
        const std::vector<HeadInterventions> interventions =
            gates_for(model, without(heads, relation.owners[i]));
        if (is_new) found->second = attribute_logits(model, part, true, interventions, &norms);
        add_shares(found->second, heads, relation, first, relation.without[i]);
      }
    }
  });
}

PairSide side_of(const TestedRelation& relation, const HeadSet& heads, const HeadId& head,
                 const HeadId& other) {
  const std::size_t h = std::ranges::find(heads, head) - heads.begin();
  const std::vector<double> none(relation.targets.size());
  PairSide side{.owns = relation.owned_by(head),
                .share = paired_change(relation.whole[h], none, relation.targets),
                .rise = {}};
  const auto gone = std::ranges::find(relation.owners, other);
  if (gone != relation.owners.end()) {
    const Shares& without = relation.without[gone - relation.owners.begin()];
    side.rise = paired_change(without[h], relation.whole[h], relation.targets);
  }
  return side;
}

/// Returns the pairs with a row for each relation that one of the heads owns, or one row without
/// any.
std::vector<HeadPairReport> with_relations(const std::vector<HeadPairReport>& pairs,
                                           const std::vector<TestedRelation>& relations,
                                           const HeadSet& heads) {
  std::vector<HeadPairReport> rows;
  for (const HeadPairReport& pair : pairs) {
    bool owns = false;
    for (const TestedRelation& relation : relations) {
      if (!relation.owned_by(pair.first) && !relation.owned_by(pair.second)) continue;
      owns = true;
      HeadPairReport& row = rows.emplace_back(pair);
      row.relation = relation.name;
      row.of_first = side_of(relation, heads, pair.first, pair.second);
      row.of_second = side_of(relation, heads, pair.second, pair.first);
    }
    if (!owns) rows.push_back(pair);
  }
  return rows;
}

/// Fills the cost of both beyond the sum of the single costs, on a relation's targets, for all its
/// rows in which both heads have a certain share.
void find_costs(const Transformer& model, const TestedRelation& relation,
                const AblationOptions& options, std::vector<HeadPairReport>& rows) {
  std::vector<HeadPairReport*> tested;
  std::vector<HeadPair> pairs;
  for (HeadPairReport& row : rows) {
    if (row.relation != relation.name || !PairSide::is_sure(row.of_first.share) ||
        !PairSide::is_sure(row.of_second.share)) {
      continue;
    }
    tested.push_back(&row);
    pairs.emplace_back(row.first, row.second);
  }
  if (pairs.empty()) return;
  const Ablation ablation(model, relation.examples, options);
  const std::vector<Ablation::PairLosses> found = ablation.pair_losses(pairs);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Ablation::PairLosses& losses = found[p];
    const double resolution = loss_resolution(losses.largest_logit);
    tested[p]->beyond = ablation.change(losses.joint, losses.apart, resolution);
    tested[p]->beyond_share =
        tested[p]->beyond.change / (ablation.mean(losses.joint) - ablation.mean(losses.whole));
  }
}

}  // namespace

PairsReport ablate_pairs(const Transformer& model, const Batch& examples,
                         const AblationOptions& options) {
  const HeadSet heads = all_heads(model);
  require(heads.size() >= 2, "cannot ablate pairs of heads: it needs two heads, the model has ",
          heads.size());
  const Ablation ablation(model, examples, options);
  std::vector<HeadPair> pairs;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (std::size_t j = i + 1; j < heads.size(); ++j) pairs.emplace_back(heads[i], heads[j]);
  }
  const std::int64_t alone_passes = 1 + std::ssize(heads);
  const std::int64_t pair_passes = 4 * std::ssize(pairs);
  Steps steps(alone_passes + pair_passes);
  steps.next(alone_passes);
  std::vector<double> alone = ablation.mean_losses(single_sets(heads));
  steps.done();
  const double loss = alone[0];
  steps.next(pair_passes);
  const std::vector<Ablation::PairLosses> losses = ablation.pair_losses(pairs);
  steps.done();
  const auto cost_of = [&](const HeadId& head) {
    return alone[1 + (std::ranges::find(heads, head) - heads.begin())] - loss;
  };
  PairsReport report{ablation.facts(loss), {}};
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto& [a, b] = pairs[p];
    report.pairs.push_back({a, b, ablation.mean(losses[p].joint) - loss, cost_of(a) + cost_of(b),
                            ablation.mean(losses[p].independent) - loss,
                            ablation.change(losses[p].joint, losses[p].independent,
                                            loss_resolution(losses[p].largest_logit))});
  }
  return report;
}

PairsReport ablate_pairs(const Transformer& model, const Task& task, const AblationOptions& options,
                         Index examples) {
  const Example example = held_out_examples(task, examples);
  const bool is_explained = kind_of(model.config().norm_place).stream == StreamKind::sum;
  const HeadSet heads = all_heads(model);
  const std::int64_t losses_share = std::ssize(heads);  // approximate share of the work
  const std::int64_t shares_share = is_explained ? 2 : 0;
  const std::int64_t costs_share = is_explained ? std::ssize(heads) : 0;
  Steps steps(losses_share + shares_share + costs_share);
  steps.next(losses_share);
  PairsReport report = ablate_pairs(model, example.batch, options);
  steps.done();
  if (!is_explained) {
    report.unasked = "no relation is asked about: direct shares need a pre-norm model";
    return report;
  }
  steps.next(shares_share);
  std::vector<TestedRelation> relations = tested_relations(model, task, example, report.unasked);
  find_shares(model, example.batch, options.batch, relations);
  steps.done();
  steps.next(costs_share);
  report.pairs = with_relations(report.pairs, relations, heads);
  Steps counted(std::ssize(relations));
  for (const TestedRelation& relation : relations) {
    find_costs(model, relation, options, report.pairs);
    counted.done();
  }
  return report;
}

}  // namespace headlab
