// Checksums: FNV-1a against the vectors that its authors published; in our own every bit counts,
// and so does the place where a part ends. Read next: src/core/base/digest.h.
#include "core/base/digest.h"

#include <gtest/gtest.h>

#include <set>

namespace headlab { namespace {

TEST(Fingerprint, IsFnv1aAsPublished) {
  EXPECT_EQ(fingerprint(""), "CBF29CE484222325");
  EXPECT_EQ(fingerprint("a"), "AF63DC4C8601EC8C");
  EXPECT_EQ(fingerprint("foobar"), "85944171F73967E8");
}

std::string sum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.text();
}

TEST(Checksum, ChangesWithEveryBitAndWithTheLength) {
  for (const std::size_t size : {1u, 7u, 8u, 31u, 32u, 33u, 100u}) {
    const std::string bytes(size, 'x');
    std::set<std::string> sums = {sum_of(bytes), sum_of(bytes + '\0')};
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      sums.insert(sum_of(flipped));
    }
    EXPECT_EQ(sums.size(), 2 + 8 * size) << size;
  }
}

TEST(Checksum, DependsOnWherePartsEnd) {
  Checksum parts;
  parts.add("ab");
  parts.add("c");
  EXPECT_NE(parts.text(), sum_of("abc"));
}

}  // namespace
}  // namespace headlab
