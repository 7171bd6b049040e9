// Runs of every attention function and of alibi positions, as users make them: train, score, prune,
// page, sample; and where commands say that something assumes softmax.
#include "cli/program.h"
#include "headlab/core/model/config.h"

namespace headlab::cli { namespace {

struct AttentionFunctions : Program {
  /// Trains a small run with these flags.
  void train(const std::string& flags, const std::string& out) {
    const std::string sizes = "--task relations:length=8,vocab=6 --layers 1 --heads 2 --d-model 16";
    const std::string steps = " --steps 4 --eval-examples 16 --batch 4 --force --out " + out;
    done(typed("train " + sizes + steps + (flags.empty() ? "" : " ") + flags));
  }
};

TEST_F(AttentionFunctions, TrainScorePruneAndShowARunOfEachRow) {
  std::vector<std::string> all = {"--positions alibi"};
  for (const AttentionFunctionEntry& function : attention_functions()) {
    all.push_back(text("--attention-function ", function.name));
  }
  for (const std::string& flags : all) {
    SCOPED_TRACE(flags);
    train(flags, "run");
    EXPECT_FALSE(done(typed("heads run --examples 32")).out.empty());
    EXPECT_FALSE(done(typed("pattern run 0.1")).out.empty());
    done(typed("ablate run --examples 32"));
    done(typed("prune run --method magnitude --keep 1 --out less --force"));
    EXPECT_EQ(done(typed("eval less --json")).json().find("loss") != nullptr, true);
    done(typed("page run --out page.html"));
    done(typed("circuits run"));
    done(typed("cost --model run"));
  }
}

TEST_F(AttentionFunctions, FilesOfSoftmaxDoNotNameIt) {
  train("", "plain");
  train("--attention-function softmax", "named");
  EXPECT_EQ(file("plain/config.json"), file("named/config.json"));
  EXPECT_FALSE(holds(file("plain/config.json"), "attention_function"));
  train("--attention-function sigmoid", "other");
  EXPECT_TRUE(holds(file("other/config.json"), "\"attention_function\": \"sigmoid\""));
}

TEST_F(AttentionFunctions, HeadsShowsTheSumOfRowsWhereItIsNotOne) {
  train("--attention-function sigmoid", "other");
  EXPECT_TRUE(holds(done(typed("heads other --scores --examples 32")).out, "row_sum"));
  train("", "plain");
  EXPECT_FALSE(holds(done(typed("heads plain --scores --examples 32")).out, "row_sum"));
}

TEST_F(AttentionFunctions, ExplainRefusesAndCircuitsNotesOtherFunctions) {
  train("--attention-function sigmoid --positions alibi", "other");
  EXPECT_TRUE(holds(run(typed("explain attention other")).err, "`sigmoid` attention"));
  const std::string circuits = done(typed("circuits other")).out;
  EXPECT_TRUE(holds(circuits, "do not sum to 1")) << circuits;
  EXPECT_TRUE(holds(circuits, "distance bias of alibi positions is left out")) << circuits;
}

TEST_F(AttentionFunctions, CostCountsTheOperationsOfTheFunction) {
  const std::string cost = done(typed("cost --attention-function sigmoid")).out;
  EXPECT_TRUE(holds(cost, "4 B H T S")) << cost;
  EXPECT_TRUE(holds(cost, "sigmoid has no fused form")) << cost;
}

TEST_F(AttentionFunctions, UnknownNamesListTheRows) {
  const std::string error = run(typed("train --attention-function sigmoidd --out x")).err;
  EXPECT_TRUE(holds(error, "softmax, softmax_composed, sigmoid, softmax_one")) << error;
}

}  // namespace
}  // namespace headlab::cli
