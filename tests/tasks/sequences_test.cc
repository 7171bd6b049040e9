// Sequences from lines of JSON and from programs: what is read is what was written, faults are
// named with their place, and no program runs that its user has not named.
#include "lab/data/sequences.h"

#include <cmath>
#include <cstdlib>
#include <set>

#include "headlab/core/base/files.h"
#include "headlab/lab/data/lab_tasks.h"
#include "tasks/lines.h"

namespace headlab { namespace {

TEST_F(FromLines, AreReadUnchanged) {
  const auto task = task_of(kLine);
  const Example example = task->make(Key{}, 1, Split::validation);
  EXPECT_EQ(words_of(*task, example.batch, 0), (std::vector<std::string>{"d", "=", "2", "d"}));
  EXPECT_EQ(answers_of(*task, example.batch, 0), (std::vector<std::string>{"", "", "", "2"}));
  EXPECT_EQ(truth_text(example.truth[0]), "0,3:2 ");
  EXPECT_EQ(task->relations()[0].name, "definition");
}

TEST_F(FromLines, PadsLinesOfDifferentLengths) {
  const auto task = task_of(kLine + "\n" + R"({"tokens":["d"],"targets":["="]})");
  const Example example = task->make(Key{}, 2, Split::validation);
  EXPECT_EQ(example.batch.length_of(0) + example.batch.length_of(1), 5);
  EXPECT_EQ(task->shape().length, 4);
}

TEST_F(FromLines, WholeNumbersKeepTheirValues) {
  const auto task = task_of(R"({"tokens":[7,0],"targets":[[null,3],[5,null]]})");
  EXPECT_EQ(task->shape().vocab, 8);
  EXPECT_EQ(task->shape().targets, 2);
  const Batch batch = task->make_batch(Key{}, 1, Split::validation);
  EXPECT_EQ(batch.token(0, 0), 7);
  EXPECT_EQ(batch.target(0, 0, 1), 3);
  EXPECT_EQ(batch.target(0, 1, 0), 5);
  EXPECT_EQ(batch.target(0, 0, 0), -1);
}

TEST_F(FromLines, FaultsNameTheLineAndTheExpectedValue) {
  const std::pair<const char*, const char*> faults[] = {
      {"{", "all.jsonl:2: cannot parse the line: line 1"},
      {"[]", "expected an object"},
      {R"({"targets":[]})", "the key 'tokens' is missing"},
      {R"({"tokens":[],"targets":[]})", "tokens: expected at least one token"},
      {R"({"tokens":["a"],"target":["a"]})", "unknown key 'target'; did you mean 'targets'"},
      {R"({"tokens":[true],"targets":[]})", "expected a token, a text or a whole number"},
      {R"({"tokens":[-1],"targets":[]})", "must not be negative"},
      {R"({"tokens":["a"],"targets":[null,"a"]})", "targets: 2 of them for 1 tokens"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"0":[1]}}})", "query 0 cannot see key 1"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"1":[0],"01":[1]}}})",
       "the query 1 is there twice"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"2":[1]}}})", "'2' is no position"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"1x":[1]}}})", "'1x' is no position"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"1":[0,0]}}})", "one key twice"},
      {R"({"tokens":["a","b"],"targets":[],"truth":{"r":{"1":[]}}})", "has no key"},
      {R"({"tokens":["a"],"targets":[],"source":["a"]})", "a source, where lines before"},
      {R"({"header":{}})", "a header must be the first line"}};
  for (const auto& [line, expected] : faults) {
    expect_contains(said_of(line), expected);
    expect_contains(said_of(line), "all.jsonl:2");
  }
}

TEST_F(FromLines, HaveAtMost65536Tokens) {
  const auto line_of = [](std::size_t count) {
    std::string tokens = "0";
    for (std::size_t i = 1; i < count; ++i) tokens += ",0";
    return "{\"tokens\":[" + tokens + "],\"targets\":[0]}";
  };
  EXPECT_EQ(task_of(line_of(65536))->shape().length, 65536);
  expect_contains(said_of(line_of(65537)), "tokens: more than 65536 tokens");
}

