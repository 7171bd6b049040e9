// Safetensors: round trips, the files that Python wrote, every way in which a header can lie, and
// thousands of damaged files. A hand-written header is short enough to be seen whole. Read next:
// safetensors.cc.
#include "headlab/core/base/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "headlab/core/base/random.h"
#include "support/errors.h"
#include "support/folders.h"

namespace headlab { namespace safetensors_tests {

namespace fs = std::filesystem;

std::string with_length(std::uint64_t length, std::string_view rest) {
  const auto prefix = std::bit_cast<std::array<char, 8>>(length);
  return std::string(prefix.data(), 8) + std::string(rest);
}

std::string file_of(std::string_view header, std::size_t data_bytes) {
  return with_length(header.size(), std::string(header) + std::string(data_bytes, '\1'));
}

void expect_refused(std::string_view bytes, const std::string& part) {
  const std::string error = error_of([&] { parse_safetensors(bytes, "x.safetensors"); });
  EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_TRUE(error.starts_with("cannot read the tensors of 'x.safetensors': ")) << error;
}

void expect_read(std::string_view bytes) { EXPECT_NO_THROW(parse_safetensors(bytes, "x")); }

/// A header entry of one F32 tensor.
std::string entry(std::string_view name, std::string_view shape, std::string_view offsets) {
  return text('"', name, R"(":{"dtype":"F32","shape":)", shape, R"(,"data_offsets":)", offsets,
              '}');
}

/// A file whose only tensor says `shape` and has 8 bytes.
std::string with_shape(std::string_view shape) {
  return file_of(text('{', entry("a", shape, "[0,8]"), '}'), 8);
}

template <class Number>
StoredTensor stored(const char* name, std::vector<std::int64_t> shape,
                    const std::vector<Number>& values) {
  return StoredTensor::of(name, std::move(shape), std::span<const Number>(values));
}

TensorFile small_file() {
  TensorFile file;
  file.metadata = {{"format", "pt"}, {"step", "7"}};
  file.tensors.push_back(stored("w", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, -0.0f}));
  file.tensors.push_back(stored("empty", {0, 4}, std::vector<float>{}));
  file.tensors.push_back(stored("scalar", {}, std::vector<double>{0.1}));
  file.tensors.push_back(stored("ids", {3}, std::vector<std::int64_t>{-1, INT64_MAX, 0}));
  return file;
}

void expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].dtype, b.tensors[i].dtype);
    EXPECT_EQ(a.tensors[i].shape, b.tensors[i].shape);
    EXPECT_EQ(a.tensors[i].bytes, b.tensors[i].bytes);
  }
}

using Safetensors = InAFolder;

TEST_F(Safetensors, AreReadAsTheyWereWritten) {
  write_safetensors(folder / "a.safetensors", small_file());
  expect_same(read_safetensors(folder / "a.safetensors"), small_file());
  expect_same(parse_safetensors(read_file(folder / "a.safetensors"), "a"), small_file());
}

TEST_F(Safetensors, MayBeEmpty) {
  write_safetensors(folder / "a.safetensors", TensorFile{});
  expect_same(read_safetensors(folder / "a.safetensors"), TensorFile{});
}

TEST_F(Safetensors, AlignTheirDataToEightBytes) {
  write_safetensors(folder / "a.safetensors", small_file());
  const std::string bytes = read_file(folder / "a.safetensors");
  std::uint64_t length = 0;
  std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes[8], '{');
}

TEST_F(Safetensors, WriteLargeSizesWithoutExponent) {
  TensorFile file;
  file.tensors.push_back(stored("a", {250000}, std::vector<float>(250000)));
  write_safetensors(folder / "a.safetensors", file);
  const std::string bytes = read_file(folder / "a.safetensors");
  EXPECT_NE(bytes.find("\"shape\":[250000],\"data_offsets\":[0,1000000]"), std::string::npos);
}

TEST_F(Safetensors, RefuseToBeWrittenWrong) {
  const auto refuses = [&](auto change) {
    TensorFile file = small_file();
    change(file.tensors[0]);
    EXPECT_THROW(write_safetensors(folder / "a.safetensors", file), Error);
    EXPECT_FALSE(fs::exists(folder / "a.safetensors"));
  };
  refuses([](StoredTensor& tensor) { tensor.name = "empty"; });  // as the second
  refuses([](StoredTensor& tensor) { tensor.bytes.pop_back(); });
  refuses([](StoredTensor& tensor) { tensor.dtype = "F16"; });
  refuses([](StoredTensor& tensor) { tensor.name = "__metadata__"; });
  refuses([](StoredTensor& tensor) { tensor.shape = {-2, -3}; });
}

