// Comparing arms by the steps at which roles emerge: role by role, where some never emerge or are
// there when heads are scored for the first time.
// Read next: compare_test.cc; src/lab/studies/side_by_side.cc.
#include <gtest/gtest.h>

#include "lab/made_arms.h"

namespace headlab { namespace {

/// An arm of one role, with seeds in which it never emerges, or is there at the first scored step.
Arm role_arm(const std::string& name, const std::string& role, const std::vector<double>& steps,
             const std::vector<std::int64_t>& never = {},
             const std::vector<std::int64_t>& at_first = {}) {
  Arm made = arm(name, steps);
  made.role = role;
  made.never = never;
  made.at_first = at_first;
  return made;
}

// A run that never learns its late role is not one in which roles emerge earlier.
TEST(Emergence, IsComparedRoleByRole) {
  const std::vector<double> early(8, 50), late(8, 300), last(8, 1500);
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Arm> arms = {role_arm("a", "back1", early), role_arm("a", "same", late),
                                 role_arm("b", "back1", early), role_arm("b", "same", last, all)};
  const Result found = compare_arms(arms, {.measure = "emergence_step"});
  EXPECT_EQ(found.table("comparisons").cells("role"), (Json::Array{"back1", "same"}));
  EXPECT_EQ(cell(found, "verdict", 0), Json("equal within 1.25 for the median seed"));
  EXPECT_EQ(cell(found, "verdict", 1), Json("later in 8 of 8 seeds")) << "never is later";
  EXPECT_EQ(found.table("arms").cells("never"), (Json::Array{0, 0, 0, 8}));
  EXPECT_EQ(found.about.at("notes").items().size(), 1u);
}

TEST(Emergence, HasAnOrderOnlyWhereItIsKnown) {
  const std::vector<double> first(8, 50), other(8, 50), later(8, 60), last(8, 1500),
      beyond(8, 2000);
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto conclusion = [&](const Arm& a, const Arm& b) {
    return cell(compare_arms(std::vector<Arm>{a, b}, {.measure = "emergence_step"}), "verdict")
        .string();
  };
  const Arm by_first = role_arm("a", "r", first, {}, all);
  EXPECT_EQ(conclusion(by_first, role_arm("b", "r", later)), "later in 8 of 8 seeds");
  EXPECT_EQ(conclusion(by_first, role_arm("b", "r", std::vector<double>(8, 40))), "inconclusive")
      << "it may have come before 40";
  EXPECT_EQ(conclusion(by_first, role_arm("b", "r", other, {}, all)), "inconclusive")
      << "both came by step 50, which does not make them equal";
  const Arm never = role_arm("a", "r", last, all);
  EXPECT_EQ(conclusion(never, role_arm("b", "r", beyond)), "inconclusive")
      << "it was not scored up to step 2000";
}

}  // namespace
}  // namespace headlab
