// 16-bit numbers: each reads back as itself, and others become the nearest one.
// Read next: src/lab/results/half.h.
#include "lab/results/half.h"

#include <gtest/gtest.h>

#include "core/base/stored_tensor.h"

namespace headlab { namespace {

TEST(Halves, ReadBackAsThemselves) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half >> 10 & 31U) == 31) continue;  // infinite, or no number
    EXPECT_EQ(half_of(float_of_half(half)), half) << bits;
  }
}

TEST(Halves, AreTheNearest) {
  EXPECT_EQ(half_of(1), 0x3c00);
  EXPECT_EQ(half_of(-2), 0xc000);
  EXPECT_EQ(half_of(65504), 0x7bff);
  EXPECT_EQ(half_of(65520), 0x7c00);
  EXPECT_EQ(half_of(1 + 0x1p-11F), 0x3c00) << "a tie goes to the even one";
  EXPECT_EQ(half_of(1 + 3 * 0x1p-11F), 0x3c02);
  EXPECT_EQ(half_of(0x1p-24F), 1);
  EXPECT_EQ(half_of(0x1p-26F), 0);
  EXPECT_EQ(half_of(0x1p-14F - 0x1p-26F), 0x0400) << "rounds up to the smallest normal one";
}

}  // namespace
}  // namespace headlab
