// Whatever must be chosen (the head of a relation, the best offset, the average pattern, the
// assignment) is chosen on split A; what is reported comes from split B. Read next: scores.cc.
// Definitions: the comment of score_heads and the table of scores.
#include <algorithm>

#include "headlab/heads/assignment.h"
#include "heads/from_evidence.h"

namespace headlab {
namespace {

/// What the head's average pattern on split A reaches on the disjoint queries of a split.
double position_null(const HeadEvidence& head, const QuerySet& set, std::size_t split) {
  const Index length = std::ssize(head.pattern_rows);
  double sum = 0;
  for (const EligibleQuery& query : set.queries) {
    const double rows = head.pattern_rows[query.t];
    if (!query.disjoint || split_of(query.b) != split || rows == 0) continue;
    for (const std::int32_t key : query.keys) sum += head.pattern[query.t * length + key] / rows;
  }
  return ratio(sum, set.splits[split].disjoint);
}

/// The score of one head on one split; nulls that must be chosen are chosen on split A.
RelationScore score_of(const HeadEvidence& head, const Answer& answer, const QuerySet& set,
                       std::size_t split) {
  const QuerySet::Facts& facts = set.splits[split];
  const Answer::Sums& sums = answer.splits[split];
  RelationScore score{.queries = facts.disjoint,
                      .mass = ratio(sums.mass, facts.disjoint),
                      .mass_all = ratio(sums.mass_all, facts.all),
                      .top1 = ratio(sums.top1, facts.disjoint),
                      .null = facts.uniform};
  if (!set.positional) {
    const double offset = ratio(facts.offset_right, facts.disjoint);
    score.null = std::max({facts.uniform, offset, position_null(head, set, split)});
  }
  if (score.null < 1 && facts.disjoint > 0)
    score.lift = (score.mass - score.null) / (1 - score.null);
  return score;
}

Baseline baseline(const QuerySet::Facts& facts, Index right, Index hits_where_wrong) {
  Baseline baseline{.wrong = facts.disjoint - right};
  if (facts.disjoint > 0) baseline.top1 = ratio(right, facts.disjoint);
  if (baseline.wrong > 0) baseline.head_top1_where_wrong = ratio(hits_where_wrong, baseline.wrong);
  return baseline;
}

}  // namespace

std::vector<RelationScore> relation_scores(const HeadEvidence& head, const Evidence& evidence,
                                           std::size_t relations, std::size_t split) {
  std::vector<RelationScore> scores(relations);
  for (std::size_t r = 0; r < relations; ++r) {
    const QuerySet& set = evidence.questions()[r].set;
    if (set.kind == head.kind) scores[r] = score_of(head, head.answers[r], set, split);
  }
  return scores;
}

// The share of permutations, the true gold among them, whose largest mass over heads reaches that
// of each head. Sums that differ by rounding alone are equal.
void fill_p(HeadsReport& report, const Evidence& evidence, std::size_t r) {
  const Index permutations = evidence.questions()[r].permuted.permutations();
  std::vector<double> largest(permutations);
  for (const HeadEvidence& head : evidence.heads())
    std::ranges::transform(largest, head.answers[r].permuted, largest.begin(),
                           [](double a, double b) { return std::max(a, b); });
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const double mass = evidence.heads()[h].answers[r].splits[1].mass * (1 - 1e-12);
    const auto reached =
        std::ranges::count_if(largest, [mass](double chance) { return chance >= mass; });
    RelationScore& score = report.heads[h].relations[r];
    if (score.queries > 0) score.p = ratio(1 + reached, 1 + permutations);
  }
}

RelationWinner winner_of(const HeadsReport& report, const Evidence& evidence, std::size_t r,
                         const Relation& relation) {
  RelationWinner winner{.relation = relation};
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    if (evidence.heads()[h].kind != relation.kind) continue;
    const bool better =
        report.heads[h].chosen_on[r].mass > report.heads[winner.best].chosen_on[r].mass;
    winner.best = winner.candidates == 0 || better ? h : winner.best;
    ++winner.candidates;
  }
  const RelationScore& best = report.heads[winner.best].relations[r];
  winner.p = best.p;
  winner.owned = best.owns();
  winner.mass_any = ratio(evidence.largest_masses(r), best.queries);
  const Question& question = evidence.questions()[r];
  winner.exchanges = question.permuted.different();
  winner.best_offset = question.set.best_offset;
  const QuerySet::Facts& facts = question.set.splits[1];
  const Answer::Sums& sums = evidence.heads()[winner.best].answers[r].splits[1];
  winner.offset = baseline(facts, facts.offset_right, sums.top1_offset_wrong);
  if (question.set.has_candidates)
    winner.nearest = baseline(facts, facts.nearest_right, sums.top1_nearest_wrong);
  return winner;
}

void fill_untrained(RelationWinner& winner, double mass, const Evidence& evidence, std::size_t r) {
  const QuerySet& set = evidence.questions()[r].set;
  double best_on_a = -1;
  for (const HeadEvidence& head : evidence.heads()) {
    const auto& splits = head.answers[r].splits;
    if (head.kind == set.kind && splits[0].mass > best_on_a && set.splits[1].disjoint > 0) {
      best_on_a = splits[0].mass;
      winner.mass_untrained = ratio(splits[1].mass, set.splits[1].disjoint);
    }
  }
  if (winner.mass_untrained < 1)
    winner.lift_untrained = (mass - winner.mass_untrained) / (1 - winner.mass_untrained);
}

void fill_assignment(HeadsReport& report, const Evidence& evidence) {
  const auto possible = [&](std::size_t r, std::size_t h) {
    return evidence.heads()[h].kind == report.relations[r].relation.kind;
  };
  std::vector<double> values;
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    for (std::size_t h = 0; h < report.heads.size(); ++h)
      values.push_back(possible(r, h) ? report.heads[h].chosen_on[r].mass : -1);
  const std::vector<Index> head_of =
      best_assignment(std::ssize(report.relations), std::ssize(report.heads), values);
  Index owned = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const auto h = static_cast<std::size_t>(head_of[r]);
    if (head_of[r] < 0 || !possible(r, h)) continue;
    report.relations[r].assigned = h;
    report.relations[r].assigned_owns = report.heads[h].relations[r].owns();
    owned += report.relations[r].assigned_owns;
  }
  if (!report.relations.empty()) report.specialization = ratio(owned, std::ssize(report.relations));
}

}  // namespace headlab
