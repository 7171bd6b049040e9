// Scores of heads, from the examples to the report. The scored queries are prepared before the
// model runs (scored_queries.cc), sums are accumulated while it runs (head_sums.cc), and this file
// converts them to scores. All choices (the head of a relation, the best offset, the average
// pattern, the assignment) are made on split A; reported numbers come from split B. Labels follow
// Voita et al. 2019; definitions: the comment of score_heads and the table of scores. Read next:
// labels.cc, score_table.cc, scores_json.cc and scores_result.cc.
#include "headlab/lab/heads/scores/scores.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "lab/heads/scores/labels.h"

namespace headlab {
namespace {

constexpr Index kFewestPermutations = 199;

// ---- one head on the ground truth of relations --------------------------------------------------

/// Returns the mass of the head's average pattern of split A on the disjoint queries of a split.
double position_baseline(const HeadSums& head, const QuerySet& set, std::size_t split) {
  const Index length = std::ssize(head.pattern_rows);
  double sum = 0;
  for (const EligibleQuery& query : set.queries) {
    const double rows = head.pattern_rows[query.t];
    if (!query.disjoint || split_of(query.b) != split || rows == 0) continue;
    for (const std::int32_t key : query.keys) sum += head.pattern[query.t * length + key] / rows;
  }
  return ratio(sum, set.splits[split].disjoint);
}

/// Returns the mean share of ground-truth keys among the keys that the head sees: the mass of
/// uniform attention.
double uniform_baseline(const Mask& mask, const QuerySet& set, std::size_t split) {
  double sum = 0;
  for (const EligibleQuery& query : set.queries) {
    if (!query.disjoint || split_of(query.b) != split) continue;
    const SeenKeys seen = mask.seen(query.b, query.t);
    sum += ratio(std::ranges::count_if(query.keys,
                                       [&](Index s) { return seen.first <= s && s < seen.end; }),
                 seen.count());
  }
  return ratio(sum, set.splits[split].disjoint);
}

RelationScore score_of(const HeadSums& head, const MatchCounts& matches, const QuerySet& set,
                       std::size_t split, const Mask& mask) {
  const QuerySet::Facts& facts = set.splits[split];
  const MatchCounts::Split& sums = matches.splits[split];
  RelationScore score{.queries = facts.disjoint,
                      .examples = facts.examples,
                      .mass = ratio(sums.mass, facts.disjoint),
                      .mass_all = ratio(sums.mass_all, facts.all),
                      .top1 = ratio(sums.top1, facts.disjoint),
                      .baseline = uniform_baseline(mask, set, split)};
  if (!set.positional) {
    const double offset = ratio(facts.offset_right, facts.disjoint);
    score.baseline = std::max({score.baseline, offset, position_baseline(head, set, split)});
  }
  if (score.baseline < 1 && facts.disjoint > 0) {
    score.lift = (score.mass - score.baseline) / (1 - score.baseline);
  }
  return score;
}

/// Returns the scores of a head by relation, on one split. Scores on relations of another kind of
/// attention stay empty: no query counts.
std::vector<RelationScore> relation_scores(const HeadSums& head, const ScoringJob& job,
                                           std::size_t split) {
  std::vector<RelationScore> scores(job.relations.size());
  const Mask mask{job.example.batch, head.kind, job.causal, head.window};
  for (std::size_t r = 0; r < scores.size(); ++r) {
    const QuerySet& set = job.scored[r].set;
    if (set.kind == head.kind) scores[r] = score_of(head, head.matches[r], set, split, mask);
  }
  return scores;
}

// ---- one head without ground truth --------------------------------------------------------------

/// Computes the value of each requested row of the table. The keys of the rows for the head's kind
/// of attention begin at index `pattern`.
std::vector<double> values_of(const HeadSums& head, const ScoringJob& job, bool all,
                              std::size_t pattern) {
  std::vector<double> values;
  for (const ScoreEntry& row : score_table()) {
    double& value = values.emplace_back(kUndefined);
    if (row.from.value != nullptr && (row.from.always || all)) value = row.from.value(head);
    if (row.from.weight == nullptr || !all) continue;
    value = ratio(head.matches[pattern].splits[1].mass, job.scored[pattern].set.splits[1].disjoint);
    ++pattern;
  }
  return values;
}

/// Returns the number of queries of each row of the table; 0 for rows that are no pattern.
std::vector<Index> pattern_queries(const ScoringJob& job, std::size_t pattern) {
  std::vector<Index> queries;
  for (const ScoreEntry& row : score_table()) {
    const bool is_pattern = row.from.weight != nullptr;
    queries.push_back(is_pattern ? job.scored[pattern].set.splits[1].disjoint : 0);
    if (is_pattern) ++pattern;
  }
  return queries;
}

// ---- all heads ----------------------------------------------------------------------------------

void fill_heads(HeadsReport& report, const ScoringJob& job, const PatternSums& gathered, bool all) {
  for (const HeadSums& sums : gathered.heads()) {
    HeadScores& head = report.heads.emplace_back(HeadScores{sums.id});
    const std::size_t pattern = all ? job.patterns.at(sums.kind) : 0;
    head.chosen_on = relation_scores(sums, job, 0);
    head.relations = relation_scores(sums, job, 1);
    head.values = values_of(sums, job, all, pattern);
    head.rows = sums.rows;
    if (!all) continue;
    head.pattern_queries = pattern_queries(job, pattern);
    head.like = like_of(head.values);
    head.offsets = offsets_of(sums);
    head.labels = labels_of(head, sums, job, pattern);
  }
  for (std::size_t a = 0; all && a < report.heads.size(); ++a) {
    for (std::size_t b = 0; b < report.heads.size(); ++b) {
      report.distances.push_back(gathered.distance(a, b));
    }
  }
}

/// Draws more permutations for relations that a head may own and that chance has not reached once,
/// and corrects for their number.
void decide_owners(HeadsReport& report, const ScoringJob& job, const HeadedModel& model,
                   const HeadsOptions& options) {
  const auto judged = smallest_p(report, job.relations.size());
  const Index wanted = std::llround(1 / kOwnerP) * std::ssize(judged);
  std::vector<ScoredQueries> scored;
  std::vector<std::size_t> relations;
  for (const auto& [p, r] : judged) {
    const auto may_own = [&, relation = r](const HeadScores& head) {
      const RelationScore& score = head.relations[relation];
      return score.lift >= kOwnerLift &&
             score.p_permuted < 1.5 / static_cast<double>(options.permutations);
    };
    if (wanted <= options.permutations || !std::ranges::any_of(report.heads, may_own)) continue;
    scored.push_back(job.scored_queries(r, wanted));
    relations.push_back(r);
  }
  if (!scored.empty()) {
    const PatternSums gathered(model, job.example.batch, options.batch, scored, {.shapes = false});
    for (std::size_t i = 0; i < scored.size(); ++i) fill_p(report, gathered, i, relations[i]);
  }
  correct_p(report, job.relations.size());
}

Baseline baseline(const QuerySet::Facts& facts, Index right, Index hits_where_wrong) {
  Baseline baseline{.wrong = facts.disjoint - right};
  baseline.top1 = ratio(right, facts.disjoint);
  baseline.head_top1_where_wrong = ratio(hits_where_wrong, baseline.wrong);
  return baseline;
}

/// Finds the relation's head among those of its kind: the largest mass on split A.
RelationWinner winner_of(const HeadsReport& report, const PatternSums& gathered, std::size_t r,
                         const Relation& relation) {
  RelationWinner winner{.relation = relation};
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    if (gathered.heads()[h].kind != relation.kind) continue;
    const bool better =
        report.heads[h].chosen_on[r].mass > report.heads[winner.best].chosen_on[r].mass;
    winner.best = winner.candidates == 0 || better ? h : winner.best;
    ++winner.candidates;
  }
  const RelationScore& best = report.heads[winner.best].relations[r];
  winner.p = best.p;
  winner.owned = best.owns();
  winner.mass_any = ratio(gathered.largest_masses(r), best.queries);
  const ScoredQueries& truth = gathered.scored()[r];
  winner.exchanges = truth.permuted->different();
  winner.fixed_keys = !relation.positional && truth.set.has_fixed_keys();
  winner.best_offset = truth.set.best_offset;
  const QuerySet::Facts& facts = truth.set.splits[1];
  const MatchCounts::Split& sums = gathered.heads()[winner.best].matches[r].splits[1];
  winner.offset = baseline(facts, facts.offset_right, sums.top1_offset_wrong);
  if (truth.set.has_candidates) {
    winner.nearest = baseline(facts, facts.nearest_right, sums.top1_nearest_wrong);
  }
  return winner;
}

/// Assigns heads to relations one to one, and fills the specialization.
void fill_assignment(HeadsReport& report, const PatternSums& gathered) {
  const auto possible = [&](std::size_t r, std::size_t h) {
    const bool is_of_kind = gathered.heads()[h].kind == report.relations[r].relation.kind;
    return is_of_kind && std::isfinite(report.heads[h].chosen_on[r].mass);
  };
  std::vector<double> values;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    for (std::size_t h = 0; h < report.heads.size(); ++h) {
      values.push_back(possible(r, h) ? report.heads[h].chosen_on[r].mass : -1);
    }
  }
  const std::vector<Index> head_of =
      best_assignment(std::ssize(report.relations), std::ssize(report.heads), values);
  Index owned = 0;
  Index judged = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    judged += report.is_judged(r) ? 1 : 0;
    const auto h = static_cast<std::size_t>(head_of[r]);
    if (head_of[r] < 0 || !possible(r, h)) continue;
    report.relations[r].assigned = h;
    report.relations[r].assigned_owns = report.heads[h].relations[r].owns();
    owned += report.relations[r].assigned_owns;
  }
  report.specialization = ratio(owned, judged);
}

