// The gradient of every op against central differences, in double: one test for each case of the
// table in src/ops/gradient_checks.cc.
#include <gtest/gtest.h>

#include "ops/gradient_checks.h"

namespace headlab { namespace {

class Gradient : public testing::TestWithParam<GradientCheck> {};

TEST_P(Gradient, AgreesWithCentralDifferences) {
  const GradientCheckRow row = run(GetParam());
  EXPECT_TRUE(row.passed) << row.description << ": " << row.text;
  // Central differences with step h err by h^2 and by epsilon / h: 1e-8 leaves room for sums.
  EXPECT_LT(row.worst_error, 2e-8) << row.description << ": " << row.text;
}

std::string name_of(const testing::TestParamInfo<GradientCheck>& info) {
  std::string name = std::string(info.param.op) + "_" + std::to_string(info.index);
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Gradient, testing::ValuesIn(gradient_check_table()), name_of);

}  // namespace
}  // namespace headlab
