// Safety of results: two writers, empty values, results whose file
// cannot be written, hang-ups, prunings that were killed, words that come from files. Read next:
// damage_test.cc.
#include <sys/resource.h>

#include <memory>

#include "cli/program.h"
#include "headlab/core/base/pool.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli { namespace {

using Trust = Program;

/// A training that says something after every step: it waits while no process reads.
Words slow(const Words& more) {
  return with(tiny({"--eval-every", "1", "--eval-examples", "1", "--steps", "300"}), more);
}

TEST_F(Trust, SecondWriterChangesNothingAndNamesTheFirst) {
  Process first(slow({"--out", "a"}), waiting());
  ASSERT_TRUE(first.wait_for("step 5/"));
  const std::string config = file("a/config.json");
  for (const Words& words :
       {Words{"train", "--resume", "a"}, tiny({"--out", "a", "--force", "--seed", "3"})})
    expect_refused(run(words), 1, {"a: it is being written by process ", " since 20"});
  EXPECT_EQ(file("a/config.json"), config);
  first.signal(SIGKILL);
  first.finish();
  done({"train", "--resume", "a", "--steps", "300", "--eval-every", "100"});
}

TEST_F(Trust, AResultWhoseFileCannotBeWrittenIsShownAllTheSame) {
  done(tiny({"--out", "a"}));
  for (const char* name : {"heads.json", "curve.json"})
    make_directories(folder.path() / "a" / name);
  for (const Words& words : {Words{"heads", "a", "--examples", "16"},
                             typed("curve a --examples 16 --judged 16 --methods magnitude")}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(holds(outcome.out, "command: headlab " + words[0])) << outcome.out;
    expect_parts(outcome.err, {"cannot keep the result: cannot write 'a/" + words[0] + ".json'"});
  }
}

TEST_F(Trust, ATableWhoseFileCannotBeWrittenIsShownAllTheSame) {
  done(tiny({"--out", "a", "--eval-every", "1", "--eval-examples", "1"}));
  Process process(typed("prune a --keep 2 --method magnitude --finetune 300 --out b"), waiting());
  ASSERT_TRUE(process.wait_for("step 5/"));
  fs::remove(folder.path() / "b" / "prune.json");
  make_directories(folder.path() / "b" / "prune.json");
  const Outcome pruned = process.finish();
  EXPECT_EQ(pruned.status, 1);
  EXPECT_TRUE(holds(pruned.out, "command: headlab prune")) << pruned.out << pruned.err;
  EXPECT_TRUE(holds(pruned.err, "error: cannot write 'b/prune.json'")) << pruned.err;

  make_directories(folder.path() / "s" / "sweep.json");
  const Outcome swept =
      run(typed("sweep --task copy --steps 2 --batch 2 --eval-examples 2 --d-model 8 --out s"));
  EXPECT_EQ(swept.status, 1);
  EXPECT_TRUE(holds(swept.out, "command: headlab sweep")) << swept.out << swept.err;
  EXPECT_TRUE(holds(swept.err, "error: cannot write 's/sweep.json'")) << swept.err;
}

TEST_F(Trust, FileSizeLimitIsReportedAsAnError) {
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {2000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);  // of the child; SIGXFSZ as the system has it
  const Outcome outcome = run(tiny({"--out", "a"}));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  expect_sentence(outcome.err, {"File too large"});
}

TEST_F(Trust, APruningKilledInFineTuningIsCompletedByResuming) {
  done(tiny({"--out", "a", "--eval-every", "1", "--eval-examples", "1"}));
  Process process(typed("prune a --keep 2 --method magnitude --finetune 300 --out b"), waiting());
  ASSERT_TRUE(process.wait_for("step 5/"));
  EXPECT_TRUE(holds(file("b/prune.json"), "\"unfinished\": true"));
  process.signal(SIGKILL);
  process.finish();
  done({"train", "--resume", "b", "--eval-every", "100"});
  const Json complete = kept("b/prune.json");
  EXPECT_EQ(complete.find("unfinished"), nullptr);
  EXPECT_EQ(complete.at("after").at("loss"),
            done({"eval", "b", "--examples", "1", "--json"}).json().at("loss"));
}

