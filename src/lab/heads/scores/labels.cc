// Words for a head, from its sums. A label needs enough queries: "positional" 90% of the largest
// weights at one offset, "syntactic" 10 points more right queries than the best offset, "rare" half
// of the queries (Voita et al. 2019, with the thresholds of this file). See labels.h.
#include "lab/heads/scores/labels.h"

#include <algorithm>
#include <numeric>

#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr double kPositionalShare = 0.9;
constexpr double kSyntacticGain = 0.1;
constexpr double kRareShare = 0.5;

Index rows_with_a_choice(const HeadSums& head) {
  return std::accumulate(head.offsets.begin(), head.offsets.end(), Index{0});
}

/// Returns a label with the number of queries on which it is based: "rare (212)".
std::string label_text(const std::string& label, Index queries) {
  return text(label, " (", queries, ")");
}

/// Adds "positional -1" if nearly all argmaxes have this offset, among the rows that see such a
/// key: a head that attends 3 back is positional, although the first three positions have nothing 3
/// back. These rows must be half of all, or the few that see a far key would decide.
void add_positional(const HeadSums& head, std::vector<std::string>& labels) {
  const Index length = std::ssize(head.pattern_rows), all = rows_with_a_choice(head);
  Index seen = 0;
  for (Index i = 0; i < std::ssize(head.offsets); ++i) {
    seen += head.seen_changes[i];
    if (seen > 0 && 2 * seen >= all && ratio(head.offsets[i], seen) >= kPositionalShare) {
      labels.push_back(label_text(text("positional ", i > length ? "+" : "", i - length), seen));
    }
  }
}

/// Returns whether the argmax finds the ground truth of a set 10 points more often than the best
/// offset.
bool beats_offset(double top1, const QuerySet& set) {
  const QuerySet::Facts& facts = set.splits[1];
  return facts.examples >= kFewestExamples &&
         top1 >= ratio(facts.offset_right, facts.disjoint) + kSyntacticGain;
}

}  // namespace

std::string like_of(const std::vector<double>& values) {
  double most = 0.5;
  std::string like;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (score_table()[i].from.weight != nullptr && values[i] > most) {
      most = values[i];
      like = score_table()[i].name;
    }
  }
  return like;
}

std::vector<HeadScores::Offset> offsets_of(const HeadSums& head) {
  const Index length = std::ssize(head.pattern_rows);
  std::vector<HeadScores::Offset> offsets;
  Index seen = 0;
  for (Index i = 0; i < std::ssize(head.offsets); ++i) {
    seen += head.seen_changes[i];
    if (head.offsets[i] > 0) {
      offsets.push_back({i - length, ratio(head.offsets[i], seen), head.offsets[i]});
    }
  }
  std::ranges::stable_sort(offsets, std::greater<>(), &HeadScores::Offset::count);
  return offsets;
}

std::vector<std::string> labels_of(const HeadScores& scores, const HeadSums& head,
                                   const ScoringJob& job, std::size_t pattern) {
  std::vector<std::string> labels;
  if (job.example.batch.size / 2 >= kFewestExamples) add_positional(head, labels);
  for (std::size_t r = 0; r < job.relations.size(); ++r) {
    const RelationScore& score = scores.relations[r];
    if (!job.relations[r].positional && score.enough() &&
        beats_offset(score.top1, job.scored[r].set)) {
      labels.push_back(label_text("syntactic " + job.relations[r].name, score.queries));
    }
  }
  for (const ScoreEntry& row : score_table()) {
    if (row.from.weight == nullptr) continue;
    const QuerySet& set = job.scored[pattern].set;
    const double top1 = ratio(head.matches[pattern].splits[1].top1, set.splits[1].disjoint);
    if (row.from.label && top1 >= kRareShare && beats_offset(top1, set)) {
      labels.push_back(label_text(row.name, set.splits[1].disjoint));
    }
    ++pattern;
  }
  return labels;
}

}  // namespace headlab
