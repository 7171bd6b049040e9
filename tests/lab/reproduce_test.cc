// The experiments of two papers on small runs: each number against a plain computation of what it
// says, known answers where there are some (a model trained again is the same model), and that the
// run is only read. Read next: tests/cli/pruning_test.cc, the commands.
#include "headlab/lab/reproduce.h"
#include "headlab/base/files.h"
#include "headlab/prune/gates.h"
#include "headlab/report/prune_text.h"
#include "support/models.h"
#include "support/runs.h"

namespace headlab { namespace {

constexpr Index kExamples = 24;
constexpr Index kGateSteps = 250;  // enough for a large penalty to shut every gate

/// A run of two layers with two and three heads, trained a little.
class Reproduced : public testing::Test {
 protected:
  Reproduced() : run_(create_run(folder_ / "run", config())) { train_run(run_); }
  static RunConfig config() {
    RunConfig config = tiny_config();
    config.model.layers = 2;
    config.model.heads = {2, 3};
    config.model.d_head = 4;
    config.train.eval_examples = kExamples;
    return config;
  }
  MichelReport michel() {
    return reproduce_michel(run_, {.examples = kExamples,
                                   .stages = 3,
                                   .timing = {.batches = {1, 2}, .turns = 1}});
  }
  VoitaReport voita(std::vector<double> penalties, Index gate_steps = 30) {
    return reproduce_voita(run_, {.penalties = std::move(penalties),
                                  .settings = {.examples = kExamples, .gate_steps = gate_steps}});
  }
  double held_out_loss(const std::vector<HeadId>& kept, Index examples = kExamples) {
    return evaluate(remove_heads(run_.model, kept), *run_.task, {.examples = examples}).loss;
  }
  double choosing_loss(const std::vector<HeadId>& kept, Index examples) {
    const NoGrad no_grad;
    const Batch batch = run_.task->make(Key{}.fold("prune"), examples, Split::train).batch;
    return static_cast<double>(remove_heads(run_.model, kept).loss(batch).item());
  }

