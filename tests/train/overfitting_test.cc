// Overfitting is named when the held-out loss rose after its best while the training loss fell, and
// in no other case. The logs are written by hand.
#include "headlab/lab/results/stored_json.h"
#include "support/runs.h"

namespace headlab { namespace {

class Overfitted : public testing::Test {
 protected:
  /// A run on finite data whose log holds these held-out and training losses, 10 steps apart.
  TrainedRun run_with(const std::vector<std::pair<double, double>>& losses) {
    RunConfig config = tiny_config("steps=60");
    std::string lines;
    for (int i = 0; i < 400; ++i) lines += text("a dog saw ", i % 7, " cats near ", i % 11, ".\n");
    write_file(folder_ / "words.txt", lines);
    config.task = text("text:file=", (folder_ / "words.txt").string(), ",length=8");
    return logged(create_run(folder_ / "run", config, Existing::replace), losses);
  }
  static TrainedRun logged(TrainedRun run, const std::vector<std::pair<double, double>>& losses) {
    Index step = 0;
    for (const auto& [held_out, train] : losses)
      append_log(run, metrics_file(run),
                 stamped({{"step", step += 10},
                          {"loss", held_out},
                          {"accuracy", 0.5},
                          {"train_loss", train}}));
    return run;
  }

  TemporaryFolder folder_;
};

TEST_F(Overfitted, RunIsNamedWithItsBestStep) {
  const TrainedRun run = run_with({{2, 2}, {1.75, 1.5}, {1.9, 1}, {2.05, 0.7}});
  const std::optional<Overfitting> found = overfitting_of(run);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best_step, 20);
  EXPECT_EQ(found->best_loss, 1.75);
  EXPECT_EQ(found->step, 40);
  EXPECT_EQ(found->loss, 2.05);
  const std::string said = overfitting_text(run);
  EXPECT_NE(said.find("lowest at step 20 (1.75) and is 2.05 at step 40, while the training loss "
                      "fell from 1.5 to 0.7"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("@best"), std::string::npos) << "there are no best weights";
  write_file(best_file(run), "");
  EXPECT_NE(overfitting_text(run).find("the weights of step 20: `headlab eval "),
            std::string::npos);
}

TEST_F(Overfitted, IsNotWhatWobblesOrStillFalls) {
  EXPECT_FALSE(overfitting_of(run_with({})));
  EXPECT_FALSE(overfitting_of(run_with({{2, 2}})));
  EXPECT_FALSE(overfitting_of(run_with({{2, 2}, {1.5, 1.5}})));
  EXPECT_FALSE(overfitting_of(run_with({{2, 2}, {1.5, 1.5}, {1.51, 1.4}}))) << "by less than 1%";
  EXPECT_FALSE(overfitting_of(run_with({{2, 2}, {1.5, 1.5}, {1.7, 1.6}}))) << "both losses rose";
  EXPECT_EQ(overfitting_text(run_with({{2, 2}, {1.5, 1.5}})), "");
}

TEST_F(Overfitted, IsNotATaskThatMakesNewDataForEachStep) {
  const TrainedRun run =
      logged(create_run(folder_ / "endless", tiny_config()), {{2, 2}, {1.75, 1.5}, {2.05, 0.7}});
  EXPECT_FALSE(overfitting_of(run));
}

}  // namespace
}  // namespace headlab