/// Returns whether owners may need a second pass over the examples, with more permutations.
bool may_need_more_permutations(const ScoringJob& job, const HeadsOptions& options) {
  return std::llround(1 / kOwnerP) * std::ssize(job.relations) > options.permutations;
}

/// The passes over the examples as one loop, so that the reported progress never starts again. Each
/// part counts as many steps as it has batches.
class Passes {
 public:
  Passes(const ScoringJob& job, const HeadsOptions& options)
      : batches_((job.example.batch.size + options.batch - 1) / options.batch),
        steps_(batches_ * count(job, options)) {
    steps_.next(batches_);
  }
  void done() { steps_.done(); }

 private:
  static Index count(const ScoringJob& job, const HeadsOptions& options) {
    Index passes = 1;
    if (may_need_more_permutations(job, options)) ++passes;
    if (options.rises) ++passes;
    if (options.untrained != nullptr) ++passes;
    if (!options.patterns_only) ++passes;
    return passes;
  }

  Index batches_;
  Steps steps_;
};

using Guesses = std::vector<AgainstGuessing>;  // by relation; empty if losses are not known

/// Compares the losses at each relation's targets with guessing, and marks the scores of relations
/// on which the model is at guessing.
Guesses judge_losses(HeadsReport& report, const ScoringJob& job, const Task& task, Index batch) {
  Guesses guesses;
  if (report.heads.empty() || job.example.batch.target_count() == 0) return guesses;
  const std::vector<float> losses = target_losses_of(job.model, job.example.batch, batch);
  for (std::size_t r = 0; r < job.relations.size(); ++r) {
    const RelationTargets asked = targets_of(task, job.example, r);
    AgainstGuessing& one =
        guesses.emplace_back(against_guessing(loss_sums(losses, asked.examples), asked.examples));
    one.own = asked.own;
    for (HeadScores& head : report.heads) head.relations[r].at_guessing = one.is_at_guessing();
  }
  return guesses;
}

