// Numbers in a page: bytes, sizes, and how much rounding loses. Read next:
// src/app/report/page_blocks.h.
#include "app/report/page_blocks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/report/encoding.h"
#include "headlab/core/base/error.h"

namespace headlab { namespace {

TEST(PageBlocks, AreLittleEndian) {
  PageBlocks blocks;
  const std::vector<float> floats = {1, -2};
  const Json first = blocks.floats("weights", {2}, floats);
  EXPECT_EQ(blocks.all()[0].bytes, std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  EXPECT_EQ(first.at("id").string(), "b0");
  EXPECT_EQ(first.at("dtype").string(), "f32");
  EXPECT_EQ(first.at("hash").integer(), fnv1a(blocks.all()[0].bytes));
}

TEST(PageBlocks, CountInAsFewBitsAsSuffice) {
  const std::pair<std::int32_t, const char*> cases[] = {{0, "u1"},     {1, "u1"},   {2, "u2"},
                                                        {16, "u5"},    {255, "u8"}, {256, "u9"},
                                                        {65536, "u17"}};
  for (const auto& [most, dtype] : cases) {
    PageBlocks blocks;
    const std::vector<std::int32_t> values = {0, most};
    EXPECT_EQ(blocks.counts("examples", {2}, values).at("dtype").string(), dtype) << most;
  }
  PageBlocks blocks;
  EXPECT_EQ(blocks.counts("examples", {0}, {}).at("dtype").string(), "u1");
  blocks.counts("examples", {3}, std::vector<std::int32_t>{5, 1, 6});
  EXPECT_EQ(blocks.all().back().bytes, std::string("\x8d\x01", 2)) << "101, 001 and 110 from low";
  const std::vector<std::int32_t> negative = {-1};
  EXPECT_THROW(blocks.counts("examples", {1}, negative), Error);
}

TEST(PageBlocks, KeepSmallWeightsOfAttentionVisible) {
  PageBlocks blocks;
  const std::vector<float> weights = {0, 1e-4F, 0.5F, 1, 1.0000001F};
  blocks.shares("patterns", {5}, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(blocks.all()[0].bytes[i]);
    EXPECT_NEAR(std::pow(byte / 255.0, 2), weights[i], 0.004);
    EXPECT_EQ(byte > 0, weights[i] > 0);
  }
}

}  // namespace
}  // namespace headlab
