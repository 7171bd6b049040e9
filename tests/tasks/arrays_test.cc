// Sequences from arrays of NumPy: the same task as lines, and a message for each shape, name or
// number that does not fit the others.
#include <algorithm>
#include <map>
#include <tuple>

#include "lab/data/sequences.h"
#include "support/archives.h"
#include "tasks/lines.h"

namespace headlab { namespace {

using FromArrays = FromLines;

/// An array of whole numbers of 16 bits.
std::string shorts(const std::string& shape, const std::vector<std::int64_t>& values) {
  std::string data;
  for (const std::int64_t value : values) {
    data += little_endian(static_cast<std::uint64_t>(value), 2);
  }
  return npy("<i2", shape, data);
}

TEST_F(FromArrays, RefusesOtherShapesAndNames) {
  using Files = std::map<std::string, std::string>;
  const Files good = {{"tokens", shorts("2, 3", {5, 0, 2, 3, 3, 0})},
                      {"targets", shorts("2, 3", {-1, 1, -100, 2, 0, -1})},
                      {"truth/r/begin", shorts("7,", {0, 0, 1, 2, 2, 3, 4})},
                      {"truth/r/keys", shorts("4,", {0, 0, 1, 0})}};
  const auto faults_of = [&](const Files& changed, const std::string& without = "") {
    Files files = good;
    for (const auto& [name, bytes] : changed) files[name] = bytes;
    files.erase(without);
    return check_lines(npz({files.begin(), files.end()}), "a.npz").faults;
  };
  EXPECT_EQ(faults_of({}), std::vector<std::string>());
  const std::tuple<Files, const char*, const char*> cases[] = {
      {{{"targets", shorts("3, 2", {1, 1, 1, 1, 1, 1})}},
       "",
       "targets has the shape [3, 2], but tokens has [2, 3]"},
      {{{"targets", shorts("1, 6", {1, 1, 1, 1, 1, 1})}}, "", "targets has the shape [1, 6]"},
      {{{"targets", shorts("6,", {1, 1, 1, 1, 1, 1})}}, "", "targets has the shape [6]"},
      {{{"targets", shorts("3, 2, 1", {1, 1, 1, 1, 1, 1})}}, "", "targets has the shape [3, 2, 1]"},
      {{{"targets", shorts("2, 3", {1, 1, 1, 1, 1, -5})}}, "", "the target -5 is no token"},
      {{{"targets", npy("|u1", "2, 3", "\1\1\xFF\1\1\1")}}, "", "targets holds 255"},
      {{{"corrupted", shorts("2, 2", {1, 1, 1, 1})}}, "", "corrupted has the shape [2, 2]"},
      {{{"against", shorts("3, 2", {1, 1, 1, 1, 1, 1})}}, "", "against has the shape [3, 2]"},
      {{{"against", shorts("2, 3", {2, 2, -1, -1, -1, -1})}}, "", "'2' at position 0"},
      {{{"lengths", shorts("1, 2", {3, 3})}}, "", "lengths has the shape [1, 2], and needs [2]"},
      {{{"lengths", shorts("2,", {3, -1})}}, "", "its length is -1 of 3"},
      {{{"truth/r/begin", shorts("5,", {0, 1, 2, 3, 4})}},
       "",
       "truth/r/begin has the shape [5], and needs [7]"},
      {{{"truth/r/begin", shorts("7,", {1, 1, 1, 2, 2, 3, 4})}},
       "",
       "truth/r/begin must start with 0"},
      {{{"truth/r/begin", shorts("7,", {0, 0, 1, 2, 2, 3, 3})}},
       "",
       "ends with 3, but there are 4 keys"},
      {{{"truth/r/keys", shorts("2, 2", {0, 0, 1, 0})}}, "", "truth/r/keys has the shape [2, 2]"},
      {{}, "truth/r/begin", "there is no array truth/r/begin"},
      {{}, "truth/r/keys", "there is no array truth/r/keys"},
      {{{"thruth/r/begin", shorts("1,", {0})}}, "", "did you mean 'truth/r/begin'"},
      {{{"candidate/r/keys", shorts("1,", {0})}}, "", "did you mean 'candidates/r/keys'"},
      {{{"truth/r/kees", shorts("1,", {0})}}, "", "did you mean 'truth/r/keys'"},
      {{{"target", shorts("1,", {0})}}, "", "did you mean 'targets'"},
      {{{"truth/begin", shorts("1,", {0})}}, "", "unknown array 'truth/begin'"},
      {{{"source_lengths", shorts("2,", {1, 1})}}, "", "source_lengths without source"},
      {{{"header", shorts("2,", {123, 125})}}, "", "header must be one text"},
      {{{"tokens", npy("<U3", "2,", std::string(24, 'a'))}}, "", "tokens holds texts"}};
  for (const auto& [changed, without, expected] : cases) {
    SCOPED_TRACE(expected);
    const std::vector<std::string> faults = faults_of(changed, without);
    ASSERT_EQ(faults.size(), 1U);
    expect_contains(faults[0], expected);
    expect_contains(faults[0], "a.npz");
  }
}

TEST_F(FromArrays, FaultsOfASequenceNameTheFileOnce) {
  const std::string bytes = npz({{"tokens", shorts("2, 3", {5, 0, 2, 3, 3, 0})},
                                 {"targets", shorts("2, 3", {-1, 1, -100, 2, 0, -1})},
                                 {"truth/r/begin", shorts("7,", {0, 0, 2, 1, 2, 3, 4})},
                                 {"truth/r/keys", shorts("4,", {0, 0, 1, 0})}});
  std::string fault;
  try {
    LineReader().read_all(bytes, "a.npz");
  } catch (const Error& error) {
    fault = error.what();
  }
  EXPECT_TRUE(fault.starts_with("cannot read a.npz: sequence 0: ")) << fault;
  EXPECT_EQ(fault.rfind("a.npz"), fault.find("a.npz")) << fault;
}

TEST_F(FromArrays, EncoderRelationsHaveQueriesInTheSource) {
  const std::string header =
      R"({"architecture":"encoder_decoder","relations":[{"name":"r","kind":"encoder"}]})";
  std::string letters;
  for (const char letter : header) letters += std::string{letter, 0, 0, 0};
  std::vector<std::pair<std::string, std::string>> files = {
      {"header", npy("<U" + std::to_string(header.size()), "", letters)},
      {"tokens", shorts("2, 1", {0, 1})},
      {"targets", shorts("2, 1", {2, 3})},
      {"source", shorts("2, 3", {0, 1, 2, 1, 1, 0})},
      {"truth/r/begin", shorts("7,", {0, 1, 1, 2, 2, 2, 3})},
      {"truth/r/keys", shorts("3,", {2, 0, 1})}};
  const Example example = task_in("a.npz", npz(files))->make(Key{}, 2, Split::validation);
  EXPECT_EQ(example.truth[0].queries(), 3);
  files[4].second = shorts("3,", {0, 1, 3});
  expect_contains(check_lines(npz(files), "a.npz").faults[0], "needs [7]");
}

TEST_F(FromArrays, AreTheSameTask) {
  const auto array = shorts;
  std::vector<std::pair<std::string, std::string>> files = {
      {"tokens", array("2, 3", {5, 0, 2, 3, 3, 0})},
      {"targets", array("2, 3, 2", {-1, -1, 1, -1, -1, 5, 2, -1, 0, 4, -1, -1})},
      {"lengths", array("2,", {3, 2})},
      {"truth/first/begin", array("7,", {0, 0, 1, 3, 3, 4, 4})},
      {"truth/first/keys", array("4,", {0, 0, 1, 0})}};
  const Example arrays = task_in("a.npz", npz(files))->make(Key{}, 2, Split::validation);
  const std::string same =
      R"({"tokens":[5,0,2],"targets":[[null,null],[1,null],[null,5]],"truth":{"first":{"1":[0],"2":[0,1]}}}
{"tokens":[3,3],"targets":[[2,null],[0,4]],"truth":{"first":{"1":[0]}}})";
  const Example lines = task_of(same)->make(Key{}, 2, Split::validation);
  EXPECT_EQ(arrays.batch.tokens, lines.batch.tokens);
  EXPECT_EQ(arrays.batch.targets, lines.batch.targets);
  EXPECT_EQ(arrays.batch.lengths, lines.batch.lengths);
  EXPECT_EQ(truth_text(arrays.truth[0]), truth_text(lines.truth[0]));
  const auto task = task_in("a.npz", npz(files));
  const FilePlaces places = places_in_file(*task, Split::validation, 0, 2);
  EXPECT_FALSE(places.are_lines);
  EXPECT_EQ(places.of_examples, (std::vector<std::int32_t>{0, 1}));
  files[4].second = array("4,", {0, 2, 1, 0});
  files[2].second = array("2,", {3, 4});
  const LinesCheck check = check_lines(npz(files), "a.npz");
  ASSERT_EQ(check.faults.size(), 1U);
  expect_contains(check.faults[0], "a.npz: sequence 1: its length is 4 of 3");
  files[4].second = array("3,", {0, 3, 1});
  expect_contains(check_lines(npz(files), "a.npz").faults[0],
                  "truth/first/begin ends with 4, but there are 3 keys");
  files.erase(files.begin() + 1);
  expect_contains(check_lines(npz(files), "a.npz").faults[0], "a.npz: there is no array targets");
}

TEST_F(FromArrays, HoldWordsSourceAndCandidates) {
  const auto array = [](const std::string& shape, const std::string& data) {
    return npy("|i1", shape, data);
  };
  const std::string header =
      R"({"architecture":"encoder_decoder","vocabulary":["a","b","c"],"recommended":"steps=7"})";
  std::string letters;
  for (const char letter : header) letters += std::string{letter, 0, 0, 0};
  std::vector<std::pair<std::string, std::string>> files = {
      {"header", npy("<U" + std::to_string(header.size()), "", letters)},
      {"tokens", array("2, 2", {0, 1, 2, 0})},
      {"targets", array("2, 2", {-1, 2, 0, 1})},
      {"source", array("2, 3", {0, 1, 2, 1, 1, 0})},
      {"source_lengths", array("2,", {3, 2})},
      {"truth/said/begin", array("5,", {0, 0, 1, 1, 2})},
      {"truth/said/keys", array("2,", {2, 1})},
      {"candidates/said/begin", array("5,", {0, 0, 2, 2, 2})},
      {"candidates/said/keys", array("2,", {0, 2})}};
  const auto arrays = task_in("a.npz", npz(files));
  const auto lines = task_in("b.jsonl", text(R"({"header":)", header, R"(}
{"tokens":["a","b"],"targets":[null,"c"],"source":["a","b","c"],"truth":{"said":{"1":[2]}},"candidates":{"said":{"1":[0,2]}}}
{"tokens":["c","a"],"targets":["a","b"],"source":["b","b"],"truth":{"said":{"1":[1]}}})"));
  const Example one = arrays->make(Key{}, 2, Split::validation),
                other = lines->make(Key{}, 2, Split::validation);
  EXPECT_EQ(one.batch.tokens, other.batch.tokens);
  EXPECT_EQ(one.batch.targets, other.batch.targets);
  EXPECT_EQ(one.batch.source, other.batch.source);
  EXPECT_TRUE(std::ranges::count(one.batch.source, 2)) << "the c of the first";
  EXPECT_EQ(truth_text(one.truth[0]), truth_text(other.truth[0]));
  EXPECT_EQ(truth_text(one.candidates[0]), truth_text(other.candidates[0]));
  EXPECT_EQ(arrays->token_text(2), "c");
  EXPECT_EQ(arrays->relations()[0].kind, AttentionKind::cross);
  expect_contains(recommended_settings(arrays->spec()), "steps=7");
  files[2].second = array("2, 2", {-1, 3, 0, 1});
  expect_contains(check_lines(npz(files), "a.npz").faults[0],
                  "a.npz: sequence 0: there is no word 3 among 3");
}

}  // namespace
}  // namespace headlab
