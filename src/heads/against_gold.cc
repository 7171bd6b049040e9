// Whatever must be chosen (the head of a relation, the best offset, the average pattern, the
// assignment) is chosen on split A; what is reported comes from split B. Read next: scores.cc.
// Definitions: the comment of score_heads and the table of scores.
#include "heads/against_gold.h"

#include <algorithm>

#include "headlab/heads/assignment.h"

namespace headlab {
namespace {

/// What the head's average pattern on split A reaches on the disjoint queries of a split.
double position_null(const HeadEvidence& head, const QuerySet& set, std::size_t split,
                     Index length) {
  double sum = 0;
  for (const EligibleQuery& query : set.queries) {
    const double rows = head.pattern_rows[query.t];
    if (!query.disjoint || split_of(query.b) != split || rows == 0) continue;
    for (const std::int32_t key : query.keys) sum += head.pattern[query.t * length + key] / rows;
  }
  return ratio(sum, set.splits[split].disjoint);
}

/// The score of one head on one split; nulls that must be chosen are chosen on split A.
RelationScore score(const HeadEvidence& head, const Answer& answer, const QuerySet& set,
                    std::size_t split, Index length) {
  const QuerySet::Split& facts = set.splits[split];
  const Answer::Split& sums = answer.splits[split];
  RelationScore score;
  score.queries = facts.disjoint;
  score.mass = ratio(sums.mass, facts.disjoint);
  score.mass_all = ratio(sums.mass_all, facts.all);
  score.top1 = ratio(static_cast<double>(sums.top1), facts.disjoint);
  score.null = facts.uniform;
  if (!set.positional) {
    const double offset = ratio(static_cast<double>(facts.offset_right), facts.disjoint);
    score.null = std::max({facts.uniform, offset, position_null(head, set, split, length)});
  }
  if (score.null < 1 && facts.disjoint > 0)
    score.lift = (score.mass - score.null) / (1 - score.null);
  return score;
}

bool owns(const RelationScore& score) { return score.p < kOwnerP && score.lift >= kOwnerLift; }

Baseline baseline(const QuerySet::Split& facts, Index right, Index hits_where_wrong) {
  Baseline baseline;
  baseline.wrong = facts.disjoint - right;
  if (facts.disjoint > 0) baseline.top1 = ratio(static_cast<double>(right), facts.disjoint);
  if (baseline.wrong > 0)
    baseline.head_top1_where_wrong = ratio(static_cast<double>(hits_where_wrong), baseline.wrong);
  return baseline;
}

void fill_baselines(RelationWinner& winner, const QuerySet& set, const Answer& answer) {
  const QuerySet::Split& facts = set.splits[1];
  const Answer::Split& sums = answer.splits[1];
  winner.best_offset = set.best_offset;
  winner.offset = baseline(facts, facts.offset_right, sums.top1_offset_wrong);
  if (set.has_candidates)
    winner.nearest = baseline(facts, facts.nearest_right, sums.top1_nearest_wrong);
}

}  // namespace

void fill_relations(HeadScores& head, const Evidence& evidence, std::size_t h,
                    std::size_t relations) {
  const HeadEvidence& sums = evidence.of(h);
  for (std::size_t r = 0; r < relations; ++r) {
    const QuerySet& set = evidence.questions()[r].set;
    const bool of_its_kind = set.kind == evidence.place(h).kind;
    const auto on = [&](std::size_t split) {
      return of_its_kind ? score(sums, sums.answers[r], set, split, evidence.length())
                         : RelationScore{};
    };
    head.chosen_on.push_back(on(0));
    head.relations.push_back(on(1));
  }
}

// The share of permutations, the true gold among them, whose largest mass over heads reaches that
// of each head. Sums that differ by rounding alone are equal.
void fill_p(HeadsReport& report, const Evidence& evidence, std::size_t r) {
  const Index permutations = evidence.questions()[r].permuted.permutations();
  std::vector<double> largest(permutations);
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const std::vector<double>& permuted = evidence.of(h).answers[r].permuted;
    for (std::size_t p = 0; p < largest.size(); ++p) largest[p] = std::max(largest[p], permuted[p]);
  }
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const double mass = evidence.of(h).answers[r].splits[1].mass * (1 - 1e-12);
    const auto reached = std::count_if(largest.begin(), largest.end(),
                                       [mass](double chance) { return chance >= mass; });
    RelationScore& score = report.heads[h].relations[r];
    if (score.queries > 0)
      score.p = static_cast<double>(1 + reached) / static_cast<double>(1 + permutations);
  }
}

RelationWinner winner_of(const HeadsReport& report, const Evidence& evidence, std::size_t r,
                         const Relation& relation) {
  RelationWinner winner{.relation = relation};
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    if (evidence.place(h).kind != relation.kind) continue;
    const bool better =
        report.heads[h].chosen_on[r].mass > report.heads[winner.best].chosen_on[r].mass;
    winner.best = winner.candidates == 0 || better ? h : winner.best;
    ++winner.candidates;
  }
  const RelationScore& best = report.heads[winner.best].relations[r];
  winner.p = best.p;
  winner.owned = owns(best);
  winner.mass_any = ratio(evidence.largest_masses(r), best.queries);
  winner.exchanges = evidence.questions()[r].permuted.different();
  fill_baselines(winner, evidence.questions()[r].set, evidence.of(winner.best).answers[r]);
  return winner;
}

void fill_untrained(RelationWinner& winner, double mass, const Evidence& evidence, std::size_t r) {
  const QuerySet& set = evidence.questions()[r].set;
  double best_on_a = -1;
  for (std::size_t h = 0; h < evidence.heads(); ++h) {
    const Answer& answer = evidence.of(h).answers[r];
    if (evidence.place(h).kind == set.kind && answer.splits[0].mass > best_on_a &&
        set.splits[1].disjoint > 0) {
      best_on_a = answer.splits[0].mass;
      winner.mass_untrained = ratio(answer.splits[1].mass, set.splits[1].disjoint);
    }
  }
  winner.lift_untrained = winner.mass_untrained < 1
                              ? (mass - winner.mass_untrained) / (1 - winner.mass_untrained)
                              : kUndefined;
}

void fill_assignment(HeadsReport& report, const Evidence& evidence) {
  std::vector<double> values;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    for (std::size_t h = 0; h < report.heads.size(); ++h) {
      const bool possible = evidence.place(h).kind == report.relations[r].relation.kind;
      values.push_back(possible ? report.heads[h].chosen_on[r].mass : -1);
    }
  }
  const std::vector<Index> head_of =
      best_assignment(std::ssize(report.relations), std::ssize(report.heads), values);
  Index owned = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    RelationWinner& winner = report.relations[r];
    const auto h = static_cast<std::size_t>(head_of[r]);
    if (head_of[r] >= 0 && evidence.place(h).kind == winner.relation.kind) {
      winner.assigned = h;
      winner.assigned_owns = owns(report.heads[h].relations[r]);
      owned += winner.assigned_owns;
    }
  }
  if (!report.relations.empty())
    report.specialization = ratio(static_cast<double>(owned), std::ssize(report.relations));
}

}  // namespace headlab
