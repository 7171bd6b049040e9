// Ctrl-C: training saves and says how to go on, going on gives the same bits as never stopping, and
// a second Ctrl-C ends the program at once. No test sleeps and hopes: stderr is a small pipe, so a
// program that is not read must wait in the middle of its work for as long as the test likes.
#include <chrono>

#include "cli/program.h"
#include "headlab/core/base/safetensors.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

constexpr int kSteps = 300;  // with a line each: more than the pipe holds

/// Settings of a run that says something after every step.
Words talkative(Words more) {
  return tiny(with_preset(std::move(more), {"--eval-every", "1", "--eval-examples", "1", "--steps",
                                            std::to_string(kSteps), "--save-every", "70"}));
}

class Interrupt : public Program {
 protected:
  /// The state without the seconds it took.
  std::vector<std::pair<std::string, std::string>> state(const std::string& run_name) const {
    std::vector<std::pair<std::string, std::string>> tensors;
    for (const StoredTensor& tensor :
         read_safetensors(folder.path() / run_name / "state.safetensors").tensors) {
      const bool holds_seconds = tensor.name == "trainer.sums";
      tensors.emplace_back(tensor.name, holds_seconds ? tensor.bytes.substr(0, 16) : tensor.bytes);
    }
    return tensors;
  }

  /// The steps that metrics.jsonl has a line for.
  std::vector<std::int64_t> evaluated(const std::string& run_name) const {
    std::vector<std::int64_t> steps;
    for (const Json& line : read_log(folder / run_name / "metrics.jsonl"))
      steps.push_back(line.at("step").integer());
    return steps;
  }
};

TEST_F(Interrupt, SavesTheRunAndSaysHowToContinue) {
  Process process(talkative({"--out", "a", "--json"}), waiting());
  const Outcome outcome = process.signalled("step 5/", SIGINT);
  EXPECT_EQ(outcome.status, 130);
  expect_parts(outcome.err, {"hint: to continue it: headlab train --resume a\n"});
  const auto steps = outcome.json().at("steps").integer();
  EXPECT_GE(steps, 5);
  EXPECT_LT(steps, kSteps);
  EXPECT_TRUE(holds(outcome.err, "interrupted at step " + std::to_string(steps) + " of 300"));
  EXPECT_EQ(done({"eval", "a", "--examples", "1", "--json"}).json().at("loss"),
            outcome.json().at("loss"));
}

TEST_F(Interrupt, CommandToContinueNamesTheProgramOfTheTask) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  const std::string program = "python3 " HEADLAB_SOURCE_DIR "/examples/tasks/modular.py";
  Process process(talkative({"--task", "command:" + program, "--out", "a"}), waiting());
  const std::string said = process.signalled("step 5/", SIGINT).err,
                    hint = "hint: to continue it: ";
  expect_parts(said, {hint + "HEADLAB_COMMAND='" + program + "' headlab train --resume a\n"});
  const Outcome resumed =
      run({"train", "--resume", "a"}, {.environment = {"HEADLAB_COMMAND=" + program}});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(Interrupt, MayBeSaidByTheSystemThatEndsAJobOrHangsUp) {
  for (const auto& [signal, run] : {std::pair(SIGUSR1, "a"), {SIGHUP, "b"}}) {
    Process process(talkative({"--out", run}), waiting());
    const Outcome outcome = process.signalled("step 5/", signal);
    EXPECT_EQ(outcome.status, 130);
    expect_parts(outcome.err, {"the run is saved", text("headlab train --resume ", run)});
  }
}

TEST_F(Interrupt, ClosedOutputDoesNotStopTraining) {
  Process process(talkative({"--out", "a"}), waiting());
  ASSERT_TRUE(process.wait_for("step 5/"));
  process.close_stderr();
  EXPECT_EQ(process.finish().status, 0);
  EXPECT_EQ(done({"runs", "a", "--json"}).json().at("runs").items()[0].at("step").integer(),
            kSteps);
}

TEST_F(Interrupt, MissingConfigIsAnError) {
  Process process(talkative({"--out", "a"}), waiting());
  ASSERT_TRUE(process.wait_for("step 5/"));
  fs::remove(folder.path() / "a" / "config.json");
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "config.json disappeared")) << outcome.err;
}

TEST_F(Interrupt, GoesOnAsIfItHadNeverStopped) {
  Process process(talkative({"--out", "a", "--dropout", "0.1"}), waiting());
  ASSERT_EQ(process.signalled("step 9/", SIGTERM).status, 130);
  done({"train", "--resume", "a"});
  done(talkative({"--out", "b", "--dropout", "0.1"}));
  EXPECT_EQ(state("a"), state("b"));
  EXPECT_EQ(file("a/model.safetensors"), file("b/model.safetensors"));
  std::vector<std::int64_t> all;
  for (int step = 1; step <= kSteps; ++step) all.push_back(step);
  EXPECT_EQ(evaluated("a"), all);
}

