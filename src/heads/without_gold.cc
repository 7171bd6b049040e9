// Labels follow Voita et al. 2019 (criteria in the table of scores). "At one offset" is counted
// where a key lies at that offset: the head that looks 3 back is positional, although the first
// three positions have nothing 3 back. Read next: scores.cc.
#include <algorithm>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/heads/geometry.h"
#include "heads/from_evidence.h"

namespace headlab {
namespace {

constexpr double kPositionalShare = 0.9;
constexpr double kSyntacticGain = 0.1;
constexpr double kRareShare = 0.5;

Index rows_with_a_choice(const HeadEvidence& head) {
  return std::accumulate(head.offsets.begin(), head.offsets.end(), Index{0});
}

/// "positional -1" if nearly all argmaxes lie there, among the rows that see such a key; these must
/// be half of all, or the few rows that see a far key would decide.
void add_positional(const HeadEvidence& head, std::vector<std::string>& labels) {
  const Index length = std::ssize(head.pattern_rows), all = rows_with_a_choice(head);
  Index seen = 0;
  for (Index i = 0; i < std::ssize(head.offsets); ++i) {
    seen += head.seen_changes[i];
    if (seen > 0 && 2 * seen >= all && ratio(head.offsets[i], seen) >= kPositionalShare)
      labels.push_back(text("positional ", i > length ? "+" : "", i - length));
  }
}

/// Whether the argmax finds a question's gold 10 points more often than the best offset does.
bool beats_offset(double top1, const QuerySet& set) {
  const QuerySet::Facts& facts = set.splits[1];
  return facts.disjoint > 0 && top1 >= ratio(facts.offset_right, facts.disjoint) + kSyntacticGain;
}

}  // namespace

double pattern_mass(const HeadEvidence& head, const Evidence& evidence, std::size_t question) {
  const Index queries = evidence.questions()[question].set.splits[1].disjoint;
  return queries > 0 ? ratio(head.answers[question].splits[1].mass, queries) : kUndefined;
}

std::vector<HeadScores::Offset> offsets_of(const HeadEvidence& head) {
  const Index length = std::ssize(head.pattern_rows), all = rows_with_a_choice(head);
  std::vector<HeadScores::Offset> offsets;
  for (Index i = 0; i < std::ssize(head.offsets); ++i)
    if (head.offsets[i] > 0) offsets.push_back({i - length, ratio(head.offsets[i], all)});
  std::ranges::stable_sort(offsets, std::greater<>(), &HeadScores::Offset::share);
  return offsets;
}

std::vector<std::string> labels_of(const HeadScores& scores, const HeadEvidence& head,
                                   const Evidence& evidence, std::span<const Relation> relations,
                                   std::size_t patterns) {
  std::vector<std::string> labels;
  add_positional(head, labels);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const RelationScore& score = scores.relations[r];
    if (!relations[r].positional && score.queries > 0 &&
        beats_offset(score.top1, evidence.questions()[r].set))
      labels.push_back("syntactic " + relations[r].name);
  }
  for (const ScoreEntry& row : score_table()) {
    if (row.from.wants == nullptr) continue;
    const QuerySet& set = evidence.questions()[patterns].set;
    const double top1 = ratio(head.answers[patterns].splits[1].top1, set.splits[1].disjoint);
    if (row.from.label && top1 >= kRareShare && beats_offset(top1, set))
      labels.emplace_back(row.name);
    ++patterns;
  }
  return labels;
}

void fill_map(HeadsReport& report, const Evidence& evidence) {
  const std::size_t count = report.heads.size();
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) report.distances.push_back(evidence.distance(a, b));
  for (const AttentionKind kind :
       {AttentionKind::self, AttentionKind::encoder, AttentionKind::cross}) {
    std::vector<std::size_t> members;
    for (std::size_t h = 0; h < count; ++h)
      if (evidence.heads()[h].kind == kind) members.push_back(h);
    std::vector<double> distances;
    for (const std::size_t a : members)
      for (const std::size_t b : members) distances.push_back(report.distances[a * count + b]);
    const auto points = classical_scaling(std::ssize(members), distances);
    for (std::size_t i = 0; i < members.size(); ++i) report.heads[members[i]].map = points[i];
  }
}

}  // namespace headlab
