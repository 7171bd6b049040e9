// One value of a setting or another: groups that differ only in layers, d_head, norm or another
// setting are compared with the group of the lowest mean loss, on the seeds that all of them have,
// by the test that compares numbers of heads. If seeds fail, it counts seeds. The differences of
// all settings are corrected together. Read next: sweep_comparison.cc.
#include <algorithm>
#include <optional>

#include "headlab/core/base/text.h"
#include "headlab/lab/runs/guards.h"
#include "lab/studies/sweep_comparison.h"

namespace headlab {
namespace {

using Value = std::pair<std::string, std::string>;

/// Groups that differ only in one setting.
struct Differing {
  std::string setting;
  std::vector<Value> shared;  // the other settings
  std::vector<std::size_t> members{};
};

/// A comparison during the correction of its p with those of the others.
struct SettingJudgement {
  SettingComparison comparison;
  std::vector<std::size_t> members{};
  std::vector<Compared> losses{};  // of all members but the best, compared with it
};

std::string value_of(const SweepGroup& group, const std::string& setting) {
  const auto found = std::ranges::find(group.settings, setting, &Value::first);
  return text(setting, "=", found->second);
}

/// Returns "heads=4,d_model=32", or "all".
std::string shared_text(const std::vector<Value>& shared) {
  if (shared.empty()) return "all";
  return join(texts_of(shared, [](const Value& one) { return one.first + "=" + one.second; }), ",");
}

/// Returns whether groups that differ in a setting can be compared by their loss: numbers of heads
/// have their own comparison, and losses of different tasks do not measure the same.
bool is_compared(const std::string& setting) { return setting != "heads" && setting != "task"; }

/// Returns the groups that differ only in one setting, for each setting that is compared.
std::vector<Differing> differing_groups(const std::vector<SweepGroup>& groups) {
  std::vector<Differing> all;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Value& value : groups[i].settings) {
      if (!is_compared(value.first)) continue;
      std::vector<Value> shared = groups[i].settings;
      std::erase(shared, value);
      auto found = std::ranges::find_if(all, [&](const Differing& one) {
        return one.setting == value.first && one.shared == shared;
      });
      if (found == all.end()) found = all.insert(found, Differing{value.first, shared});
      found->members.push_back(i);
    }
  }
  std::erase_if(all, [](const Differing& one) { return one.members.size() < 2; });
  return all;
}

/// Returns the members with the lowest mean loss first.
std::vector<std::size_t> by_loss(const std::vector<SweepGroup>& groups,
                                 std::vector<std::size_t> members) {
  std::ranges::stable_sort(members, {}, [&](std::size_t i) { return groups[i].loss.mean; });
  return members;
}

/// Compares the groups of one family; nothing if they have no seed in common.
std::optional<SettingJudgement> compare_values(const std::vector<SweepGroup>& groups,
                                               const Differing& differing) {
  SettingJudgement judgement;
  judgement.members = by_loss(groups, differing.members);
  SettingComparison& result = judgement.comparison;
  result.setting = differing.setting;
  result.family = shared_text(differing.shared);
  result.best = judgement.members[0];
  result.next = judgement.members[1];
  std::vector<SeedValues> losses;
  for (const std::size_t i : judgement.members) {
    losses.push_back({groups[i].name, groups[i].seeds, groups[i].losses});
    result.equal_parameters =
        result.equal_parameters && groups[i].parameters == groups[result.best].parameters;
  }
  losses = on_shared_seeds(std::move(losses));
  if (losses[0].seeds.empty()) return std::nullopt;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    const bool fails =
        !groups[result.best].failed.empty() || !groups[judgement.members[i]].failed.empty();
    judgement.losses.push_back(
        compared_with_picked(losses, i, 0, fails ? Statistic::signs : Statistic::means));
  }
  return judgement;
}

/// Returns "; no difference from norm=rms is shown".
std::string open_text(const std::vector<std::string>& open) {
  return open.empty() ? "" : "; no difference from " + join(open, ", ") + " is shown";
}