  TemporaryFolder folder_;
  TrainedRun run_;
};

/// On few examples the best head of one sample is often not that of another.
TEST_F(Reproduced, MichelKeepsTheBestSingleHeadOfEachLayerInAndOutOfSample) {
  const std::vector<HeadId> all = all_heads(run_.model);
  std::size_t differ = 0;
  for (const Index examples : {2, 3, 4, 5, 6, 24}) {
    const MichelReport report = reproduce_michel(run_, {.examples = examples,
                                                        .retrain = false,
                                                        .timing = {.batches = {}, .turns = 1}});
    ASSERT_EQ(report.one_head.size(), 2u);
    for (const OneHeadLeft& row : report.one_head) {
      const Index layer = row.in_sample.layer;
      EXPECT_EQ(row.module, text("blocks.", layer, ".attn"));
      const double full = held_out_loss(all, examples);
      double lowest = HUGE_VAL, lowest_chosen = HUGE_VAL;
      HeadId in_sample, out_of_sample;
      for (const HeadId& head : all) {
        if (head.layer != layer) continue;
        std::vector<HeadId> kept = all;
        std::erase_if(kept, [&](const HeadId& id) { return id.layer == layer && !(id == head); });
        const double judged = held_out_loss(kept, examples), chosen = choosing_loss(kept, examples);
        if (judged < lowest) lowest = judged, in_sample = head;
        if (chosen >= lowest_chosen) continue;
        lowest_chosen = chosen, out_of_sample = head;
        if (head == row.out_of_sample) {
          EXPECT_NEAR(row.change_out_of_sample, judged - full, 1e-5);
        }
      }
      EXPECT_EQ(row.in_sample, in_sample) << examples;
      EXPECT_EQ(row.out_of_sample, out_of_sample) << examples;
      EXPECT_NEAR(row.change_in_sample, lowest - full, 1e-5);
      differ += in_sample == out_of_sample ? 0 : 1;
    }
  }
  EXPECT_GT(differ, 0u) << "the two samples never disagreed";
}

TEST_F(Reproduced, MichelTrainsTheSameModelAgainAndPrunesItOnTheWay) {
  const MichelReport report = michel();
  const double full = held_out_loss(all_heads(run_.model));
  ASSERT_EQ(report.by_step.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.by_step[i].step, static_cast<Index>(20 * (i + 1)));
    EXPECT_EQ(report.by_step[i].by_share.size(), report.shares.size());
  }
  EXPECT_EQ(report.by_step[2].by_share[0].loss, full);
  EXPECT_NE(report.by_step[0].by_share[0].loss, full);
  const PruneProblem problem{.model = run_.model,
                             .task = *run_.task,
                             .settings = {.examples = kExamples}};
  const std::vector<Index> sizes = {5, 4, 3, 2, 1};  // 0, 20, 40, 60 and 80% of five are gone
  const auto choices = choose_heads(problem, find_prune_method("importance"), sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(report.by_step[2].by_share[i].loss, held_out_loss(choices[i].kept)) << i;
}

TEST_F(Reproduced, MichelSilencesEveryHeadAndTimesEveryBatch) {
  const MichelReport report = michel();
  ASSERT_EQ(report.ablation.heads.size(), 5u);
  ASSERT_EQ(report.curve.methods.size(), 3u);
  EXPECT_EQ(report.curve.methods[0].method, "importance");
  ASSERT_EQ(report.timing.size(), 2u);
  EXPECT_EQ(report.timing[1].batch, 2);
  const std::string shown = michel_text(report);
  for (const char* part : {"published (BERT", "another model", "blocks.1.attn", "of all"})
    EXPECT_NE(shown.find(part), std::string::npos) << part;
  const Json json = to_json(report);
  for (const char* key :
       {"headlab", "ablation", "one_head_per_layer", "curve", "shares", "by_step", "timing"})
    EXPECT_NE(json.find(key), nullptr) << key;
}

TEST_F(Reproduced, MichelLeavesOutWhatIsNotAsked) {
  const MichelReport report =
      reproduce_michel(run_,
                       {.examples = 8, .retrain = false, .timing = {.batches = {1}, .turns = 1}});
  EXPECT_TRUE(report.by_step.empty());
  EXPECT_EQ(michel_text(report).find("while it trains"), std::string::npos);
}

TEST_F(Reproduced, VoitaKeepsTheHeadsWhoseGatesAreOpen) {
  const VoitaReport report = voita({0, 1000}, kGateSteps);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.heads, 5);
  EXPECT_EQ(report.needed, 2);
  EXPECT_TRUE(report.rows[1].survivors.empty());
  const std::vector<HeadId> heads = all_heads(run_.model);
  for (const PenaltyRow& row : report.rows) {
    const TrainedGates gates = train_gates(
        {.model = run_.model,
         .task = *run_.task,
         .settings = {.examples = kExamples, .gate_steps = kGateSteps, .penalty = row.penalty},
         .train = run_.config.train});
    std::vector<HeadId> open;
    for (std::size_t h = 0; h < heads.size(); ++h)
      if (gates.gates[h] > 0) open.push_back(heads[h]);
    EXPECT_EQ(row.survivors, open);
    EXPECT_EQ(row.by_kind, (std::array<Index, 3>{std::ssize(open), 0, 0}));
    const Transformer pruned = remove_heads(*gates.model, row.survivors);
    EXPECT_EQ(row.pruned.loss, evaluate(pruned, *run_.task, {.examples = kExamples}).loss);
  }
}

TEST_F(Reproduced, VoitaTrainsTheRunItselfWhereAllHeadsSurvive) {
  const VoitaReport report = voita({0});
  ASSERT_EQ(report.rows[0].survivors, all_heads(run_.model));
  const Transformer longer = train_from_scratch(run_, all_heads(run_.model), 30);
  EXPECT_EQ(report.rows[0].from_scratch.loss,
            judge(longer, *run_.task, {.examples = run_.config.train.eval_examples}).loss)
      << "as many steps as the run and its gates";
  EXPECT_EQ(report.full.loss, held_out_loss(all_heads(run_.model)));
  EXPECT_EQ(report.none.loss, held_out_loss({}));
}

TEST_F(Reproduced, VoitaChoosesTheFewestHeadsThatAreGoodEnough) {
  const VoitaReport report = voita({0.1, 0, 1000}, kGateSteps);
  const double limit = report.full.loss + 0.01 * (report.none.loss - report.full.loss);
  const PenaltyRow& chosen = report.rows[report.chosen];
  ASSERT_LE(chosen.pruned.loss, limit);
  for (const PenaltyRow& row : report.rows) {
    if (row.pruned.loss <= limit) {
      EXPECT_GE(row.survivors.size(), chosen.survivors.size()) << row.penalty;
    }
  }
}

TEST_F(Reproduced,
       VoitaChoosesTheLastOfEquals) {  // penalties are given in the order of their trial
  EXPECT_EQ(voita({0, 0}).chosen, 1u);
}

TEST_F(Reproduced, VoitaFollowsRolesFromHeadToHead) {
  const VoitaReport report = voita({0});
  const std::vector<RoleDrift>& drift = report.rows[report.chosen].drift;
  ASSERT_EQ(drift.size(), 2u);
  const HeadsReport before = score_heads(run_.model, *run_.task, {.examples = kExamples});
  for (std::size_t r = 0; r < 2; ++r) {
    const HeadScores& best = before.heads[before.relations[r].best];
    EXPECT_EQ(drift[r].relation, before.relations[r].relation.name);
    EXPECT_EQ(drift[r].before, (HeadId{best.layer, best.head}));
    EXPECT_EQ(drift[r].lift_before, best.relations[r].lift);
    EXPECT_NE(drift[r].lift_after, drift[r].lift_before) << "weights train along";
  }
  const std::string shown = voita_text(report);
  for (const char* part : {"authors' page", "the task needs 2", "lift after"})
    EXPECT_NE(shown.find(part), std::string::npos) << part;
}

TEST_F(Reproduced, VoitaGoesOnTrainingByTraining) {
  const std::vector<double> penalties = {0, 0.1};
  const VoitaReport whole = voita(penalties);
  VoitaOptions options{.penalties = penalties,
                       .settings = {.examples = kExamples, .gate_steps = 30}};
  std::vector<std::string> told;
  std::size_t most = 1;
  options.progress = [&](const std::string& what) { told.push_back(what); };
  options.keeping = {true, [&] { return told.size() >= most; }};
  for (; most < 4; ++most) EXPECT_THROW(reproduce_voita(run_, options), Stopped);
  EXPECT_EQ(to_json(reproduce_voita(run_, options)), to_json(whole));
  ASSERT_EQ(told.size(), 4u) << "each training once";
  EXPECT_EQ(to_json(reproduce_voita(run_, options)), to_json(whole));
  EXPECT_EQ(told.size(), 4u) << "nothing is left to do";
}

TEST_F(Reproduced, OnlyReadTheRun) {
  const std::vector<double> before = parameters_in(run_.model);
  const auto files = names_in(run_.path);
  const std::string state = read_file(state_file(run_));
  michel();
  voita({0.1});
  EXPECT_EQ(parameters_in(run_.model), before);
  EXPECT_EQ(read_file(state_file(run_)), state);
  EXPECT_EQ(names_in(run_.path), files);
}

TEST_F(Reproduced, RefuseAModelWithoutHeads) {
  prune_run(run_, folder_ / "none", {.keep = 0, .settings = {.examples = kExamples}});
  TrainedRun none = open_run(folder_ / "none");
  expect_error([&] { reproduce_michel(none); }, {"no head to prune"});
  expect_error([&] { reproduce_voita(none); }, {"no head to prune"});
  expect_error([&] { voita({}); }, {"no penalty"});
}

TEST(ReproducedVoita, CountsSurvivorsOfEachKindOfAttention) {
  const TemporaryFolder folder;
  RunConfig config = recommended_config("reverse_cross:symbols=4,shortest=2,longest=3");
  config.model.d_model = 8, config.model.heads = {2};
  config.train.steps = 4, config.train.batch = 4, config.train.warmup = 1;
  config.train.eval_examples = 8;
  TrainedRun run = create_run(folder / "run", config);
  train_run(run);
  const VoitaReport report =
      reproduce_voita(run, {.penalties = {0}, .settings = {.examples = 8, .gate_steps = 2}});
  EXPECT_EQ(report.rows[0].by_kind, (std::array<Index, 3>{2, 2, 2}));
  EXPECT_EQ(to_json(report).at("rows").items()[0].at("cross").integer(), 2);
}

}  // namespace
}  // namespace headlab
