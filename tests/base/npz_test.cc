// Archives of whole numbers: a small one by hand, and every way in which one can be damaged.
#include "lab/results/npz.h"

#include <array>
#include <cmath>

#include "headlab/core/base/files.h"
#include "lab/results/npy.h"
#include "support/archives.h"
#include "support/errors.h"
#include "support/folders.h"

namespace headlab { namespace {

std::string one_npz(const std::string& file, int method = 0) { return npz({{"a", file}}, method); }

TEST(Npz, HoldsWholeNumbersOfEveryWidth) {
  const std::string archive =
      one_npz(npy("<i2", "2, 3", std::string("\1\0\2\0\xFF\xFF\0\1\5\0\6\0", 12)));
  const auto arrays = read_npz(archive);
  const WholeNumbers& a = arrays.at("a");
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(a.count(), 6);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(a[2], -1);
  EXPECT_EQ(a[3], 256);
  std::string second = npy("<i2", "1,", "\7\1");  // its version 2 has four digits of a length
  second.replace(6, 1, "\2").insert(10, 2, '\0');
  EXPECT_EQ(read_npz(one_npz(second)).at("a")[0], 263);
  const std::string both = npz(
      {{"bytes", npy("|u1", "1,", "\xFF")}, {"longs", npy("<i8", "1,", std::string(8, '\xFF'))}});
  EXPECT_EQ(read_npz(both).at("bytes")[0], 255);
  EXPECT_EQ(read_npz(both).at("longs")[0], -1);
}

TEST(Npz, LettersAreNumbersWithAnAxisMoreAndSayThatTheyAreText) {
  const std::string file = npy("<U2", "1,", std::string("a\0\0\0b\0\0\0", 8));
  const WholeNumbers words = read_npy(file);  // a view of the file
  EXPECT_TRUE(words.is_text);
  EXPECT_EQ(words.shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(words[1], 'b');
  EXPECT_FALSE(read_npy(npy("<i4", "1,", "1234")).is_text);
}

/// An array of four bytes whose header is this.
std::string npy_of(const std::string& header) {
  std::string bytes = npy("<i4", "1,", "1234");
  const std::size_t begin = 10, end = bytes.size() - 4;
  bytes.replace(begin, end - begin, header);
  return bytes.replace(8, 2, little_endian(header.size(), 2));
}

TEST(Npz, HeadersAreReadStrictly) {
  const std::string good = "{'shape': (1,), \"fortran_order\":False,'descr':'<i4'}  \n";
  EXPECT_EQ(read_npy(npy_of(good)).count(), 1);
  EXPECT_EQ(read_npy(npy("<i4", "0,", "")).count(), 0) << "no elements are none";
  const std::pair<const char*, const char*> faults[] = {
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, }", "no size"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)", "'}' is missing"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1)}", "lacks its comma"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1 1)}", "lack a comma"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "no size"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x", "text after the dict"},
      {"{'descr': '<i4', 'fortran_order': False}", "is missing"},
      {"{'descr': '<i4', 'descr': '<u4', 'fortran_order': False, 'shape': (1,)}", "there twice"},
      {"{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
      {"{'descr': '<i4', 'fortran_order': True, 'shape': (1,)}", "column by column"},
      {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "named fields"},
      {"{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", "but booleans (|b1)"},
      {"{'descr': '<i3', 'fortran_order': False, 'shape': (1,)}", "no whole numbers"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': ()}", "a single number"}};
  for (const auto& [header, expected] : faults) {
    expect_error([text = header] { read_npy(npy_of(text)); }, {expected});
  }
  expect_error([] { read_npy(npy("|b1", "4,", "1234")); }, {"numpy.ascontiguousarray(array"});
}

TEST(Npy, ReadsFloatsOfEveryWidth) {
  const std::string half = std::string("\0\x3C", 2) + std::string("\0\xB8", 2);  // 1 and -0.5
  EXPECT_EQ(read_npy_floats(npy("<f2", "1, 2", half)).values, (std::vector<float>{1, -0.5F}));
  EXPECT_EQ(read_npy_floats(npy("<f4", "1,", std::string("\0\0\xC0\x3F", 4))).values[0], 1.5F);
  const std::string third = std::string("\x55\x55\x55\x55\x55\x55\xD5\x3F", 8);
  EXPECT_EQ(read_npy_floats(npy("<f8", "1,", third)).values[0], 1 / 3.0F);
  const auto array =
      read_npy_floats(npy_bytes(std::array<std::int64_t, 2>{2, 1}, std::array<float, 2>{3, 4}));
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(array.values, (std::vector<float>{3, 4}));
}

TEST(Npy, HalvesThatAreNoNumbersStayNone) {
  EXPECT_TRUE(std::isnan(read_npy_floats(npy("<f2", "1,", std::string("\0\x7E", 2))).values[0]));
  EXPECT_TRUE(std::isinf(read_npy_floats(npy("<f2", "1,", std::string("\0\x7C", 2))).values[0]));
}

TEST(Npy, OtherElementsThanFloatsAreRefused) {
  for (const char* kind : {"<i4", ">f4", "<f16", "|b1", "<c8", "|O", "<U1"}) {
    expect_error([&] { read_npy_floats(npy(kind, "1,", "12345678")); },
                 {kind, "numpy.ascontiguousarray(array, numpy.float32)"});
  }
  expect_error([] { read_npy_floats(npy("<f4", "2,", "1234")); }, {"less than its shape [2]"});
  expect_error([] { read_npy_floats(npy("<f4", "1,", "12345678")); }, {"more than its shape [1]"});
  expect_error([] { read_npy_floats("1234"); }, {"not a NumPy array"});
}

TEST(Npy, SurvivesEveryChangedByteAndEveryEnd) {
  const std::string whole = npy("<f4", "2, 1", "12345678");
  const auto tried = [](const std::string& bytes) {
    try {
      const FloatArray array = read_npy_floats(bytes);
      EXPECT_LE(array.values.size() * 2, bytes.size());
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    tried(whole.substr(0, i));
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      tried(changed);
    }
  }
}

TEST(Npy, ShapesWithNothingHoldNothing) {
  EXPECT_TRUE(read_npy_floats(npy("<f4", "1, 0, 2", "")).values.empty());
  expect_error([] { read_npy_floats(npy("<f4", "1, 0, 2", "1234")); }, {"more than its shape"});
}

TEST(Npz, UnknownVersionsAndTooLargeNumbersAreRefused) {
  for (const std::string& version :
       {std::string("\4\0", 2), std::string("\0\0", 2), std::string("\1\1", 2)}) {
    std::string array = npy("<i4", "1,", "1234");
    array.replace(6, 2, version);
    expect_error([&] { read_npy(array); }, {"version", "headlab reads 1.0, 2.0 and 3.0"});
  }
  const std::string large = npy("<u8", "1,", std::string(8, '\xFF'));
  expect_error([&] { read_npy(large)[0]; }, {"18446744073709551615", "too large"});
}

TEST(Npz, DamageIsNoticedWhereverItIs) {
  const std::string whole =
      npz({{"tokens", npy("<i4", "2,", "12345678")}, {"b", npy("|u1", "1,", "1")}});
  const std::size_t data = whole.find("12345678"), list = whole.find("PK\1\2");
  for (int bit = 0; bit < 8; ++bit) {
    std::string flipped = whole;
    flipped[data + 3] = static_cast<char>(flipped[data + 3] ^ 1 << bit);
    expect_error([&] { read_npz(flipped); }, {"tokens: its bytes do not fit their checksum"});
  }
  std::string other = whole;
  other[list + 46] = 'T';
  expect_error([&] { read_npz(other); }, {"another name than in the list"});
  other = whole;
  other[whole.size() - 12] = 1;  // how many files there are
  expect_error([&] { read_npz(other); }, {"its list of arrays is damaged"});
  expect_error([&] { read_npz(whole + "x"); }, {"something follows it"});
  const std::string one = npy("|u1", "1,", "1");
  expect_error([&] { read_npz(npz({{"a", one}, {"a", one}})); }, {"the array a twice"});
}

TEST(Npz, NamesAnUnreadableArray) {
  const std::pair<std::string, const char*> faults[] = {
      {"", "not an archive of arrays"},
      {"PK\5\6", "ends too early"},
      {one_npz("hello"), "a: it is not a NumPy array"},
      {one_npz(npy("<f4", "1,", "1234")), "a: it holds no whole numbers such as <i4"},
      {one_npz(npy("<i4", "2,", "1234")), "a: it holds less than its shape"},
      {one_npz(npy("<i4", "99999999999999999999,", "1234")), "a: its header is no header"},
      {one_npz(npy("|u1", "4294967296, 4294967296", "1")), "a: it holds"},
      {one_npz(npy("|u1", "1,", "12")), "a: it holds more than its shape"},
      {one_npz(npy(">i4", "1,", "1234")), "a: it holds no whole numbers"},
      {one_npz(npy("<i0", "1,", "1234")), "a: it holds"},
      {one_npz(npy("<i9", "1,", "123456789")), "a: it holds no whole numbers"},
      {one_npz(npy("|u1", "1,", "1"), 8), "a: it is compressed: write it with numpy.savez"}};
  for (const auto& [bytes, expected] : faults)
    expect_error([&file = bytes] { read_npz(file); }, {expected});
  const std::string whole = one_npz(npy("|u1", "1,", "1"));
  for (std::size_t size = 0; size < whole.size() - 2; ++size)
    EXPECT_THROW(read_npz(whole.substr(0, size)), Error) << size;
}

TEST(Npz, IsWrittenAsItIsRead) {
  const TemporaryFolder folder;
  const std::string one = npy("<i4", "1,", std::string("\7\0\0\0", 4));
  write_npz(folder / "a.npz", {{"x", one}, {"y/z", npy("<u2", "2,", "abcd")}});
  const std::string bytes = read_file(folder / "a.npz");
  const auto arrays = read_npz(bytes);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays.at("x")[0], 7);
  EXPECT_EQ(arrays.at("y/z")[1], 'd' * 256 + 'c');
  const std::string first("PK\3\4\x14\0\0\0\0\0\0\0\x21\0", 14), last("PK\5\6\0\0\0\0\2\0\2\0", 12);
  EXPECT_EQ(bytes.substr(0, 14), first) << "version, flags, method, time and day";
  EXPECT_EQ(bytes.substr(bytes.find("PK\1\2") + 30, 16), std::string(16, '\0')) << "directory";
  EXPECT_EQ(bytes.substr(bytes.size() - 22, 12), last) << "disks and counts of files";
}

TEST(Npz, CarriesTheChecksumOfEachFile) {
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", {{"x", "123456789"}});  // CRC-32: CBF43926, by which it is known
  EXPECT_NE(read_file(folder / "a.npz").find("\x26\x39\xF4\xCB"), std::string::npos);
}

}  // namespace
}  // namespace headlab