TEST_F(FromLines, HeadersFixWordsAndRelations) {
  const std::string header =
      R"({"header":{"vocabulary":["2","=","d"],"relations":[{"name":"definition","description":"what d is"}],"needed_heads":1}})";
  const auto task = task_of(header + "\n" + kLine);
  EXPECT_EQ(task->shape().vocab, 3);
  EXPECT_EQ(task->needed_heads(), 1);
  EXPECT_EQ(task->relations()[0].description, "what d is");
  const auto expected = task_of(R"({"header":{"accuracy":0.9}})" + ("\n" + kLine));
  expect_contains(expected->about_data(), "an accuracy of 0.9 is to be expected");
  const auto said_after = [&](const char* line) {
    return error_of([&] { task_of(header + "\n" + line); });
  };
  expect_contains(said_after(R"({"tokens":["x"],"targets":[]})"), "'x' is not in the vocabulary");
  expect_contains(said_after(R"({"tokens":["d"],"targets":[],"truth":{"definitoin":{"0":[0]}}})"),
                  "did you mean 'definition'");
}

TEST_F(FromLines, HaveNoRelationWhoseNameWouldPartThoseOfColumns) {
  for (const std::string name : {"a.b", "a,b"})
    expect_contains(error_of([&] {
                      task_of(R"({"tokens":[1,2],"targets":[1,2],"truth":{")" + name +
                              R"(":{"1":[0]}}})");
                    }),
                    "the relation '" + name + "' has a '.' or ','");
}

TEST_F(FromLines, EqualSequencesStandOnOneSide) {
  std::string lines;
  for (int i = 0; i < 300; ++i)
    lines += text(R"({"tokens":[)", i % 100, R"(,1],"targets":[1]})", "\n");
  const auto task = make_task("file:train=" + file_of("one.jsonl", lines));
  std::set<std::int32_t> met;
  Index sum = 0;
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const Batch batch = task->make_batch(Key{}, 400, split);
    std::set<std::int32_t> mine;
    for (Index b = 0; b < 400; ++b) mine.insert(batch.token(b, 0));
    for (const std::int32_t token : mine) EXPECT_TRUE(met.insert(token).second) << token;
    sum += task->different(split);
  }
  EXPECT_EQ(task->different(Split::train) % 3, 0);  // with its copies, held-out ones without
  EXPECT_EQ(sum, 100 + task->different(Split::train) / 3 * 2);
  expect_contains(task->about_data(), "300 sequences, 200 of them duplicates");
  expect_contains(task->about_data(), text(", ", 300 - sum, " duplicates left out: "));
}

TEST_F(FromLines, SequencesThatDifferInWhereTheirSourceEndsAreDifferent) {
  std::string lines;
  int count = 0;
  for (const std::string word : {"abcd", "bacd", "dcba", "cabd", "acbd", "bdca", "dbac", "adcb"}) {
    for (std::size_t cut = 1; cut < word.size(); ++cut) {
      const auto letters = [](const std::string& part) {
        Json all = Json::array();
        for (const char letter : part) all.push_back(std::string(1, letter));
        return all;
      };
      lines += Json::object({{"tokens", letters(word.substr(0, cut))},
                             {"source", letters(word.substr(cut))},
                             {"targets", letters("a")}})
                   .dump() +
               "\n";
      ++count;
    }
  }
  const std::string path = file_of("one.jsonl", lines);
  const LinesCheck check = check_lines(lines, path);
  EXPECT_EQ(check.sequences, count);
  const auto task = make_task("file:train=" + path + ",held_out=" + path + ",test=" + path);
  expect_contains(task->about_data(), text(count, " sequences; "));
  EXPECT_EQ(task->different(Split::validation), count);
}

using Places = std::vector<std::int32_t>;

/// A header, empty lines and sequences of other parts count as lines.
TEST_F(FromLines, HeldOutExamplesKnowTheirLines) {
  const std::string header = R"({"header":{"length":4}})";
  const auto task = task_of("\n" + header + "\n" + kLine + "\n\n" + kLine + "\n");
  const FilePlaces places = places_in_file(*task, Split::validation, 0, 2);
  EXPECT_TRUE(places.are_lines);
  EXPECT_EQ(places.of_examples, (Places{3, 5}));
  EXPECT_EQ(places_in_file(*task, Split::test, 1, 2).of_examples, (Places{5, 3}));
  EXPECT_TRUE(places_in_file(*make_task("copy"), Split::test, 0, 2).of_examples.empty());
}