/// Returns "3 seeds; the test needs 6".
std::string needed_text(const SweepFacts& facts) {
  const Index needed = seeds_needed(facts);
  const std::string seeds = seed_count_text(facts.loss.seeds());
  return needed > facts.loss.seeds() ? text(seeds, "; the test needs ", needed) : seeds;
}

/// Returns the conclusion about one setting.
std::string conclusion_of(const SettingComparison& c, const SettingJudgement& judgement,
                          const std::vector<SweepGroup>& groups, const SweepFacts& facts) {
  if (facts.is_at_guessing)
    return text("Train longer: no value of ", c.setting, " beats guessing.");
  std::vector<std::string> higher;
  std::vector<std::string> open;
  for (std::size_t i = 1; i < judgement.members.size(); ++i) {
    const std::size_t group = judgement.members[i];
    const bool is_higher = std::ranges::count(c.higher, group) > 0;
    std::vector<std::string>& list = is_higher ? higher : open;
    list.push_back(value_of(groups[group], c.setting));
  }
  const std::string best = value_of(groups[c.best], c.setting);
  if (higher.empty()) {
    return text(c.setting, ": the best value is not decided by ", needed_text(facts), ".");
  }
  return text(best, " has a lower loss than ", join(higher, ", "), open_text(open), ".");
}

std::string reason_of(const SettingComparison& c, const std::vector<SweepGroup>& groups,
                      const SweepFacts& facts) {
  const double ratio = exp_of(facts.loss.difference.difference).mean;
  std::string reason =
      text("With ", value_of(groups[c.next], c.setting), " the loss is ", significant(ratio),
           " times that with ", value_of(groups[c.best], c.setting), ends_text(facts),
           ", higher in ", facts.higher, " of ", seed_count_text(facts.loss.seeds()));
  reason += has_too_few_seeds(facts) ? least_p_text(facts) : "." + corrected_text(facts);
  if (c.equal_parameters) return reason;
  return reason + text(" The numbers of parameters differ: ", groups[c.best].parameters,
                       " in the best group and ", groups[c.next].parameters, " in the next.");
}

/// Draws the conclusion from corrected p.
void conclude_setting(SettingJudgement& judgement, const std::vector<SweepGroup>& groups,
                      std::size_t tests) {
  SettingComparison& result = judgement.comparison;
  result.loss = judgement.losses[0];
  SweepFacts facts{.loss = result.loss, .tests = tests};
  facts.is_at_guessing = groups[result.best].is_at_guessing();
  facts.higher = result.loss.seeds() - result.loss.difference.wins;
  for (std::size_t i = 0; i < judgement.losses.size() && !facts.is_at_guessing; ++i) {
    const Compared& one = judgement.losses[i];
    const bool is_higher_in_most = 2 * one.difference.wins < one.seeds();
    if (one.test.is_significant() && is_higher_in_most) {
      result.higher.push_back(judgement.members[i + 1]);
    }
  }
  result.conclusion = conclusion_of(result, judgement, groups, facts);
  result.reason = reason_of(result, groups, facts);
  if (facts.is_at_guessing) {
    result.guard = kGuessingGuard;
  } else if (result.higher.empty() && has_too_few_seeds(facts)) {
    result.guard = kSeedsGuard;
  }
}

}  // namespace

void compare_settings(SweepReport& report) {
  std::vector<SettingJudgement> all;
  for (const Differing& differing : differing_groups(report.groups)) {
    std::optional<SettingJudgement> judgement = compare_values(report.groups, differing);
    if (judgement) all.push_back(std::move(*judgement));
  }
  std::vector<Test*> tests;
  for (SettingJudgement& one : all) {
    for (Compared& loss : one.losses) tests.push_back(&loss.test);
  }
  correct(tests);
  for (SettingJudgement& one : all) {
    conclude_setting(one, report.groups, tests.size());
    report.settings.push_back(one.comparison);
  }
}

}  // namespace headlab
