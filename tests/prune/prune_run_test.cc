// Pruning a run: the new run is whole (it opens, trains, resumes, scores and prunes again), the old
// one is untouched, and what cannot be done is refused before anything is written.
#include <algorithm>

#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/stored_json.h"
#include "support/models.h"
#include "support/runs.h"

namespace headlab { namespace {

/// A run of two layers with three and two heads, trained a little.
class PrunedRun : public testing::Test {
 protected:
  PrunedRun() : run_(create_run(folder_ / "full", config())) { train_run(run_); }
  static RunConfig config() { return tiny_config("layers=2 heads=3+2 d_head=4 steps=20"); }
  PruneResult prune(const std::string& name, PruneOptions options) {
    options.settings.examples = 32;
    return prune_run(run_, folder_ / name, options);
  }

  TemporaryFolder folder_;
  TrainedRun run_;
};

TEST_F(PrunedRun, OpensWithTheHeadsThatWereKept) {
  const PruneResult result = prune("pruned", {.keep = 3});
  EXPECT_EQ(result.kept.size(), 3u);
  EXPECT_EQ(result.removed.size(), 2u);
  TrainedRun pruned = open_run(folder_ / "pruned");
  EXPECT_EQ(all_heads(pruned.model), result.kept);
  EXPECT_EQ(result.weights, weights_hash(pruned.model));
  EXPECT_EQ(pruned.config.parent, run_.path.string());
  EXPECT_EQ(pruned.model.parameter_count(), result.after.parameters);
  EXPECT_LT(result.after.parameters, result.before.parameters);
}

TEST_F(PrunedRun, LeavesTheOldRunAlone) {
  const std::vector<double> before = parameters_in(run_.model);
  const std::string state = read_file(state_file(run_)), settings = read_file(config_file(run_));
  prune("pruned", {.keep = 2, .finetune = 10});
  EXPECT_EQ(parameters_in(run_.model), before);
  EXPECT_EQ(read_file(state_file(run_)), state);
  EXPECT_EQ(read_file(config_file(run_)), settings);
}

TEST_F(PrunedRun, ComputesForEveryMaskWhatGatesOfZeroCompute) {
  const NoGrad no_grad;
  const std::vector<HeadId> heads = all_heads(run_.model);
  const Batch batch = random_batch(run_.config.model, 3, 8);
  for (unsigned mask = 0; mask < 32; ++mask) {
    std::vector<HeadId> kept;
    for (std::size_t h = 0; h < heads.size(); ++h)
      if ((mask >> h & 1) != 0) kept.push_back(heads[h]);
    const Transformer removed = remove_heads(run_.model, kept);
    create_run(folder_ / "masked", run_.config, removed, Existing::replace);
    const ModelHooks hooks{.interventions = gates_for(run_.model, kept)};
    const Tensor gated = run_.model.forward(batch, {}, hooks);
    expect_near(removed.forward(batch), gated, 1e-5, text("mask ", mask));
    expect_near(open_run(folder_ / "masked").model.forward(batch), gated, 1e-5,
                text("mask ", mask, " after save and load"));
  }
}

TEST_F(PrunedRun, TrainsAndResumesBitForBit) {
  prune("pruned", {.keep = 3, .finetune = 20});
  const TrainedRun straight = open_run(folder_ / "pruned");
  EXPECT_EQ(straight.config.train.steps, 20);
  prune("resumed", {.keep = 3});
  TrainedRun resumed = open_run(folder_ / "resumed");
  resumed.config.train = straight.config.train;
  save_config(resumed);
  int left = 7;
  train_run(resumed, {{.should_stop = [&] { return --left == 0; }}});
  TrainedRun again = open_run(folder_ / "resumed");
  EXPECT_TRUE(train_run(again).finished);
  EXPECT_EQ(timeless_state(again), timeless_state(straight));
  EXPECT_EQ(timeless_metrics(again), timeless_metrics(straight));
}

TEST_F(PrunedRun, TracksItsHeadsAsTheRunDid) {
  prune("untracked", {.keep = 3, .finetune = 10});
  EXPECT_FALSE(fs::exists(folder_ / "untracked" / "heads.jsonl"));
  run_.config.track_heads = 4;
  const PruneResult result = prune("tracked", {.keep = 3, .finetune = 10});
  const HeadsHistory history = read_heads_history(open_run(folder_ / "tracked"));
  EXPECT_EQ(history.steps, (std::vector<Index>{4, 8, 10}));
  for (const RelationHistory& relation : history.relations)
    EXPECT_NE(std::find(result.kept.begin(), result.kept.end(), relation.best), result.kept.end());
  EXPECT_EQ(timeless_state(open_run(folder_ / "tracked")),
            timeless_state(open_run(folder_ / "untracked")));
}

TEST_F(PrunedRun, FinetunesAtAThirdOfTheRateByDefault) {
  prune("third", {.keep = 3, .finetune = 5});
  EXPECT_DOUBLE_EQ(open_run(folder_ / "third").config.train.lr, 0.3 * config().train.lr);
  prune("told", {.keep = 3, .finetune = 5, .lr = 0.5});
  EXPECT_EQ(open_run(folder_ / "told").config.train.lr, 0.5);
}

TEST(PruningText, NamesTheRateOnlyIfItIsSet) {
  EXPECT_EQ(pruning_text({.keep = 3}).find("lr="), std::string::npos);
  EXPECT_NE(pruning_text({.keep = 3, .lr = 0.5}).find(" lr=0.5 "), std::string::npos);
}

TEST_F(PrunedRun, FinetuningLowersTheLoss) {
  const PruneResult result = prune("pruned", {.keep = 2, .finetune = 200});
  EXPECT_LT(result.after.loss, result.removed_only.loss);
  EXPECT_EQ(result.after.parameters, result.removed_only.parameters);
  const TrainedRun pruned = open_run(folder_ / "pruned");
  EXPECT_EQ(evaluate(pruned.model, *pruned.task, {.examples = config().train.eval_examples}).loss,
            result.after.loss);
}

/// A run whose fine-tuning was interrupted and then continued.
TEST_F(PrunedRun, RecordOfAContinuedRunLosesOnlyItsMark) {
  prune("pruned", {.keep = 2, .finetune = 30});
  const std::filesystem::path file = folder_ / "pruned" / "prune.json";
  const Json before = read_json(file);
  Json marked = before;
  marked["unfinished"] = true;
  write_json(file, marked);
  update_prune_record(open_run(folder_ / "pruned"));
  const auto keys_of = [](const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.members()) keys.push_back(key);
    return keys;
  };
  const Json after = read_json(file);
  EXPECT_EQ(keys_of(after), keys_of(before));
  EXPECT_EQ(after.at("kept"), before.at("kept"));
}

/// The file describes the model after fine-tuning, not what it was before.
TEST_F(PrunedRun, RecordDescribesTheFinetunedModel) {
  const PruneResult result = prune("pruned", {.keep = 2, .finetune = 30});
  const Json record = read_json(folder_ / "pruned" / "prune.json");
  const TrainedRun pruned = open_run(folder_ / "pruned");
  const Evaluation now =
      evaluate(pruned.model, *pruned.task, {.examples = config().train.eval_examples});
  EXPECT_EQ(record.at("after").at("loss").number(), now.loss);
  EXPECT_NE(record.at("without_finetuning").at("loss").number(), now.loss);
  EXPECT_EQ(record.at("weights").string(), weights_hash(pruned.model));
  EXPECT_EQ(record.at("finetuned").integer(), 30);
  EXPECT_EQ(record.at("step").integer(), 30);
  EXPECT_EQ(record.find("unfinished"), nullptr);
  EXPECT_EQ(record.at("steps").integer(), config().train.steps) << "that the run had";
  EXPECT_EQ(record.at("gate_steps").integer(), 0);
  EXPECT_EQ(record.at("models").items().back().at("loss").number(), now.loss);
  EXPECT_EQ(trained_steps(pruned), config().train.steps + 30);
  EXPECT_TRUE(result.gates.empty());
  EXPECT_EQ(record.find("gates"), nullptr) << "no method with gates";
}

TEST_F(PrunedRun, RecordOfL0SaysWhichGatesClosed) {
  PruneOptions options{.method = "l0", .keep = 2};
  options.settings.gate_steps = 4;
  options.settings.penalty = 0;  // no gate has a reason to close
  prune("open", options);
  const Json open = read_json(folder_ / "open" / "prune.json");
  EXPECT_EQ(open.at("gates_closed").integer(), 0);
  ASSERT_EQ(open.at("gates").items().size(), 5u);
  std::size_t kept = 0;
  for (const Json& gate : open.at("gates").items()) {
    EXPECT_GT(gate.at("gate").number(), 0);
    kept += gate.at("kept").boolean() ? 1 : 0;
  }
  EXPECT_EQ(kept, 2u);
  EXPECT_EQ(open.at("gate_steps").integer(), 4);
}

/// The result separates heads that the gates chose from heads that their rank chose.
TEST(PruneResult, CountsTheGatesThatClosedByThemselves) {
  PruneResult result;
  result.kept = {{0, 0}, {0, 1}};
  result.removed = {{0, 2}, {1, 0}, {1, 1}};
  result.gates = {0, 0.5, 0, 0.7, 0};
  const Result found = result_of(result);
  EXPECT_EQ(found.about.at("gates_closed").integer(), 3);
  EXPECT_EQ(found.table("gates").title,
            "3 of 5 gates closed during training; 1 head with an open gate removed by rank; 1 head "
            "with a closed gate kept by rank");
  EXPECT_EQ(found.table("gates").cells("gate")[3].number(), 0.7);
  EXPECT_FALSE(found.table("gates").cells("kept")[3].boolean());
}

TEST_F(PrunedRun, ScoresAndPrunesAgainUnderTheOldNumbers) {
  const PruneResult first = prune("first", {.keep = 3});
  TrainedRun pruned = open_run(folder_ / "first");
  const HeadsReport report = score_heads(pruned.model, *pruned.task, {.examples = 10});
  ASSERT_EQ(report.heads.size(), 3u);
  for (std::size_t h = 0; h < 3; ++h) {
    EXPECT_EQ(report.heads[h].attention_layer, first.kept[h].attention_layer);
    EXPECT_EQ(report.heads[h].head, first.kept[h].head);
  }
  const PruneResult second = prune_run(pruned, folder_ / "second",
                                       {.keep = 1, .settings = {.examples = 32}, .finetune = 3});
  EXPECT_EQ(std::count(first.kept.begin(), first.kept.end(), second.kept[0]), 1);
  EXPECT_EQ(all_heads(open_run(folder_ / "second").model), second.kept);
}

TEST_F(PrunedRun, MayKeepNoHead) {
  const PruneResult result = prune("none", {.keep = 0, .finetune = 5});
  EXPECT_TRUE(result.kept.empty());
  TrainedRun none = open_run(folder_ / "none");
  EXPECT_TRUE(all_heads(none.model).empty());
  EXPECT_TRUE(score_heads(none.model, *none.task, {.examples = 4}).heads.empty());
  EXPECT_NO_THROW(prune_run(none, folder_ / "none again", {.keep = 0}));
}

TEST_F(PrunedRun, MayKeepAllHeads) {
  const PruneResult result = prune("all", {.keep = 5});
  EXPECT_TRUE(result.removed.empty());
  EXPECT_EQ(parameters_in(open_run(folder_ / "all").model), parameters_in(run_.model));
  EXPECT_EQ(result.after.loss, result.before.loss);
}

TEST_F(PrunedRun, RefusesWhatCannotBeDoneAndWritesNothing) {
  expect_error([&] { prune("out", {.keep = 6}); }, {"cannot keep 6 heads", "has 5"});
  expect_error([&] { prune("out", {.keep = -1}); }, {"cannot keep -1 heads"});
  expect_error([&] { prune("out", {.method = "gready", .keep = 1}); }, {"'greedy'"});
  expect_error([&] { prune("out", {.keep = 1, .finetune = -5}); }, {"steps must be"});
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(PrunedRun, RefusesToKeepAHeadTwiceOrOneThatIsGone) {
  using Heads = std::vector<HeadId>;
  expect_error([&] { remove_heads(run_.model, Heads{{0, 1}, {0, 1}}); }, {"head 1", "twice"});
  expect_error([&] { remove_heads(run_.model, Heads{{2, 0}}); }, {"attention layer 2"});
  const Transformer pruned = remove_heads(run_.model, Heads{{0, 1}, {1, 0}});
  expect_error([&] { remove_heads(pruned, Heads{{0, 2}}); }, {"head 2", "cannot keep heads"});
}

TEST_F(PrunedRun, RefusesToDropHeadsThatALayerMustKeep) {
  expect_error([&] { prune("out", {.drop = 60, .settings = {.per_layer_min = 2}}); },
               {"cannot keep 2 heads: the attention layers keep 4"});
  EXPECT_EQ(prune("out", {.drop = 20, .settings = {.per_layer_min = 2}}).kept.size(), 4u);
}

TEST_F(PrunedRun, RefusesAFolderThatIsTakenAndItsOwn) {
  const std::string state = read_file(state_file(run_));
  create_run(folder_ / "taken", tiny_config());
  expect_error([&] { prune("taken", {.keep = 1}); }, {"already exists", "replace it"});
  for (bool force : {false, true}) {
    expect_error([&] { prune("full", {.keep = 1, .force = force}); }, {"is the run itself"});
    expect_error(
        [&] {
          prune("../" + folder_.path().filename().string() + "/full/./",
                {.keep = 1, .force = force});
        },
        {"is the run itself"});
  }
  EXPECT_EQ(read_file(state_file(run_)), state);
  EXPECT_NO_THROW(prune("taken", {.keep = 1, .force = true}));
  EXPECT_EQ(all_heads(open_run(folder_ / "taken").model).size(), 1u);
}

}  // namespace
}  // namespace headlab
