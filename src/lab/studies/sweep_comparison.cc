// One head or several: groups that differ only in their number of heads are compared with the group
// of the lowest mean loss, on the seeds that all of them have. The differences of the loss of all
// families are corrected together; whether fewer heads are as accurate is another question, and its
// tests are corrected together too. If seeds fail, their size says nothing about typical seeds, so
// the test counts seeds. Read next: lab/results/arms.h, sweep_words.cc.
#include "lab/studies/sweep_comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

/// Groups of one family by number of heads, with the values of the seeds that all of them have.
struct Family {
  std::vector<std::size_t> members;
  std::vector<SeedValues> losses{}, accuracies{};

  Family(const std::vector<SweepGroup>& groups, std::vector<std::size_t> of)
      : members(std::move(of)) {
    for (const std::size_t i : members) {
      losses.push_back({groups[i].name, groups[i].seeds, groups[i].losses});
      accuracies.push_back({groups[i].name, groups[i].seeds, groups[i].accuracies});
    }
    losses = on_shared_seeds(std::move(losses));
    accuracies = on_shared_seeds(std::move(accuracies));
  }
  /// Returns p of the test that group a is as accurate as group b within kGain.
  double p_as_accurate(std::size_t a, std::size_t b) const {
    std::vector<double> differences;
    for (std::size_t s = 0; s < accuracies[a].values.size(); ++s) {
      differences.push_back(accuracies[a].values[s] - accuracies[b].values[s]);
    }
    return equal_p(differences, kGain);
  }
  /// Returns the shared seeds in which a group fails.
  std::vector<bool> failed(const std::vector<SweepGroup>& groups, std::size_t a) const {
    const std::vector<std::int64_t>& failing = groups[members[a]].failed;
    return mapped(losses[a].seeds,
                  [&](std::int64_t seed) { return std::ranges::count(failing, seed) > 0; });
  }
};

/// Comparison of a family during the correction of its p with those of the others.
struct Judgement {
  SweepComparison comparison;
  SweepFacts facts{};
  std::vector<std::size_t> fewer{};  // groups with fewer heads than the best, in ascending order
  std::vector<Compared> losses{};    // each of these compared with the best
  std::vector<bool> may_be_equal{};  // of each of these: no seed of the pair fails
};

Index count_of(const std::vector<bool>& flags) { return std::ranges::count(flags, true); }

/// Fills in the counts of failing seeds, and the ratio where neither group fails.
void count_failures(const Family& family, const std::vector<SweepGroup>& groups, std::size_t best,
                    SweepFacts& facts) {
  const std::vector<bool> one = family.failed(groups, 0), other = family.failed(groups, best);
  facts.one_failed = count_of(one);
  facts.best_failed = count_of(other);
  std::vector<double> logs;
  for (std::size_t s = 0; s < one.size(); ++s) {
    const double log = log_of(family.losses[0].values[s]) - log_of(family.losses[best].values[s]);
    facts.higher += log > 0 ? 1 : 0;
    if (!one[s] && !other[s]) logs.push_back(log);
  }
  if (!logs.empty()) facts.where_both_succeed = std::exp(mean(logs));
}

