// The log of heads over a training: it says what score_heads says, and it is the same however often
// the run was stopped. Read next: tracking_train_test.cc, in which a circuit emerges.
#include "headlab/lab/heads/scores/tracking.h"

#include <fstream>

#include "headlab/core/base/text.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/runs.h"

namespace headlab { namespace {

RunConfig tracked_config() { return tiny_config("track_heads=9"); }

/// Trains on with tracking until `stop` steps are done (-1: to the end).
void train_tracked(const fs::path& folder, Index stop = -1, Index die = -1) {
  TrainedRun run = open_run(folder);
  Index done = -1;
  RunCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { done = record.step; };
  callbacks.should_stop = [&] { return done == stop; };
  callbacks.after_step = [&](Index step) { require(step != die, "the process dies"); };
  train_run(run, track_heads(run, callbacks));
}

class Tracking : public testing::Test {
 protected:
  Tracking() {
    create_run(folder_ / "straight", tracked_config());
    train_tracked(folder_ / "straight");
    create_run(folder_ / "run", tracked_config());
  }
  std::string log(const char* name) const { return read_file(folder_ / name / "heads.jsonl"); }

  TemporaryFolder folder_;
};

TEST_F(Tracking, ScoresAtItsStepsAndAtTheLast) {
  const HeadsHistory history = read_heads_history(open_run(folder_ / "straight"));
  EXPECT_EQ(history.steps, (std::vector<Index>{9, 18, 27, 36, 45, 54, 60}));
  ASSERT_EQ(history.relations.size(), 2u);
  EXPECT_EQ(history.relations[1].name, "same");
  EXPECT_EQ(history.relations[1].lifts.size(), 7u);
}

TEST_F(Tracking, EndsWithTheScoresOfTheModel) {
  TrainedRun run = open_run(folder_ / "straight");
  const HeadsReport report = score_heads(run.model, *run.task, {.examples = 128});
  const HeadsHistory history = read_heads_history(run);
  for (std::size_t r = 0; r < 2; ++r) {
    const HeadScores& best = report.heads[report.relations[r].best];
    EXPECT_EQ(history.relations[r].best, (HeadId{best.attention_layer, best.head}));
    EXPECT_EQ(history.relations[r].lifts.back(), best.relations[r].lift);
  }
}

TEST_F(Tracking, ChangesNothingInTheTraining) {
  RunConfig config = tracked_config();
  config.track_heads = 0;
  TrainedRun run = create_run(folder_ / "untracked", config);
  train_run(run, track_heads(run, {}));
  EXPECT_FALSE(fs::exists(heads_log_file(run)));
  EXPECT_EQ(timeless_state(run), timeless_state(open_run(folder_ / "straight")));
}

TEST_F(Tracking, IsTheSameWhenTheRunWasStopped) {
  for (const Index stop : {1, 9, 13, 20, 59, -1}) train_tracked(folder_ / "run", stop);
  EXPECT_EQ(log("run"), log("straight"));
}

TEST_F(Tracking, IsTheSameIfTheRunDiedAfterItsLastSave) {
  // The state is that of step 10 or 20, the log tells of 18 or 27.
  for (const Index death : {19, 29}) EXPECT_THROW(train_tracked(folder_ / "run", -1, death), Error);
  EXPECT_NE(log("run").find("\"step\":27,"), std::string::npos);
  std::ofstream(folder_ / "run" / "heads.jsonl", std::ios::app) << "{\"headlab\": \"0";
  train_tracked(folder_ / "run");
  EXPECT_EQ(log("run"), log("straight"));
}

TEST_F(Tracking, IsReplacedWithItsRun) {
  create_run(folder_ / "straight", tracked_config(), Existing::replace);
  expect_error([&] { read_heads_history(open_run(folder_ / "straight")); },
               {"no scores of heads over training"});
}

TEST_F(Tracking, SaysThatItsFileIsDamaged) {
  std::ofstream(folder_ / "run" / "heads.jsonl") << "{\"step\":9}\n";
  expect_error([&] { read_heads_history(open_run(folder_ / "run")); }, {"heads.jsonl"});
}

/// The history of one relation of one head with these lifts at steps 10, 20 ...
RelationHistory written(const fs::path& folder, const std::vector<double>& lifts) {
  std::ofstream log(folder / "heads.jsonl");
  for (std::size_t i = 0; i < lifts.size(); ++i) {
    log << R"({"step":)" << 10 * (i + 1) << R"(,"attention":["a"],"best":{"r":[0,1]},"heads":[)"
        << R"({"layer":0,"head":1,"lift":{"r":)" << number_text(lifts[i]) << "}}]}\n";
  }
  log.close();
  return read_heads_history(open_run(folder)).relations.at(0);
}

TEST_F(Tracking, EmergenceIsAtHalfOfTheFinalLift) {
  EXPECT_EQ(written(folder_ / "run", {0.1, 0.39, 0.4, 0.9, 0.8}).emergence_step, 30);
  EXPECT_EQ(written(folder_ / "run", {0.5}).emergence_step, 10);
  EXPECT_EQ(written(folder_ / "run", {NAN, 0.1, 0.5}).emergence_step, 30);
}

TEST_F(Tracking, SplitBeginsAtTheFirstStepOfTheLastSplit) {
  std::ofstream log(folder_ / "run" / "heads.jsonl");
  for (const char* by : {"", "distance", "position", "", "position"}) {
    static Index step = 0;
    log << R"({"step":)" << (step += 10) << R"(,"attention":["a"],"best":{"r":[0,0]},"heads":[)"
        << R"({"layer":0,"head":0,"lift":{"r":0.5}}],"divisions":[{"relation":"r","by":")" << by
        << "\"}]}\n";
  }
  log.close();
  const HeadsHistory history = read_heads_history(open_run(folder_ / "run"));
  EXPECT_EQ(history.relations[0].by, "position");
  EXPECT_EQ(history.relations[0].parted, 30);
  EXPECT_EQ(result_of(history).table("relations").cells("parted")[0], Json(30));
  EXPECT_EQ(written(folder_ / "run", {0.5}).parted, -1);  // logs without divisions
}

TEST_F(Tracking, NoteTellsRelationsWithoutAHeadFromThoseNotScored) {
  std::ofstream log(folder_ / "run" / "heads.jsonl");
  log << R"({"step":10,"attention":["a"],"best":{"found":[0,0],"missed":[0,0],"unscored":[0,0]},)"
      << R"("heads":[{"layer":0,"head":0,"lift":{"found":0.9,"missed":0.1,"unscored":null}}]})"
      << "\n";
  log.close();
  const Result result = result_of(read_heads_history(open_run(folder_ / "run")));
  EXPECT_EQ(result.table("relations").note,
            "step by step: --csv --table lifts\n"
            "no head has a role at the last step (lift below 0.3): missed\n"
            "not scored: no query asks for the keys, or every sequence has the same keys: "
            "unscored");
}

TEST_F(Tracking, RoleAbsentAtTheEndDoesNotEmerge) {
  EXPECT_EQ(written(folder_ / "run", {0.2, 0.9, 0.29}).emergence_step, -1);
  EXPECT_EQ(written(folder_ / "run", {0.2, NAN}).emergence_step, -1);
  EXPECT_EQ(written(folder_ / "run", {0.1, 0.3}).emergence_step, 20);
}

}  // namespace
}  // namespace headlab