/// Fills the winner of each relation, and how heads divide it.
void fill_relations(HeadsReport& report, const ScoringJob& job, const ScoredHeads& scored,
                    const Guesses& guesses) {
  const std::size_t relations = report.heads.empty() ? 0 : job.relations.size();
  Steps steps(std::ssize(job.relations));
  for (std::size_t r = 0; r < relations; ++r) {
    RelationWinner& winner =
        report.relations.emplace_back(winner_of(report, scored.gathered, r, job.relations[r]));
    if (!guesses.empty()) winner.guessing = guesses[r];
    steps.done();
    if (report.best_score(r).at_guessing) continue;
    if (auto division = division_of(scored, r)) report.divisions.push_back(std::move(*division));
  }
}

/// Compares the winners with the best head at initial values.
void compare_with_untrained(HeadsReport& report, const ScoringJob& job,
                            const HeadsOptions& options) {
  const PatternSums gathered(*options.untrained, job.example.batch, options.batch,
                             std::span(job.scored).first(job.relations.size()),
                             {.permuted = false, .shapes = false});
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    RelationWinner& winner = report.relations[r];
    const QuerySet& set = job.scored[r].set;
    double best_on_a = -1;
    for (const HeadSums& head : gathered.heads()) {
      const auto& splits = head.matches[r].splits;
      if (head.kind != set.kind || splits[0].mass <= best_on_a || set.splits[1].disjoint == 0) {
        continue;
      }
      best_on_a = splits[0].mass;
      winner.mass_untrained = ratio(splits[1].mass, set.splits[1].disjoint);
    }
    if (winner.mass_untrained < 1) {
      winner.lift_untrained =
          (report.best_score(r).mass - winner.mass_untrained) / (1 - winner.mass_untrained);
    }
  }
}

}  // namespace