TEST_F(Trust, AnInterruptedCurveKeepsWhatItHasAndSaysHowToGoOn) {
  done(tiny({"--out", "a"}));
  const Words words =
      typed("curve a --methods magnitude,random --draws 1000 --examples 4 --judged 4 --sizes 2");
  Process process(words, waiting());  // its 1,000 lines fill the pipe many times
  const Outcome outcome = process.signalled("random, draw 5", SIGINT);
  EXPECT_EQ(outcome.status, 130);
  expect_parts(
      outcome.err,
      {"hint: give the same command again to continue: headlab curve a --methods magnitude,"});
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "curve.json"));
  // The same command goes on, and takes the parts that are finished.
  const Outcome again = done(words);
  EXPECT_TRUE(holds(again.err, "a: random")) << again.err;
  EXPECT_FALSE(holds(again.err, "a: magnitude")) << again.err;
  const Json whole = kept("a/curve.json");
  EXPECT_EQ(whole.at("methods").items()[0].at("method").string(), "magnitude");
  EXPECT_EQ(whole.at("methods").items()[1].at("method").string(), "random");
}

TEST_F(Trust, NoEscapeSequenceReachesATerminalAndNoMessageIsEndless) {
  write_file(folder.path() / "c.json", "{\"\\u001b[31mred\": 1}");
  const Outcome red = run({"train", "--config", "c.json"});
  EXPECT_EQ(red.err.find('\x1b'), std::string::npos) << red.err;
  EXPECT_TRUE(holds(red.err, "\\x1B[31mred")) << red.err;
  write_file(folder.path() / "c.json", "{\"" + std::string(1 << 20, 'x') + "\": 1}");
  EXPECT_LT(run({"train", "--config", "c.json"}).err.size(), 5000u);
}

TEST_F(Trust, ATerminalWithoutANameGetsNoEscapeSequences) {
  for (const char* kind : {"TERM=dumb", "TERM=", "TERM"}) {
    ProcessOptions options{.folder = folder.path(), .terminal = true, .environment = {kind}};
    const Words words = tiny({"--out", "a", "--force", "--steps", "300"});
    const Outcome outcome = Process(words, options).finish();
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << kind << outcome.out;
  }
  ProcessOptions options{.folder = folder.path(), .terminal = true, .environment = {"TERM=xterm"}};
  const Words words = tiny({"--out", "a", "--force", "--steps", "300"});
  EXPECT_TRUE(holds(Process(words, options).finish().out, "\x1b[K"));
}

TEST_F(Trust, AModelBeyondMemoryIsRefusedWithTheFigure) {
  if (machine_memory() > std::size_t{50} << 30) GTEST_SKIP() << "this machine could hold it";
  expect_refused(run(typed("train --d-model 8192 --layers 7 --heads 1 --out a")), 2,
                 {"52.", "GB of memory", "smaller model"});
  EXPECT_TRUE(contents(folder.path()).empty());
}

TEST_F(Trust, RunsShowsTheLossOfTheStepThatTheStateIsAt) {
  done(tiny({"--out", "a"}));
  const auto loss = [&] {
    return done({"runs", "a", "--json"}).json().at("runs").items()[0].at("loss").dump();
  };
  const std::string before = loss();
  EXPECT_EQ(before, done({"eval", "a", "--examples", "32", "--json"}).json().at("loss").dump());
  append_json(folder.path() / "a" / "metrics.jsonl", stamped({{"step", 99}, {"loss", .003}}));
  EXPECT_EQ(loss(), before);
}

TEST_F(Trust, RunsCountsThoseThatItCannotRead) {
  done(tiny({"--out", "r/a"}));
  done(tiny({"--out", "r/b"}));
  write_file(folder.path() / "r/a/metrics.jsonl", "{\"step\":1\n" + file("r/a/metrics.jsonl"));
  const Outcome one = run({"runs", "r"});
  EXPECT_EQ(one.status, 1);
  expect_parts(one.out, {"r/b", "1 could not be read\n"});
  fs::remove_all(folder.path() / "r/b");
  expect_parts(run({"runs", "r"}).out, {"there is no run that can be read below r\n"});
}

