// The maximum over heads first (Westfall and Young 1993), then Holm 1979 over relations: of those
// that are left when the relations with smaller p are done, each p times their number. Read next:
// scores.cc.
#include "heads/permuted_p.h"

#include <algorithm>

namespace headlab {

void fill_p(HeadsReport& report, const PatternSums& gathered, std::size_t asked, std::size_t r) {
  const Index permutations = gathered.asked()[asked].permuted.permutations();
  std::vector<double> largest(permutations);
  for (const HeadSums& head : gathered.heads())
    std::ranges::transform(largest, head.hits[asked].permuted, largest.begin(),
                           [](double a, double b) { return std::max(a, b); });
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const double mass = gathered.heads()[h].hits[asked].splits[1].mass * (1 - 1e-12);
    const auto reached =
        std::ranges::count_if(largest, [mass](double chance) { return chance >= mass; });
    RelationScore& score = report.heads[h].relations[r];
    if (score.enough()) score.p = ratio(1 + reached, 1 + permutations);
  }
}

std::vector<std::pair<double, std::size_t>> smallest_p(const HeadsReport& report,
                                                       std::size_t count) {
  std::vector<std::pair<double, std::size_t>> smallest;
  for (std::size_t r = 0; r < count; ++r) {
    double least = 2;
    for (const HeadScores& head : report.heads) least = std::min(least, head.relations[r].p);
    if (least <= 1) smallest.emplace_back(least, r);
  }
  std::ranges::sort(smallest);
  return smallest;
}

void correct_p(HeadsReport& report, std::size_t count) {
  double least = 0;
  const auto ordered = smallest_p(report, count);
  for (std::size_t k = 0; k < ordered.size(); ++k) {
    const auto left = static_cast<double>(ordered.size() - k);
    for (HeadScores& head : report.heads) {
      RelationScore& score = head.relations[ordered[k].second];
      if (score.enough()) score.p_holm = std::min(1.0, std::max(least, left * score.p));
    }
    least = std::max(least, left * ordered[k].first);
  }
}

}  // namespace headlab
