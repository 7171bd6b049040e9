// The gradient of every op against central differences, in double: one test for each case of the
// table in gradient_checks.cc, which prints its error.
#include <gtest/gtest.h>

#include <iostream>

#include "ops/gradient_checks.h"

namespace headlab { namespace {

class Gradient : public testing::TestWithParam<GradientCheck> {};

TEST_P(Gradient, AgreesWithCentralDifferences) {
  const GradientCheck& check = GetParam();
  const GradcheckResult found = run(check);
  std::cout << check.op << ", " << check.description << ": " << found.elements
            << " derivatives, error " << found.error << "\n";
  EXPECT_TRUE(found.passed) << found.sentence();
  // Central differences with step h err by h^2 and by epsilon / h: 1e-8 leaves room for sums.
  EXPECT_LT(found.error, 2e-8) << found.sentence();
}

std::string name_of(const testing::TestParamInfo<GradientCheck>& info) {
  std::string name = std::string(info.param.op) + "_" + std::to_string(info.index);
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Gradient, testing::ValuesIn(gradient_check_table()), name_of);

}  // namespace
}  // namespace headlab