/// The parts of one file are shares of its lines.
TEST_F(FromLines, HeldOutLinesAreThoseOfTheFile) {
  std::string lines;
  for (int i = 0; i < 99; ++i) {
    lines += text(R"({"tokens":[1,)", i, R"(],"targets":[null,1]})") + "\n";
  }
  const auto task = make_task("file:train=" + file_of("one.jsonl", lines));
  for (const Split split : {Split::validation, Split::test}) {
    const Index count = task->different(split);
    const Batch held_out = task->make_batch(Key{}, count, split);
    const Places found = places_in_file(*task, split, 0, count).of_examples;
    for (Index b = 0; b < count; ++b) EXPECT_EQ(found[b], held_out.token(b, 1) + 1);
  }
}

TEST_F(FromLines, BeginWhereTheFirstLineWithTextIs) {
  const std::string header = R"({"header":{"recommended":"steps=7"}})";
  for (const std::string before : {"\n \r\n\t\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n\n"}) {
    const std::string lines = before + header + "\n\n" + kLine + "\n";
    EXPECT_EQ(check_lines(lines, "mine").faults, std::vector<std::string>());
    EXPECT_EQ(task_of(lines)->different(Split::train), 1);
    EXPECT_NE(recommended_settings("file:train=" + file_of("a.jsonl", lines)).find("steps=7"),
              std::string::npos);
  }
  const std::string fault = "\n\n{\n";
  expect_contains(check_lines(fault, "mine").faults[0], "mine:3: cannot parse the line");
  expect_contains(refusal("file:train=" + file_of("b.jsonl", fault)),
                  "b.jsonl:3: cannot parse the line");
  expect_contains(error_of(
                      [&] { recommended_settings("file:train=" + file_of("b.jsonl", fault)); }),
                  "b.jsonl:3: cannot parse the line");
}

TEST_F(FromLines, HeadersStandAloneAndNameEachThingOnce) {
  const std::pair<const char*, const char*> headers[] = {
      {R"({"header":{},"tokens":[1,2],"targets":[null,2]})",
       "must be alone on its line, but here is 'tokens'"},
      {R"({"truth":{},"header":{}})", "but here is 'truth'"},
      {R"({"header":{"relations":[{"name":"a"},{"name":"b"},{"name":"a"}]}})",
       "relations: 'a' is there twice"},
      {R"({"header":{"targets":["x","x"]}})", "targets: 'x' is there twice"},
      {R"({"header":{"relations":[{"description":"b"}]}})", "relations: number 1 has no name"}};
  for (const auto& [header, expected] : headers) {
    const std::string lines = text(header, "\n", kLine);
    ASSERT_FALSE(check_lines(lines, "mine").faults.empty()) << header;
    expect_contains(check_lines(lines, "mine").faults[0], text("mine:1: ", ""));
    expect_contains(check_lines(lines, "mine").faults[0], expected);
    expect_contains(error_of([&] { task_of(lines); }), expected);
  }
}

TEST_F(FromLines, HideAShareOfTheirTargets) {
  const std::string
      header =
          R"({"header":{"architecture":"encoder","vocabulary":["<unk>","<mask>","a","b"],"hidden":0.15}})",
      line = R"({"tokens":["a","b","a","<unk>"],"targets":["a","b","a",null]})";
  const auto task = task_of(header + "\n" + line);
  const Index count = 4000;
  const Batch batch = task->make_batch(Key{1}, count, Split::train);
  const std::string words[] = {"a", "b", "a", "<unk>"};
  Index hidden = 0;
  for (Index b = 0; b < count; ++b) {
    Index here = 0;
    for (Index t = 0; t < 4; ++t) {
      const std::int32_t target = batch.target(b, t);
      const std::string read = task->token_text(batch.token(b, t));
      ASSERT_EQ(read == "<mask>", target >= 0);
      ASSERT_EQ(target >= 0 ? task->token_text(target) : read, words[t]);
      here += target >= 0;
    }
    ASSERT_GT(here, 0);
    hidden += here;
  }
  // Each of three words is hidden with .15; where none is, one: 3 x .15 + .85^3 a sentence.
  EXPECT_NEAR(static_cast<double>(hidden) / count, 1.064, 4 * .5 / std::sqrt(count));
  EXPECT_EQ(task->decode(task->encode("b fox a")), "b <unk> a");
  expect_contains(error_of([&] { task_of(R"({"header":{"hidden":0.5}})" + ("\n" + line)); }),
                  "the vocabulary has no <mask>");
}

