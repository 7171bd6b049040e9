// Arrays for NumPy: the bytes of its format, by hand.
#include "lab/results/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "headlab/core/base/error.h"

namespace headlab { namespace {

TEST(Npy, WholeNumbersAreInt32) {
  const std::array<std::int64_t, 1> shape = {2};
  const std::string bytes = npy_bytes(shape, std::array<std::int32_t, 2>{-1, 258});
  EXPECT_NE(bytes.find("'descr': '<i4'"), std::string::npos);
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("\xff\xff\xff\xff\x02\x01\0\0", 8));
}

TEST(Npy, FilesAreReadByNumPy) {
  const std::array<std::int64_t, 2> shape = {2, 3};
  const std::array<float, 6> values = {0, 1, 2, 3, 4, 5.5};
  const std::string bytes = npy_bytes(shape, values);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  const std::size_t header = static_cast<unsigned char>(bytes[8]) +
                             256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  EXPECT_NE(bytes.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, )"), bytes.npos);
  ASSERT_EQ(bytes.size(), 10 + header + 24);
  EXPECT_EQ(std::memcmp(bytes.data() + 10 + header, values.data(), 24), 0);
}

TEST(Npy, NeedsAsManyElementsAsItsShape) {
  const std::array<std::int64_t, 1> shape = {2};
  const std::array<float, 1> values = {0};
  EXPECT_THROW(npy_bytes(shape, values), Error);
}

}  // namespace
}  // namespace headlab