TEST_F(Safetensors, HoldHalvesOfBothKinds) {
  const std::string bytes("\x80\x3f\x00\xc0", 4);
  EXPECT_EQ((StoredTensor{"b", "BF16", {2}, bytes}.numbers<float>()), (std::vector<float>{1, -2}));
  EXPECT_EQ((StoredTensor{"h", "F16", {2}, bytes}.numbers<float>()),
            (std::vector<float>{1.875, -2}));
}

TEST_F(Safetensors, AreReadInPieces) {
  std::vector<float> values(600'000, 1);
  values.back() = 2;
  write_safetensors(folder / "a.safetensors", {{}, {stored("x", {2, 300'000}, values)}});
  EXPECT_EQ(TensorReader(folder / "a.safetensors").floats("x"), values);
}

TEST_F(Safetensors, NameTheFileThatIsMissing) {
  expect_error([&] { read_safetensors(folder / "none.safetensors"); },
               {"none.safetensors': No such file"});
}

TEST_F(Safetensors, AreRefusedWhereverTheyAreCut) {
  write_safetensors(folder / "a.safetensors", small_file());
  const std::string bytes = read_file(folder / "a.safetensors");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file(folder / "b.safetensors", std::string_view(bytes).substr(0, size));
    EXPECT_THROW(read_safetensors(folder / "b.safetensors"), Error) << size;
    EXPECT_THROW(parse_safetensors(std::string_view(bytes).substr(0, size), "b"), Error) << size;
  }
}

TEST(SafetensorsGolden, FilesFromPythonAreRead) {
  for (const char* name :
       {"attention_causal", "attention_cross", "decoder_pre_gelu", "encoder_post_relu"}) {
    const fs::path path =
        fs::path(HEADLAB_SOURCE_DIR) / "tests/golden" / text(name, ".safetensors");
    const TensorFile file = read_safetensors(path);
    EXPECT_FALSE(file.tensors.empty()) << name;
    for (const StoredTensor& tensor : file.tensors) {
      if (tensor.dtype != "F32") continue;
      for (const float value : tensor.numbers<float>())
        ASSERT_FALSE(std::isnan(value)) << tensor.name;
    }
  }
}

TEST(SafetensorsHeader, LengthIsCheckedBeforeItIsBelieved) {
  expect_refused("", "it has 0 bytes, too few for the length of a header: it is truncated");
  expect_refused("1234567", "it has 7 bytes");
  expect_refused(with_length(100, "{}"), "the header has 100 bytes, but only 2 follow");
  expect_refused(with_length(100'000'001, "{}"), "the header would have 100000001 bytes");
  expect_refused(with_length(~std::uint64_t{0}, "{}"), "this is no safetensors file");
}

TEST(SafetensorsHeader, MustBeAJsonObject) {
  expect_refused(file_of("", 0), "the header is not a JSON object");
  expect_refused(file_of("[]", 0), "the header is not a JSON object");
  expect_refused(file_of(" {}", 0), "the header is not a JSON object");
  expect_refused(file_of("{\"a\"}", 0), "header: line 1, column 5");
  expect_refused(file_of("{}x", 0), "expected the end");
  expect_read(file_of("{}   ", 0));
}

TEST(SafetensorsHeader, MustNotNameATensorTwice) {
  expect_refused(file_of("{" + entry("a", "[1]", "[0,4]") + "," + entry("a", "[1]", "[4,8]") + "}",
                         8),
                 "the key 'a' is there twice");
}

TEST(SafetensorsHeader, MayListTensorsInAnyOrder) {
  const TensorFile file = parse_safetensors(
      file_of("{" + entry("b", "[1]", "[4,8]") + "," + entry("a", "[1]", "[0,4]") + "}", 8), "x");
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[1].name, "b");
}

TEST(SafetensorsHeader, HoldsOnlyStringsAsMetadata) {
  const auto metadata = [](std::string_view value) {
    return file_of(text(R"({"__metadata__":)", value, "}"), 0);
  };
  EXPECT_EQ(parse_safetensors(metadata(R"({"a":"b"})"), "x").metadata.at("a"), "b");
  EXPECT_TRUE(parse_safetensors(metadata("null"), "x").metadata.empty());
  expect_refused(metadata(R"({"a":1})"), "expected a string, got a number");
  expect_refused(metadata("[]"), "expected an object, got an array");
}

TEST(SafetensorsEntry, NeedsItsThreeKeysAndNoOther) {
  expect_refused(file_of(R"({"a":1})", 0), "tensor 'a': expected an object");
  expect_refused(file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4), "'dtype' is missing");
  expect_refused(file_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "'shape' is missing");
  expect_refused(file_of(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "'data_offsets' is missing");
  expect_refused(file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
                 "unknown key 'x'");
}

TEST(SafetensorsEntry, HasADtypeThatIsKnown) {
  expect_refused(file_of(R"({"a":{"dtype":"F8","shape":[2],"data_offsets":[0,2]}})", 2),
                 "unknown dtype 'F8'");
  expect_refused(file_of(R"({"a":{"dtype":4,"shape":[2],"data_offsets":[0,4]}})", 4),
                 "expected a string");
}

TEST(SafetensorsEntry, HasAShapeOfWholeSizesThatFitsItsBytes) {
  expect_read(with_shape("[2]"));
  expect_read(with_shape("[1,2,1]"));
  // 2^31 x 2^31 x 2 elements of 4 bytes are 2^65, and 2^64 + 8 bytes would be 8 if it wrapped
  // around.
  for (const auto& [shape, said] : std::vector<std::pair<const char*, const char*>>{
           {"[3]", "its dtype F32 and shape need 12 bytes, but it has 8"},
           {"[]", "need 4 bytes, but it has 8"},
           {"[0]", "need 0 bytes, but it has 8"},
           {"[-2]", "negative size -2"},
           {"[-1,-2]", "negative size -1"},
           {"[0,-2]", "negative size -2"},
           {"[1.5]", "expected a whole number"},
           {"[1e300]", "expected a whole number"},
           {"[\"2\"]", "expected a whole number, got a string"},
           {"2", "expected an array"},
           {"[2147483648,2147483648,2]", "more elements than a file can hold"},
           {"[4294967296,4294967296]", "more elements than a file can hold"},
           {"[9007199254740991,2048]", "more elements than a file can hold"}})
    expect_refused(with_shape(shape), said);
}

TEST(SafetensorsOffsets, MustFillTheDataExactly) {
  const auto two = [](std::string_view first, std::string_view second, std::size_t bytes) {
    return file_of("{" + entry("a", "[1]", first) + "," + entry("b", "[1]", second) + "}", bytes);
  };
  expect_read(two("[0,4]", "[4,8]", 8));
  expect_refused(two("[0,4]", "[0,4]", 4), "tensor 'b' overlaps the one before it");
  expect_refused(two("[0,4]", "[2,6]", 6), "tensor 'b' overlaps the one before it");
  expect_refused(two("[0,4]", "[5,9]", 9), "there is a hole before tensor 'b'");
  expect_refused(two("[4,8]", "[8,12]", 12), "there is a hole before tensor 'a'");
  expect_refused(two("[0,4]", "[4,8]", 7), "the file ends inside tensor 'b': it is truncated");
  expect_refused(two("[0,4]", "[4,8]", 9), "1 bytes follow the last tensor");
  expect_refused(file_of("{}", 3), "3 bytes follow the last tensor");
}

TEST(SafetensorsOffsets, AreTwoWholeNumbersInOrder) {
  const auto offsets = [](std::string_view value) {
    return file_of("{" + entry("a", "[1]", value) + "}", 4);
  };
  expect_refused(offsets("[4,0]"), "out of order");
  expect_refused(offsets("[-4,0]"), "out of order");
  expect_refused(offsets("[0]"), "1 numbers instead of 2");
  expect_refused(offsets("[0,4,8]"), "3 numbers instead of 2");
  expect_refused(offsets("[0.5,4.5]"), "expected a whole number");
  expect_refused(offsets("[0,1e30]"), "expected a whole number");
  expect_refused(offsets("{}"), "expected an array");
}

TEST(StoredTensor, ConvertsWhereItIsExactOrARounding) {
  const std::vector<double> values = {0.1, -2, 1e300};
  const StoredTensor wide = stored("x", {3}, values);
  EXPECT_EQ(wide.numbers<double>(), values);
  EXPECT_EQ(wide.numbers<float>(), (std::vector<float>{0.1f, -2, INFINITY}));
  const StoredTensor narrow = stored("x", {1}, std::vector<float>{0.1f});
  EXPECT_EQ(narrow.numbers<float>(), std::vector<float>{0.1f});
  EXPECT_EQ(narrow.numbers<double>(), std::vector<double>{0.1f});
}

TEST(StoredTensor, KeepsTheBitsOfNan) {
  const std::vector<float> values = {std::bit_cast<float>(0x7FC12345u)};
  const StoredTensor tensor = stored("x", {1}, values);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(tensor.numbers<float>()[0]), 0x7FC12345u);
}

TEST(StoredTensor, GivesIntegersOfEverySize) {
  EXPECT_EQ((StoredTensor{"x", "I32", {1}, "\xFE\xFF\xFF\xFF"}.numbers<std::int64_t>()),
            (std::vector<std::int64_t>{-2}));
  EXPECT_EQ((StoredTensor{"x", "U8", {2}, "\x01\xFF"}.numbers<std::int64_t>()),
            (std::vector<std::int64_t>{1, 255}));
  EXPECT_EQ((StoredTensor{"x", "BOOL", {1}, "\x01"}.numbers<std::int64_t>()),
            (std::vector<std::int64_t>{1}));
}

TEST(StoredTensor, DoesNotMixIntegersAndReals) {
  const StoredTensor whole = stored("x", {1}, std::vector<std::int64_t>{1});
  EXPECT_THROW(whole.numbers<float>(), Error);
  EXPECT_THROW(whole.numbers<double>(), Error);
  EXPECT_THROW(stored("x", {1}, std::vector<float>{1}).numbers<std::int64_t>(), Error);
}

TEST(StoredTensor, RefusesValuesThatDoNotFitTheShape) {
  EXPECT_THROW(stored("x", {2}, std::vector<float>{1}), Error);
  EXPECT_THROW(stored("x", {-1}, std::vector<float>{1}), Error);
  EXPECT_THROW((StoredTensor{"x", "F32", {2}, "1234"}.numbers<float>()), Error);
  EXPECT_THROW((StoredTensor{"x", "I64", {1}, "1234"}.numbers<std::int64_t>()), Error);
}

TEST(StoredTensor, CountsItsElements) {
  EXPECT_EQ((StoredTensor{"x", "F32", {}, ""}.count()), 1);
  EXPECT_EQ((StoredTensor{"x", "F32", {2, 3, 4}, ""}.count()), 24);
  EXPECT_EQ((StoredTensor{"x", "F32", {INT64_MAX, 0, INT64_MAX}, ""}.count()), 0);
  EXPECT_THROW((StoredTensor{"x", "F32", {INT64_MAX, 2}, ""}.count()), Error);
}

TEST(TensorFile, NamesAMissingTensorAndTheNearest) {
  const TensorFile file = small_file();
  EXPECT_EQ(file.at("ids").name, "ids");
  EXPECT_EQ(file.find("none"), nullptr);
  EXPECT_EQ(error_of([&] { (void)file.at("scaler"); }),
            "cannot find the tensor 'scaler' | there is 'scalar'");
}

/// Properties of every file that is accepted.
void expect_consistent(const TensorFile& file) {
  std::set<std::string> names;
  for (const StoredTensor& tensor : file.tensors) {
    ASSERT_TRUE(names.insert(tensor.name).second);
    const bool real = tensor.dtype[0] == 'F';
    const std::size_t read =
        real ? tensor.numbers<double>().size() : tensor.numbers<std::int64_t>().size();
    ASSERT_EQ(read, static_cast<std::size_t>(tensor.count()));
  }
}

TEST_F(Safetensors, DamagedAreRefusedOrConsistent) {
  write_safetensors(folder / "a.safetensors", small_file());
  const std::string valid = read_file(folder / "a.safetensors");
  const std::string digits = "0123456789-.e,[]{}\":";
  Generator random(Key{3}.fold("safetensors"));
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)));
  };
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = valid;
    for (std::int64_t times = random.between(1, 3); times > 0; --times) {
      const std::size_t at = below(bytes.size());
      const std::int64_t kind = random.below(4);
      if (kind == 0) bytes[at] = static_cast<char>(random.below(256));
      if (kind == 1) bytes[at] = digits[below(digits.size())];
      if (kind == 2) bytes.erase(at, below(4));
      if (kind == 3) std::swap(bytes[at], bytes[below(bytes.size())]);
      if (bytes.empty()) break;
    }
    try {
      expect_consistent(parse_safetensors(bytes, "x"));
      ++accepted;
    } catch (const Error& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with("cannot read the tensors of 'x': "));
    }
  }
  EXPECT_GT(accepted, 500);  // the data may hold anything, so some damage is no harm
}

}  // namespace safetensors_tests
}  // namespace headlab