TEST_F(Interrupt, KilledWithoutWarningGoesOnFromTheLastSave) {
  Process process(talkative({"--out", "a", "--save-every", "4"}), waiting());
  ASSERT_EQ(process.signalled("step 9/", SIGKILL).status, -SIGKILL);
  const Outcome resumed = done({"train", "--resume", "a"});
  EXPECT_FALSE(holds(resumed.err, "at step 0 of")) << resumed.err;
  done(talkative({"--out", "b", "--save-every", "0"}));
  EXPECT_EQ(state("a"), state("b"));
  EXPECT_EQ(evaluated("a"), evaluated("b"));
}

TEST_F(Interrupt, TheSecondTimeEndsAtOnce) {
  Process process(talkative({"--out", "a"}), waiting());
  ASSERT_TRUE(process.wait_for("step 1/"));
  if (!process.wait_until_blocked()) GTEST_SKIP() << "pipes are large here";
  process.signal(SIGINT);  // it cannot come to an end: no process reads its output
  bool ended = false;
  for (int i = 0; i < 1000 && !ended; ++i) {
    ended = process.ends_within(20);
    if (!ended) process.signal(SIGINT);
  }
  ASSERT_TRUE(ended) << "it still waits";
  EXPECT_EQ(process.finish().status, -SIGINT);
}

TEST_F(Interrupt, FinetuningIsSavedToo) {
  done(tiny({"--out", "a", "--eval-every", "1", "--eval-examples", "1"}));
  const Words words = {"prune",    "a",         "--keep", "2", "--finetune", std::to_string(kSteps),
                       "--method", "magnitude", "--json"};
  Process process(with(words, {"--out", "b"}), waiting());
  const Outcome outcome = process.signalled("step 5/300", SIGINT);
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(outcome.json().at("kept").items().size(), 2u);
  EXPECT_TRUE(holds(outcome.err, "headlab train --resume b\n")) << outcome.err;
  const Json record = kept("b/prune.json");
  EXPECT_EQ(record.at("finetuned"), outcome.json().at("finetuned"));
  EXPECT_GE(record.at("finetuned").integer(), 5);
  EXPECT_EQ(record.at("weights"), outcome.json().at("weights"));
  done({"train", "--resume", "b", "--quiet"});
  EXPECT_EQ(kept("b/prune.json").find("unfinished"), nullptr);
  done(with(words, {"--out", "c"}));
  EXPECT_EQ(state("b"), state("c"));
}

TEST_F(Interrupt, InterruptedAnalysisLeavesNoFile) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path() / "a");
  // On this many examples, and with this many steps, each takes seconds.
  for (const auto& [said, line] :
       {std::pair("choosing", "prune a --keep 1 --out b --examples 500000"),
        {"choosing", "prune a --keep 1 --out b --method l0 --gate-steps 1000000"},
        {" done, ", "ablate a --examples 500000"},
        {" done, ", "heads a --examples 100000"}}) {
    Process process(typed(line), waiting());
    const Outcome outcome = process.signalled(said, SIGINT);
    EXPECT_EQ(outcome.status, 130) << line;
    EXPECT_TRUE(holds(outcome.err, "interrupted: unfinished results are not kept\n")) << line;
    EXPECT_FALSE(fs::exists(folder.path() / "b"));
    EXPECT_EQ(contents(folder.path() / "a"), before);
  }
}

/// Commands that would take minutes, in this process and in others, and what it says first.
const std::pair<const char*, const char*> kLong[] = {
    {"a: l0", "curve a --methods l0 --gate-steps 1000000 --sizes 1"},
    {"a: subset", "curve a --methods l0,subset --gate-steps 1000000 --sizes 1 --threads 2"}};

TEST_F(Interrupt, StopsJobsAtOnceAndLeavesNoProcess) {
  done(tiny({"--out", "a"}));
  for (const auto& [said, line] : kLong)
    for (const int signal : {SIGINT, SIGKILL}) {
      Process process(typed(line), {.folder = folder.path()});
      ASSERT_TRUE(process.wait_for(said));
      const auto begin = std::chrono::steady_clock::now();
      process.signal(signal);
      const Outcome outcome = process.finish();  // which waits for all who hold stderr
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
      if (signal == SIGKILL) continue;
      EXPECT_EQ(outcome.status, 130);
      EXPECT_TRUE(holds(outcome.err, "interrupted; finished results are kept\n")) << outcome.err;
    }
}

}  // namespace
}  // namespace headlab::cli
