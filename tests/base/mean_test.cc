// A mean of nothing has no value, and adds nothing to other means.
#include "headlab/core/base/mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlab/core/base/json.h"

namespace headlab { namespace {

TEST(Mean, HasNoValueWithoutTerms) {
  const Mean none;
  EXPECT_EQ(none.value(), std::nullopt);
  EXPECT_TRUE(std::isnan(none.or_nan()));
  EXPECT_TRUE(Json(none.value()).is_null());
  EXPECT_TRUE(Json(none.or_nan()).is_null());
}

TEST(Mean, AveragesTheTermsOfAllThatWereAdded) {
  Mean all;
  all.add(1);
  all.add(2);
  all.add(Mean(9, 2));
  all.add(Mean());
  EXPECT_EQ(all.count(), 4);
  EXPECT_EQ(all.sum(), 12);
  EXPECT_EQ(all.value(), 3.0);
}

}}  // namespace headlab
