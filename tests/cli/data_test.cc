// Data files as a user meets them: the checker and training agree, hints name the way out, and a
// run finds its data from any folder.
#include "cli/program.h"

namespace headlab::cli { namespace {

using Data = Program;

/// The program runs in this folder.
Outcome run_in(const fs::path& folder, const std::string& line) {
  return Process(typed(line), {.folder = folder}).finish();
}

const std::string kModel = " --layers 1 --heads 1 --d-model 8 --d-ff 0 --steps 2 --batch 2 --quiet";

/// Sums of two digits, whose keys are always the first two positions.
std::string sums(const std::string& header) {
  std::string lines = header;
  for (int a = 0; a < 20; ++a) {
    for (int b = 0; b < 20; ++b) {
      lines += text(R"({"tokens":[)", a, ",", b, R"(,40],"targets":[null,null,)", a + b,
                    R"(],"truth":{"digits":{"2":[0,1]}}})", "\n");
    }
  }
  return lines;
}

TEST_F(Data, RunsFindTheirFilesFromAnotherFolder) {
  const fs::path trained = folder.path() / "p", other = folder.path() / "e";
  fs::create_directories(trained / "runs");
  fs::create_directories(other);
  std::string words;
  for (int i = 0; i < 60; ++i) words += text("a dog and ", i, " cats.\n");
  write_file(trained / "w.txt", words);
  const Outcome made =
      run_in(trained, "train --task text:file=w.txt,length=12 --out runs/a" + kModel);
  ASSERT_EQ(made.status, 0) << made.err;
  const Outcome here = run_in(trained, "eval runs/a --json");
  const Outcome there = run_in(other, "eval ../p/runs/a --json");
  ASSERT_EQ(there.status, 0) << there.err;
  EXPECT_EQ(there.json().at("loss"), here.json().at("loss"));
  ASSERT_EQ(run_in(other, "prune ../p/runs/a --keep 0 --out b").status, 0);
  EXPECT_EQ(run_in(other, "eval b").status, 0) << "its parent knows the folder";
  fs::rename(trained / "w.txt", trained / "v.txt");
  for (const std::string run : {"../p/runs/a", "b"}) {
    expect_parts(run_in(other, "eval " + run).err,
                 {"cannot read 'w.txt': it is neither in", other.string(), "nor in a folder above",
                  trained.string(), "move the file"});
  }
  write_file(trained / "w.txt", words + "another text");
  expect_parts(run_in(other, "eval ../p/runs/a").err, {"is no longer the one it was trained on"});
}

TEST_F(Data, RelationsWhoseKeysStandAtFixedPlacesAreNotJudged) {
  const std::string positional =
      R"({"header":{"relations":[{"name":"digits","positional":true}]}})";
  write_file(folder.path() / "plain.jsonl", sums(""));
  write_file(folder.path() / "said.jsonl", sums(positional + "\n"));
  for (const std::string name : {"plain", "said"}) {
    done(typed("train --task file:train=" + name + ".jsonl --out " + name + kModel));
    const Outcome outcome = done({"heads", name});
    const Json heads = done({"heads", name, "--json"}).json();
    const std::string conclusion = heads.at("relations").items()[0].at("verdict").string();
    EXPECT_EQ(heads.at("specialization").is_null(), name == "plain") << "of the relations tested";
    const bool judged = conclusion != "not tested: every sequence has the same keys";
    EXPECT_EQ(judged, name == "said") << outcome.out;
    EXPECT_EQ(holds(outcome.out, R"("positional": true)"), name == "plain") << outcome.out;
  }
  const Words both = {"heads", "plain", "said", "--csv", "--table", "relations"};
  EXPECT_TRUE(holds(done(both).out, "\ndigits,1,")) << "one of two runs tests it";
  expect_parts(done({"heads", "plain", "plain"}).out,
               {"not tested, because fewer than 10 examples ask for the keys or every sequence\n"
                "has the same keys: digits"});
  expect_parts(done({"show", "file"}).out, {R"("positional": true)"});
}

TEST_F(Data, CheckNamesTheKeysThatItKnows) {
  write_file(folder.path() / "a.jsonl", R"({"tokens":[1,2],"targets":[null,2],"keys":{}})");
  const Outcome check = run({"show", "a.jsonl", "--check"});
  EXPECT_EQ(check.status, 1);
  expect_parts(check.out, {"unknown key 'keys' (known: tokens, targets, truth, candidates, source, "
                           "corrupted, against)"});
  for (const std::string task : {"a.jsonl", "file:a.jsonl"}) {
    expect_parts(run({"train", "--task", task, "--out", "x"}).err, {"file:train=a.jsonl"});
  }
}

}}  // namespace headlab::cli