double diversity_of(const HeadsReport& report) {
  double sum = 0;  // over all ordered pairs, and each head with itself, which is 0
  Index pairs = -std::ssize(report.heads);
  for (const double distance : report.distances) {
    if (std::isfinite(distance)) {
      sum += distance;
      ++pairs;
    }
  }
  return ratio(sum, pairs);
}

HeadsReport score_heads(const HeadedModel& model, const Task& task, const HeadsOptions& options) {
  require(
      options.examples >= 2 && options.batch >= 1,
      "cannot score heads: it needs at least two examples, one to choose and one to judge, got ",
      options.examples, " in batches of ", options.batch);
  require(options.permutations >= kFewestPermutations, "cannot score heads: p < ", kOwnerP,
          " takes at least ", kFewestPermutations, " permutations, got ", options.permutations);
  const Index examples = at_most_different(task, options.examples);
  ScoringJob job{.example = task.make(streams::scored(), examples, Split::validation),
                 .relations = task.relations(),
                 .model = model};
  job.add_relations(options.permutations);
  if (options.without_truth) job.add_patterns(task);
  Passes passes(job, options);
  const PatternSums gathered(model, job.example.batch, options.batch, job.scored,
                             {.shapes = options.without_truth});
  passes.done();
  HeadsReport report{.attention = attention_layer_names(model),
                     .examples = examples,
                     .different = task.different(Split::validation),
                     .permutations = options.permutations};
  fill_heads(report, job, gathered, options.without_truth);
  const std::size_t relations = report.heads.empty() ? 0 : job.relations.size();
  for (std::size_t r = 0; r < relations; ++r) fill_p(report, gathered, r, r);
  decide_owners(report, job, model, options);
  if (may_need_more_permutations(job, options)) passes.done();
  Guesses guesses;
  if (!options.patterns_only) {
    guesses = judge_losses(report, job, task, options.batch);
    passes.done();
  }
  fill_relations(report, job, {report, gathered, job.example, task, model, options.rises}, guesses);
  if (options.rises) passes.done();
  fill_assignment(report, gathered);
  if (options.untrained != nullptr) compare_with_untrained(report, job, options);
  return report;
}

std::optional<HeadsReport::Nearest> HeadsReport::nearest_to(std::size_t h) const {
  if (distances.empty()) {
    return std::nullopt;
  }
  std::optional<Nearest> nearest;
  for (std::size_t other = 0; other < heads.size(); ++other) {
    const double distance = distances[h * heads.size() + other];
    if (other == h || !std::isfinite(distance)) {
      continue;
    }
    if (!nearest || distance < nearest->distance) {
      nearest = Nearest{other, distance};
    }
  }
  return nearest;
}

}  // namespace headlab
