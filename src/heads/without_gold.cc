// Labels follow Voita et al. 2019 (criteria in the table of scores). "At one offset" is counted
// where a key lies at that offset: the head that looks 3 back is positional, although the first
// three positions have nothing 3 back. Read next: scores.cc.
#include "heads/without_gold.h"

#include <algorithm>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/heads/geometry.h"

namespace headlab {
namespace {

constexpr double kPositionalShare = 0.9;
constexpr double kSyntacticGain = 0.1;
constexpr double kRareShare = 0.5;

double share(Index part, Index whole) { return ratio(static_cast<double>(part), whole); }

void fill_offsets(HeadScores& head, const HeadEvidence& sums) {
  const Index length = std::ssize(sums.pattern_rows);
  Index all = 0;
  for (const Index count : sums.offsets) all += count;
  for (Index i = 0; i < std::ssize(sums.offsets); ++i) {
    const Index count = sums.offsets[i];
    if (count > 0) head.offsets.push_back({i - length, share(count, all)});
  }
  std::stable_sort(head.offsets.begin(), head.offsets.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
}

/// "positional -1" if nearly all argmaxes lie there, among the rows that see such a key; these must
/// be half of all, or the few rows that see a far key would decide.
void add_positional(HeadScores& head, const HeadEvidence& sums) {
  const Index length = std::ssize(sums.pattern_rows);
  Index all = 0, seen = 0;
  for (const Index count : sums.offsets) all += count;
  for (Index i = 0; i < std::ssize(sums.offsets); ++i) {
    seen += sums.seen_changes[i];
    const Index count = sums.offsets[i];
    if (seen > 0 && 2 * seen >= all && share(count, seen) >= kPositionalShare)
      head.labels.push_back(text("positional ", i > length ? "+" : "", i - length));
  }
}

/// Whether the argmax finds a question's gold 10 points more often than the best offset does.
bool beats_offset(double top1, const QuerySet& set) {
  const QuerySet::Split& facts = set.splits[1];
  return facts.disjoint > 0 && top1 >= share(facts.offset_right, facts.disjoint) + kSyntacticGain;
}

}  // namespace

void fill_entropy(HeadScores& head, const HeadEvidence& evidence) {
  head.entropy = ratio(evidence.entropy, evidence.rows);
  head.focus = evidence.log_visible > 0 ? 1 - evidence.entropy / evidence.log_visible : 0;
  head.confidence = ratio(evidence.largest, evidence.rows);
  head.distance = ratio(evidence.distance, evidence.rows);
}

void fill_patterns(HeadScores& head, const Evidence& evidence, std::size_t h,
                   std::size_t patterns) {
  const HeadEvidence& sums = evidence.of(h);
  for (std::size_t i = 0; i < pattern_scores().size(); ++i) {
    const Index queries = evidence.questions()[patterns + i].set.splits[1].disjoint;
    const double mass = sums.answers[patterns + i].splits[1].mass;
    head.patterns.push_back(queries > 0 ? ratio(mass, queries) : kUndefined);
  }
  fill_offsets(head, sums);
  Index width = 0;
  while (width * width < std::ssize(sums.gram)) ++width;
  head.rank = effective_rank(width, sums.gram);
}

void fill_labels(HeadScores& head, const Evidence& evidence, std::size_t h, std::size_t patterns,
                 const std::vector<Relation>& relations) {
  const HeadEvidence& sums = evidence.of(h);
  add_positional(head, sums);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const RelationScore& score = head.relations[r];
    if (!relations[r].positional && score.queries > 0 &&
        beats_offset(score.top1, evidence.questions()[r].set))
      head.labels.push_back("syntactic " + relations[r].name);
  }
  for (std::size_t i = 0; i < pattern_scores().size(); ++i) {
    const QuerySet& set = evidence.questions()[patterns + i].set;
    const double top1 = share(sums.answers[patterns + i].splits[1].top1, set.splits[1].disjoint);
    if (pattern_scores()[i].name == std::string_view("rare") && top1 >= kRareShare &&
        beats_offset(top1, set))
      head.labels.push_back("rare");
  }
}

void fill_map(HeadsReport& report, const Evidence& evidence) {
  const std::size_t count = report.heads.size();
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) report.distances.push_back(evidence.distance(a, b));
  for (const AttentionKind kind :
       {AttentionKind::self, AttentionKind::encoder, AttentionKind::cross}) {
    std::vector<std::size_t> members;
    for (std::size_t h = 0; h < count; ++h)
      if (evidence.place(h).kind == kind) members.push_back(h);
    std::vector<double> distances;
    for (const std::size_t a : members)
      for (const std::size_t b : members) distances.push_back(evidence.distance(a, b));
    const auto points = classical_scaling(std::ssize(members), distances);
    for (std::size_t i = 0; i < members.size(); ++i) report.heads[members[i]].map = points[i];
  }
}

}  // namespace headlab
