// The rate of wrong conclusions of a comparison: arms with made-up losses of which the truth is
// known. Losses are skewed, and differ more between seeds than between arms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/lab/studies/compare.h"
#include "lab/made_arms.h"

namespace headlab { namespace {

TEST(Compare, FalseDifferenceRateIsWithinTheLevel) {
  Generator random(Key{}.fold("compare"));
  int told = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<std::vector<double>> losses(3);
    for (int seed = 0; seed < 9; ++seed) {
      const double hard = std::exp(2 * random.normal());
      for (auto& one : losses) one.push_back(hard * std::exp(std::exp(random.normal())));
    }
    const Result found = compare_arms(
        std::vector<Arm>{arm("a", losses[0]), arm("b", losses[1]), arm("c", losses[2])});
    const Json::Array conclusions = found.table("comparisons").cells("verdict");
    told += std::ranges::count(conclusions, Json("inconclusive")) < std::ssize(conclusions);
  }
  EXPECT_LE(told, 50) << "of 1,000 experiments in which the arms are the same";
  EXPECT_GE(told, 10) << "the test is not idle";
}

/// Arms whose losses differ by exactly the margin are not equal within it.
TEST(Compare, FalseEqualityRateIsWithinTheLevel) {
  for (const auto& [factor, most, least] : {std::tuple{1.25, 50, 5}, {1.0, 1000, 700}}) {
    Generator random(Key{}.fold("equal"));
    int equal = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      std::vector<double> a, b;
      for (int seed = 0; seed < 10; ++seed) {
        a.push_back(std::exp(2 * random.normal()));
        b.push_back(a.back() * factor * std::exp(0.2 * random.normal()));
      }
      const Result found = compare_arms(std::vector<Arm>{arm("a", a), arm("b", b)});
      equal += cell(found, "verdict").string().starts_with("equal");
    }
    std::cout << "  a factor of " << factor << ": equal in " << equal << " of 1000\n";
    EXPECT_LE(equal, most + 14) << factor;
    EXPECT_GE(equal, least) << factor;
  }
}

/// Six arms that all differ by exactly the margin: a false "equal" of any of them is one too many.
TEST(Compare, FalseEqualityRateOverSixArmsIsWithinTheLevel) {
  Generator random(Key{}.fold("six equal"));
  int any = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> losses(7);
    for (int seed = 0; seed < 10; ++seed) {
      const double hard = std::exp(2 * random.normal());
      for (std::size_t a = 0; a < losses.size(); ++a)
        losses[a].push_back(hard * (a == 0 ? 1 : 1.25) * std::exp(0.2 * random.normal()));
    }
    std::vector<Arm> arms;
    for (std::size_t a = 0; a < losses.size(); ++a) arms.push_back(arm(text("a", a), losses[a]));
    const Result found = compare_arms(arms);
    const Json::Array conclusions = found.table("comparisons").cells("verdict");
    any += std::ranges::any_of(conclusions, [](const Json& conclusion) {
      return conclusion.string().starts_with("equal");
    });
  }
  EXPECT_LE(any, 0.05 * kTrials + 9) << "5%, and two standard errors";
}

/// Three arms as good as the reference, where "lower" or "higher" is false, and three that differ
/// by exactly the margin, where "equal" is false: any of these words is one too many.
TEST(Compare, FalseClaimRateOfEitherKindIsWithinTheLevel) {
  Generator random(Key{}.fold("either word"));
  int wrong = 0;
  int right = 0;
  constexpr int kTrials = 1000;
  const auto is_equal = [](const Json& conclusion) {
    return conclusion.string().starts_with("equal");
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> losses(7);
    for (int seed = 0; seed < 10; ++seed) {
      const double hard = std::exp(2 * random.normal());
      for (std::size_t a = 0; a < losses.size(); ++a) {
        const double factor = a < 4 ? 1 : 1.25;
        const double noise = a < 4 ? 0.05 : 0.15;
        losses[a].push_back(hard * factor * std::exp(noise * random.normal()));
      }
    }
    std::vector<Arm> arms;
    for (std::size_t a = 0; a < losses.size(); ++a) arms.push_back(arm(text("a", a), losses[a]));
    const Json::Array conclusions = compare_arms(arms).table("comparisons").cells("verdict");
    bool any = false;
    for (std::size_t a = 0; a < conclusions.size(); ++a) {
      const bool is_decided = conclusions[a] != Json("inconclusive");
      const bool is_true = is_equal(conclusions[a]) == (a < 3);
      any = any || (is_decided && !is_true);
      right += is_decided && is_true;
    }
    wrong += any;
  }
  std::cout << "  a false claim in " << wrong << " of " << kTrials << " tables, " << right << " of "
            << 6 * kTrials << " claims are true\n";
  EXPECT_LE(wrong, 0.05 * kTrials + 14) << "5%, and two standard errors";
  EXPECT_GE(right, 3 * kTrials) << "the test is not idle";
}

}  // namespace
}  // namespace headlab