TEST_F(FromLines, TellHowManyHeldOutOnesAreKnown) {
  const std::string other = R"({"tokens":["2","d"],"targets":["d"]})";
  const std::string train = file_of("train.jsonl", kLine),
                    held = file_of("held.jsonl", kLine + "\n" + other);
  const auto task = make_task("file:train=" + train + ",held_out=" + held + ",test=" + held);
  expect_contains(task->about_data(), "1 of held_out's 2 are also in train");
}

TEST_F(FromLines, LinesOfBuiltInTasksMakeTheSameTask) {
  for (const char* spec : {"relations:length=12", "recall", "reverse", "reverse_cross", "brackets",
                           "english:length=12", "grid", "histogram"}) {
    SCOPED_TRACE(spec);
    const auto ours = make_task(spec);
    const Example made = ours->make(Key{3}, 20, Split::validation);
    LineReader reader;
    Sequences read = reader.read_all(lines_of(*ours, 20, Key{3}), "lines");
    reader.finish(std::vector{&read});
    EXPECT_EQ(shape_of(reader.header()), ours->shape());
    EXPECT_EQ(reader.header().recommended, recommended_settings(spec));
    EXPECT_EQ(reader.header().description, find_task(spec).summary);
    EXPECT_EQ(reader.header().accuracy, find_task(spec).learned.accuracy);
    Example again{Batch::make(20, made.batch.length, made.batch.targets_per_position,
                              made.batch.source_length),
                  std::vector<GroundTruth>(made.truth.size())};
    for (Index b = 0; b < 20; ++b) {
      Sequence sequence{again, b, Split::validation, Generator(Key{}), b, true};
      read.write(b, sequence);
      EXPECT_EQ(again.batch.length_of(b), made.batch.length_of(b));
    }
    EXPECT_EQ(again.batch.targets, made.batch.targets);
    for (Index b = 0; b < 20; ++b)
      EXPECT_EQ(words_of(*ours, again.batch, b), words_of(*ours, made.batch, b));
    for (std::size_t r = 0; r < made.truth.size(); ++r)
      EXPECT_EQ(truth_text(again.truth[r]), truth_text(made.truth[r]));
    for (std::size_t r = 0; r < made.candidates.size(); ++r)
      EXPECT_EQ(truth_text(again.candidates[r]), truth_text(made.candidates[r]));
  }
}

TEST_F(FromLines, AreCheckedToTheEnd) {
  const LinesCheck check = check_lines(kLine + "\n{\n" + kLine + R"(
{"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"0":[1]}}}
{"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"0":[0]}}})",
                                       "mine");
  EXPECT_EQ(check.sequences, 3);
  EXPECT_EQ(check.unasked, 1);
  ASSERT_EQ(check.faults.size(), 2U);
  expect_contains(check.faults[0], "mine:2");
  expect_contains(check.faults[1], "mine:4: truth: r: query 0 cannot see key 1");
}

TEST_F(FromLines, EmptyLinesAndMissingTargetsAreFaults) {
  for (const std::string lines : {"", "\n \n", R"({"tokens":["a"],"targets":[null]})"}) {
    const char* expected = lines.size() < 4 ? "holds no sequence" : "asks for nothing";
    const LinesCheck check = check_lines(lines, "mine");
    ASSERT_EQ(check.faults.size(), 1U);
    expect_contains(check.faults[0], expected);
    expect_contains(error_of([&] { task_of(lines); }), expected);
  }
}

TEST_F(FromLines, RecommendEachSettingOnce) {
  const std::string path = file_of("a.jsonl", R"({"header":{"recommended":"lr=1e-2  heads=1"}})");
  EXPECT_EQ(recommended_settings("file:train=" + path),
            "layers=2 d_model=64 steps=2000 lr=1e-2 heads=1");
  EXPECT_EQ(recommended_settings("file:train=" + file_of("b.jsonl", kLine)),
            "layers=2 heads=4 d_model=64 steps=2000 lr=1e-3");
}

// ---- programs

/// A shell program that answers requests as `body` says; $count and $seed are those of a request.
std::string program(const std::string& body,
                    const std::string& header = R"({"vocabulary":["a","b"],"length":2})") {
  return "printf '%s\\n' '{\"header\":" + header +
         "}'; while read line; do count=${line#*count\\\":}; count=${count%%,*}; "
         "seed=${line#*seed\\\":}; seed=${seed%%,*}; " +
         body + "; done";
}
const std::string kAnswer =
    R"(i=0; while [ $i -lt $count ]; do echo '{"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"1":[0]}}}'; i=$((i+1)); done)";