/// Compares the groups of one family; nothing unless two of them have different numbers of heads.
std::optional<Judgement> compare(const std::vector<SweepGroup>& groups,
                                 std::vector<std::size_t> members) {
  const auto heads = [&](std::size_t i) { return groups[i].config.model.heads_of(0); };
  const auto loss = [&](std::size_t i) { return groups[i].loss.mean; };
  std::erase_if(members, [&](std::size_t i) { return heads(i) < 1; });
  std::ranges::sort(members, {}, heads);
  if (members.size() < 2 || heads(members.front()) == heads(members.back())) return std::nullopt;
  const Family family(groups, members);
  const auto best =
      static_cast<std::size_t>(std::ranges::min_element(members, {}, loss) - members.begin());
  Judgement judgement{.comparison = {.family = groups[members[0]].family}};
  SweepComparison& result = judgement.comparison;
  result.one = members[0];
  result.best = members[best];
  const std::vector<bool> best_failed = family.failed(groups, best);
  for (std::size_t i = 0; i < best; ++i) {
    const bool fails = count_of(family.failed(groups, i)) + count_of(best_failed) > 0;
    Compared& one = judgement.losses.emplace_back(
        compared_with_picked(family.losses, i, best, fails ? Statistic::signs : Statistic::means));
    one.equal.p = family.p_as_accurate(i, best);
    judgement.fewer.push_back(members[i]);
    judgement.may_be_equal.push_back(!fails);
  }
  const SweepGroup& single = groups[result.one];
  if (best == 0)
    result.loss = compared(log_ratios(family.losses[0].values, family.losses[0].values));
  result.accuracy_gain = groups[result.best].accuracy.mean - single.accuracy.mean;
  result.equal_parameters = std::ranges::all_of(members, [&](std::size_t i) {
    return groups[i].parameters == single.parameters;
  });
  result.relations_at_once = single.relations_at_once;
  result.keys_read = single.keys_read;
  judgement.facts.one = heads(result.one);
  judgement.facts.best = heads(result.best);
  judgement.facts.most = heads(members.back());
  judgement.facts.is_at_guessing = groups[result.best].is_at_guessing();
  count_failures(family, groups, best, judgement.facts);
  return judgement;
}

/// Corrects the differences of the loss of all groups of all families, and apart from them the
/// tests of equal accuracy. Returns the number of differences.
std::size_t correct_all(std::vector<Judgement>& all) {
  std::vector<Test*> differences, equalities;
  for (Judgement& one : all) {
    for (Compared& loss : one.losses) {
      differences.push_back(&loss.test);
      equalities.push_back(&loss.equal);
    }
  }
  correct(differences);
  correct(equalities);
  return differences.size();
}

/// Draws the conclusions from corrected p.
void conclude(Judgement& judgement, const std::vector<SweepGroup>& groups, std::size_t tests) {
  SweepComparison& result = judgement.comparison;
  SweepFacts& facts = judgement.facts;
  const auto is_equal = [&](std::size_t i) {
    return judgement.losses[i].equal.is_significant() && judgement.may_be_equal[i];
  };
  if (!judgement.fewer.empty()) {
    result.loss = judgement.losses[0];
    const bool is_lower =
        result.loss.test.is_significant() && facts.higher * 2 > result.loss.seeds();
    result.several_win = !facts.is_at_guessing && result.accuracy_gain >= kGain && is_lower;
    result.one_is_equal = !facts.is_at_guessing && is_equal(0);
  }
  for (std::size_t i = 0; i < judgement.fewer.size() && !facts.is_at_guessing; ++i) {
    facts.refused_equal = facts.refused_equal || (judgement.losses[i].equal.is_significant() &&
                                                  !judgement.may_be_equal[i]);
    if (!result.enough && is_equal(i)) result.enough = judgement.fewer[i];
  }
  const auto is_worse = [](const Compared& one) { return one.test.is_significant(); };
  if (!facts.is_at_guessing && !result.enough && !judgement.losses.empty() &&
      std::ranges::all_of(judgement.losses, is_worse)) {
    result.enough = result.best;
  }
  facts.several_win = result.several_win;
  facts.one_is_equal = result.one_is_equal;
  facts.equal_parameters = result.equal_parameters;
  facts.loss = result.loss;
  facts.tests = std::max<std::size_t>(1, tests);
  facts.relations_at_once = result.relations_at_once;
  facts.keys_read = result.keys_read;
  if (result.enough) facts.enough = groups[*result.enough].config.model.heads_of(0);
  say(result, facts);
}

}  // namespace

void compare_groups(SweepReport& report) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> families;  // and their groups
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const std::string& name = report.groups[i].family;
    auto family = std::ranges::find(families, name, [](const auto& f) { return f.first; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    if (report.groups[i].config.model.heads.size() == 1) family->second.push_back(i);
  }
  std::vector<Judgement> all;
  for (const auto& [name, members] : families) {
    if (auto judgement = compare(report.groups, members)) all.push_back(std::move(*judgement));
  }
  const std::size_t tests = correct_all(all);
  for (Judgement& one : all) {
    conclude(one, report.groups, tests);
    report.comparisons.push_back(one.comparison);
  }
}

}  // namespace headlab