TEST_F(Trust, OutWritesOverNoFileOfARunThatAnotherCommandMade) {
  done(tiny({"--out", "a"}));
  done({"heads", "a"});
  done({"page", "a"});
  const auto before = contents(folder.path());
  for (const Words& words : {Words{"heads", "a", "--out", "a/config.json"},
                             {"page", "a", "--out", "a/state.safetensors"},
                             {"ablate", "a", "--out", "a/heads.json"},
                             {"heads", "a", "--out", "a/metrics.jsonl"},
                             {"heads", "a", "--out", "a/report.html"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 1) << words.back();
    EXPECT_TRUE(holds(outcome.err, "it belongs to a run")) << outcome.err;
    EXPECT_FALSE(holds(outcome.err, "replaced")) << outcome.err;
    EXPECT_EQ(contents(folder.path()), before) << words.back();
  }
  for (const Words& words : {Words{"eval", "a", "--npy", "a/model.safetensors"},
                             {"pattern", "a", "--grid", "--svg", "a/heads.json"}}) {
    EXPECT_EQ(run(words).status, 2) << "the ending is that of another format";
    EXPECT_EQ(contents(folder.path()), before) << words.back();
  }
  const Words own = {"heads", "a", "--out", "a/heads.json"};
  for (const char* name : {"./mine", "./mine", "headlab"})  // whatever the program is called
    EXPECT_EQ(Process(own, {.folder = folder.path(), .called = name}).finish().status, 0);
  done({"page", "a", "--out", "a/report.html"});
}

TEST_F(Trust, ResultsOfSeveralCommandsAtOnceAreAllKept) {
  done(tiny({"--out", "a"}));
  std::vector<std::unique_ptr<Process>> all;
  const ProcessOptions here{.folder = folder.path()};
  for (const char* examples : {"30", "31", "32", "33", "34", "35"})
    all.push_back(std::make_unique<Process>(Words{"ablate", "a", "--examples", examples}, here));
  for (const auto& process : all) EXPECT_EQ(process->finish().status, 0);
  EXPECT_EQ(kept("a/ablation.json").at("others").items().size(), 5u);
}

TEST_F(Trust, AFileThatIsNamedLikeALockIsLeftAndNamed) {
  done(tiny({"--out", "a"}));
  write_file(folder.path() / "a/.heads.json.lock", "mine");
  expect_parts(done({"heads", "a", "--examples", "30"}).err,
               {"note: kept without a lock: ", ".heads.json.lock", "a file of another kind\n"});
  EXPECT_EQ(file("a/.heads.json.lock"), "mine");
  EXPECT_TRUE(fs::exists(folder.path() / "a/heads.json"));
}

TEST_F(Trust, NamesNeitherSteerATerminalNorMakeRows) {
  const std::string name = "a\x1b]0;title\x07\nb";
  done(tiny({"--out", name}));
  fs::create_directory(folder.path() / "other");
  for (const Words& words : {Words{"runs", "."}, {"eval", name}, {"heads", name}}) {
    const std::string said = done(words).out;
    EXPECT_EQ(said.find_first_of("\x1b\x07"), said.npos) << said;
  }
  const std::string rows = done({"runs", "."}).out;
  EXPECT_EQ(rows.find("\nb"), rows.npos) << rows;
  const std::string again = done({"eval", name}).out;
  EXPECT_TRUE(holds(again, "command: headlab eval $'a\\x1B]0;title\\x07\\x0Ab'\n")) << again;
}

TEST_F(Trust, AFlagGivenTwiceIsRefused) {
  for (const Words& words : {Words{"list", "tasks", "--threads", "1", "--threads=2"},
                             {"train", "--tied", "--no-tied", "--out", "a"},
                             {"list", "tasks", "--json", "--csv"}})
    EXPECT_EQ(run(words).status, 2) << words[0];
}

}  // namespace
}  // namespace headlab::cli