const std::string kRelation =
    R"({"vocabulary":["a","b"],"length":2,"relations":[{"name":"r","description":"the a"}]})";

std::string said_by(const std::string& body) {
  const std::string command = program(body);
  allow_command(command);
  return refusal("command:" + command);
}

TEST(FromPrograms, AreReadAsTheyArePrinted) {
  const TemporaryFolder folder;
  const std::string trace = (folder.path() / "trace").string();
  const std::string command = program(kAnswer, kRelation) + "; touch " + trace;
  allow_command(command);
  auto task = make_task("command:" + command);
  const Example example = task->make(Key{5}, 3, Split::train);
  EXPECT_EQ(words_of(*task, example.batch, 2), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(truth_text(example.truth[0]), "0,1:0 1,1:0 2,1:0 ");
  EXPECT_EQ(make_task(task->spec())->data_hash(), task->data_hash());
  task.reset();
  EXPECT_TRUE(std::filesystem::exists(trace)) << "a program is told that nothing more is asked";
}

TEST(FromPrograms, SayHowManyHeldOutSequencesAreAlsoForTraining) {
  const std::string same = program(kAnswer, kRelation);
  allow_command(same);
  expect_contains(make_task("command:" + same)->about_data(),
                  "warning: 200 of 200 held-out sequences are among 2,000 drawn for training");
  const std::string apart = program(
      R"(t=a; case $line in *train*) t=b;; esac; i=0; while [ $i -lt $count ]; do echo "{\"tokens\":[\"$t\",\"b\"],\"targets\":[null,\"a\"]}"; i=$((i+1)); done)",
      kRelation);
  allow_command(apart);
  expect_contains(make_task("command:" + apart)->about_data(),
                  "none of 200 held-out sequences is among 2,000 drawn for training");
}

TEST(FromPrograms, RunOnlyWhenTheirUserNamesThem) {
  const TemporaryFolder folder;
  const std::string trace = (folder.path() / "trace").string();
  expect_contains(refusal("command:touch " + trace), "you have not named it");
  EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST(FromPrograms, FailureReportsTheExitStatus) {
  using namespace std::string_literals;
  expect_contains(said_by("exit 3"), "has ended with status 3");
  expect_contains(said_by("kill -9 $$"), "has ended by signal 9");
  expect_contains(said_by("echo '{}'; echo '{}'; echo '{}'"), "printed more than the 2 lines");
  expect_contains(said_by("echo $seed.$i; i=$((i+1)); echo"), "other lines");
  expect_contains(said_by("case $line in *train*) n=$((n+1));; esac; echo $n; echo"),
                  "other lines");
  expect_contains(said_by("head -c 17000000 /dev/zero"), "prints a line that does not end");
  const int patience = std::exchange(command_patience(), 300);
  const TemporaryFolder folder;
  const std::string trace = (folder.path() / "trace").string();
  for (const std::string& silent :
       {"(sleep .8; touch " + trace + "); echo", "echo '{}'; sleep 60"s})
    expect_contains(said_by(silent), "has printed nothing for 0.3 seconds");
  command_patience() = patience;
  EXPECT_FALSE(std::filesystem::exists(trace)) << "a silent program has outlived its task";
  allow_command("echo hello");
  expect_contains(refusal("command:echo hello"),
                  "cannot read the first line of the program `echo hello`");
  allow_command("echo 1");
  expect_contains(refusal("command:echo 1"), "the first line of the program `echo 1`: expected");
  allow_command("echo '{\"header\":{}}'; cat");
  expect_contains(refusal("command:echo '{\"header\":{}}'; cat"), "names no `vocabulary`");
}

}  // namespace
}  // namespace headlab
