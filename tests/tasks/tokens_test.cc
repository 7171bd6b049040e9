// Tokens of any file, in each of its forms, and a segment that comes twice.
#include <algorithm>

#include "headlab/core/base/files.h"
#include "headlab/core/tasks/table.h"
#include "support/errors.h"
#include "support/folders.h"

namespace headlab { namespace {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

template <class Number>
std::vector<Number> counting(std::size_t count) {
  std::vector<Number> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<Number>(i * 7 % 31);
  return tokens;
}

class TokenFiles : public InAFolder {
 protected:
  std::unique_ptr<Task> task(const std::string& bytes, const std::string& more = "") {
    write_file(folder / "tokens", bytes);
    return make_task(text("tokens:file=", (folder / "tokens").string(), ",length=8", more));
  }
  static std::string npy(const std::string& type, const std::string& data,
                         const std::string& shape = "300,") {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
           data;
  }
  template <class Number>
  static std::string llm_c(std::int32_t magic, std::int32_t version, std::int32_t count) {
    std::vector<std::int32_t> header(256);
    header[0] = magic;
    header[1] = version;
    header[2] = count;
    return bytes_of(header) + bytes_of(counting<Number>(300));
  }
  static std::string llm_c(std::int32_t count) { return llm_c<std::uint16_t>(20240520, 1, count); }
  static std::string big_endian(std::string bytes, std::size_t width) {
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    }
    return bytes;
  }
};

TEST_F(TokenFiles, AllFormatsGiveTheSameTokens) {
  const std::string raw = bytes_of(counting<std::uint16_t>(300));
  const Batch batch = task(raw)->make_batch({3}, 4, Split::validation);
  EXPECT_EQ(batch.targets[2], (batch.tokens[2] + 7) % 31);
  for (const std::string& other :
       {llm_c(300), llm_c<std::uint32_t>(20240801, 7, 300), npy("<u2", raw),
        npy("<i4", bytes_of(counting<std::int32_t>(300))),
        npy("<i8", bytes_of(counting<std::int64_t>(300)))}) {
    const std::unique_ptr<Task> same = task(other);
    EXPECT_EQ(same->shape().vocab, 31);
    EXPECT_EQ(same->make_batch({3}, 4, Split::validation).tokens, batch.tokens);
  }
}

TEST_F(TokenFiles, ArraysOfSeveralAxesAreRefused) {
  const std::string raw = bytes_of(counting<std::uint16_t>(300));
  for (const std::string shape : {"3, 100", "300, 1", "1, 300", "3, 10, 10"}) {
    expect_error([&] { task(npy("<u2", raw, shape)); }, {"[" + shape + "]", "tokens are one row"});
  }
}

TEST_F(TokenFiles, AreShownInTheWordsOfAVocabulary) {
  write_file(folder / "vocab.json", R"({"a": 0, "Ġthe": 7, "end": 40})");
  const auto shown =
      task(bytes_of(counting<std::uint16_t>(300)), ",words=" + (folder / "vocab.json").string());
  EXPECT_EQ(shown->shape().vocab, 41);
  EXPECT_EQ(shown->token_text(7), "Ġthe");
  EXPECT_EQ(shown->token_text(8), "8");
}

TEST_F(TokenFiles, Llama3KeepsLargeTokens) {
  std::string bytes = llm_c<std::uint32_t>(20240801, 7, 300);
  bytes.replace(1024, 4, bytes_of(std::vector<std::uint32_t>{128000}));
  EXPECT_EQ(task(bytes)->shape().vocab, 128001);
  EXPECT_EQ(task(bytes, ",type=uint32")->shape().vocab, 128001);
  expect_error([&] { task(bytes, ",type=uint16"); }, {"type=uint16", "uint32"});
  for (const std::int32_t version : {1, 6, 8}) {
    expect_error([&] { task(llm_c<std::uint32_t>(20240801, version, 300)); },
                 {text("version ", version), "in version 7 alone"});
  }
  expect_error([&] { task(llm_c<std::uint32_t>(20240801, 7, 301)); }, {"301 tokens"});
}

TEST_F(TokenFiles, OtherKindsAreRefusedByName) {
  const std::string longs = bytes_of(counting<std::uint32_t>(300));
  const std::pair<std::string, const char*> files[] = {
      {llm_c<std::uint32_t>(20240522, 1, 300), "questions with several answers"},
      {llm_c<std::uint16_t>(20240326, 3, 300), "a model (GPT-2)"},
      {llm_c<std::uint16_t>(20240999, 1, 300), "the magic number 20240999"},
      {big_endian(llm_c<std::uint16_t>(20240520, 1, 300), 4), "20240520 in the other byte order"},
      {big_endian(llm_c<std::uint32_t>(20240801, 7, 300), 4), "20240801 in the other byte order"},
      {"PK\3\4" + longs, "a zip archive"},
      {"\x1F\x8B\x08 " + longs, "compressed by gzip"},
      {npy("<u2", "").replace(6, 1, "\5"), "version 5.0 of .npy"},
      {"The quick brown fox jumps over the lazy dog.", "it is a text"},
      {"Zwölf Boxkämpfer jagen Viktor quer über den Deich!!", "it is a text"},
      {"version https://git-lfs.github.com/spec/v1", "a pointer of git-lfs"}};
  for (const auto& [bytes, expected] : files) {
    SCOPED_TRACE(expected);
    expect_error([&, file = bytes] { task(file); }, {"tokens: ", expected});
  }
}

TEST_F(TokenFiles, WiderNumbersAreRefused) {
  for (const std::uint32_t offset : {0U, 70'000U, 150'000U, 260'000U}) {
    SCOPED_TRACE(offset);
    std::vector<std::uint32_t> numbers = counting<std::uint32_t>(300);
    for (std::uint32_t& number : numbers) number += offset;
    const std::string bytes = bytes_of(numbers);
    expect_error([&] { task(bytes); }, {"uint32, not uint16", "type=uint32 or type=uint16"});
    EXPECT_EQ(task(bytes, ",type=uint32")->shape().vocab, offset + 31);
    EXPECT_LE(task(bytes, ",type=uint16")->shape().vocab, 65536);
    expect_error([&] { task(big_endian(bytes, 4)); }, {"other byte order"});
  }
  const std::string longest = bytes_of(counting<std::uint64_t>(300));
  expect_error([&] { task(longest, ",type=uint32"); }, {"numbers of 64 bits"});
  const std::string few = bytes_of(std::vector<std::uint16_t>(90, 2));
  EXPECT_EQ(task(few, ",length=4")->shape().vocab, 3) << "small tokens are no halves";
}

TEST_F(TokenFiles, WordsHaveNumbersOfTheirOwn) {
  const auto said = [&](const std::string& words) {
    write_file(folder / "vocab.json", words);
    return error_of([&] {
      task(bytes_of(counting<std::uint16_t>(300)), ",words=" + (folder / "vocab.json").string());
    });
  };
  const std::pair<const char*, const char*> files[] = {
      {R"({"a": 16777215})", "'a' has the number 16777215"},
      {R"({"a": 0, "b": 1, "c": 70000})", "'c' has the number 70000"},
      {R"({"a": 1, "b": 0, "c": 1})", "'c' has the number 1, which another word has already"},
      {R"({"a": -1})", "'a' has the number -1"},
      {R"({"a": 0.5})", "vocab.json: 'a': "},
      {R"(["a", "b"])", "got an array"},
      {R"({"version": "1.0", "model": {"vocab": {"a": 0}}})", "'version' is a string"}};
  for (const auto& [words, expected] : files)
    EXPECT_NE(said(words).find(expected), std::string::npos) << said(words);
  write_file(folder / "vocab.json", "\xEF\xBB\xBF{\"a\": 0}");
  const auto marked =
      task(bytes_of(counting<std::uint16_t>(300)), ",words=" + (folder / "vocab.json").string());
  EXPECT_EQ(marked->token_text(0), "a");
}

TEST_F(TokenFiles, NameTheirFaults) {
  const std::string raw = bytes_of(counting<std::uint16_t>(300));
  expect_error([&] { task(raw.substr(1)); }, {"599 bytes", "truncated"});
  expect_error([&] { task(raw, ",vocab=20"); }, {"holds the token 30", "has 20"});
  expect_error([&] { task(llm_c(299)); }, {"version 1 and 299 tokens, but it holds 300"});
  expect_error([&] { task(npy("<f4", raw)); }, {"no whole numbers", "numpy.ascontiguousarray"});
  expect_error([&] { task(npy("<u2", raw).substr(0, 20)); }, {"ends too early"});
  expect_error([&] { task(raw.substr(0, 40)); }, {"too short", "tokens"});
}

TEST_F(TokenFiles, KnowWhereATokenStoodLastAndWhatFollowed) {
  const auto made = task(bytes_of(counting<std::uint16_t>(300)));
  const Example example = made->example_of(std::vector<std::int32_t>{5, 6, 9, 5});
  EXPECT_EQ(example.truth[0].keys(0, 3)[0], 2);
  EXPECT_EQ(example.truth[1].keys(0, 3)[0], 0);
  EXPECT_EQ(example.truth[2].keys(0, 3)[0], 1);
  EXPECT_TRUE(example.truth[1].keys(0, 2).empty());
}

TEST(Repeated, TheSecondSegmentIsTheFirstAndAsksForIt) {
  const auto task = make_task("repeated:length=20,vocab=9");
  const Example example = task->make({5}, 50, Split::train);
  for (Index b = 0; b < 50; ++b) {
    Index asked = 0;
    for (Index t = 0; t < 20; ++t) {
      if (example.batch.target(b, t) < 0) continue;
      ++asked;
      EXPECT_EQ(example.batch.target(b, t), example.batch.token(b, t + 1));
      const std::int32_t last = example.truth[1].keys(b, t)[0],
                         next = example.truth[2].keys(b, t)[0];
      EXPECT_EQ(example.batch.token(b, last), example.batch.token(b, t));
      EXPECT_EQ(example.batch.token(b, next), example.batch.target(b, t));
    }
    EXPECT_GE(asked, 4);
  }
}

}}  // namespace headlab
