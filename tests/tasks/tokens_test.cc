// Tokens of any file, in each of its forms, and a segment that comes twice.
#include "headlab/base/files.h"
#include "headlab/tasks/table.h"
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
  static std::string npy(const std::string& type, const std::string& data) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (300,), }\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
           data;
  }
  static std::string llm_c(std::int32_t count) {
    std::vector<std::int32_t> header(256);
    header[0] = 20240520, header[1] = 1, header[2] = count;
    return bytes_of(header) + bytes_of(counting<std::uint16_t>(300));
  }
};

TEST_F(TokenFiles, OfEachFormAreTheSame) {
  const std::string raw = bytes_of(counting<std::uint16_t>(300));
  const Batch batch = task(raw)->make_batch({3}, 4, Split::validation);
  EXPECT_EQ(batch.targets[2], (batch.tokens[2] + 7) % 31);
  for (const std::string& other :
       {llm_c(300), npy("<u2", raw), npy("<i4", bytes_of(counting<std::int32_t>(300))),
        npy("<i8", bytes_of(counting<std::int64_t>(300)))}) {
    const std::unique_ptr<Task> same = task(other);
    EXPECT_EQ(same->shape().vocab, 31);
    EXPECT_EQ(same->make_batch({3}, 4, Split::validation).tokens, batch.tokens);
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

TEST_F(TokenFiles, SayWhatIsWrongWithThem) {
  const std::string raw = bytes_of(counting<std::uint16_t>(300));
  expect_error([&] { task(raw.substr(1)); }, {"599 bytes", "truncated"});
  expect_error([&] { task(raw, ",vocab=20"); }, {"holds the token 30", "has 20"});
  expect_error([&] { task(llm_c(299)); }, {"version 1 and 299 tokens, but it holds 300"});
  expect_error([&] { task(npy("<f4", raw)); }, {"no whole numbers", "astype"});
  expect_error([&] { task(npy("<u2", raw).substr(0, 20)); }, {"ends too early"});
  expect_error([&] { task(raw.substr(0, 40)); }, {"too short", "tokens"});
}

TEST_F(TokenFiles, KnowWhereATokenStoodLastAndWhatFollowed) {
  const auto made = task(bytes_of(counting<std::uint16_t>(300)));
  const Example example = made->example_of(std::vector<std::int32_t>{5, 6, 9, 5});
  EXPECT_EQ(example.gold[0].keys(0, 3)[0], 2);
  EXPECT_EQ(example.gold[1].keys(0, 3)[0], 0);
  EXPECT_EQ(example.gold[2].keys(0, 3)[0], 1);
  EXPECT_TRUE(example.gold[1].keys(0, 2).empty());
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
      const std::int32_t last = example.gold[1].keys(b, t)[0], next = example.gold[2].keys(b, t)[0];
      EXPECT_EQ(example.batch.token(b, last), example.batch.token(b, t));
      EXPECT_EQ(example.batch.token(b, next), example.batch.target(b, t));
    }
    EXPECT_GE(asked, 4);
  }
}

}}  // namespace headlab
