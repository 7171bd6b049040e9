// The experiments of two papers on small runs: each number against a plain computation of what it
// says, known answers where there are some (the last weights that a run kept are its model), and
// that the run is only read. Read next: tests/cli/pruning_test.cc, the commands.
#include "headlab/lab/studies/reproduce.h"

#include <cmath>

#include "headlab/core/base/files.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/methods.h"
#include "support/models.h"
#include "support/runs.h"
#include "support/tasks.h"

namespace headlab { namespace {

constexpr Index kExamples = 24;
constexpr Index kGateSteps = 250;  // enough for a large penalty to shut every gate

/// A run of two layers with two and three heads, trained a little.
class Reproduced : public testing::Test {
 protected:
  Reproduced() : run_(create_run(folder_ / "run", config())) { train_run(run_); }
  static RunConfig config() {
    return tiny_config(
        text("layers=2 heads=2+3 d_head=4 keep_weights=3 eval_examples=", kExamples));
  }
  static PaperOptions few(Index examples = kExamples) {
    return {.settings = {.examples = examples, .gate_steps = 30},
            .timing = {.batches = {1, 2}, .turns = 1}};
  }
  Json michel(const PaperOptions& options = few()) { return papers()[0].report(run_, options); }
  Json voita(std::vector<double> penalties, Index gate_steps = 30) {
    PaperOptions options = few();
    options.penalties = std::move(penalties), options.settings.gate_steps = gate_steps;
    return papers()[1].report(run_, options);
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
    PaperOptions options = few(examples);
    options.timing.batches = {};
    const Json report = michel(options);
    ASSERT_EQ(report.at("one_head_per_layer").items().size(), 2u);
    for (const Json& row : report.at("one_head_per_layer").items()) {
      const HeadId in_row = head_of(row.at("in_sample")),
                   out_row = head_of(row.at("out_of_sample"));
      const Index layer = in_row.attention_layer;
      EXPECT_EQ(row.at("module").string(), text("blocks.", layer, ".attn"));
      const double full = held_out_loss(all, examples);
      double lowest = HUGE_VAL, lowest_chosen = HUGE_VAL, change_out = 0;
      HeadId in_sample, out_of_sample;
      for (const HeadId& head : all) {
        if (head.attention_layer != layer) continue;
        std::vector<HeadId> kept = all;
        std::erase_if(kept, [&](const HeadId& id) {
          return id.attention_layer == layer && !(id == head);
        });
        const double judged = held_out_loss(kept, examples), chosen = choosing_loss(kept, examples);
        if (judged < lowest) lowest = judged, in_sample = head;
        if (chosen >= lowest_chosen) continue;
        lowest_chosen = chosen, out_of_sample = head, change_out = judged - full;
      }
      EXPECT_EQ(in_row, in_sample) << examples;
      EXPECT_EQ(out_row, out_of_sample) << examples;
      EXPECT_NEAR(row.at("change_in_sample").number(), lowest - full, 1e-5);
      EXPECT_NEAR(row.at("change_out_of_sample").number(), change_out, 1e-5);
      differ += in_sample == out_of_sample ? 0 : 1;
    }
  }
  EXPECT_GT(differ, 0u) << "the two samples never disagreed";
}

TEST_F(Reproduced, MichelPrunesTheWeightsThatTheRunKept) {
  const Json report = michel();
  const double full = held_out_loss(all_heads(run_.model));
  const auto loss = [&](std::size_t stage, std::size_t share) {
    return read_as<Judged>(report.at("by_step").items().at(stage).at("by_share").items().at(share))
        .loss;
  };
  ASSERT_EQ(report.at("by_step").items().size(), 3u);
  EXPECT_EQ(report.at("by_step").items()[0].at("step").integer(), 0);
  EXPECT_EQ(report.at("by_step").items()[2].at("step").integer(), 60);
  EXPECT_EQ(loss(2, 0), full);
  EXPECT_NE(loss(0, 0), full);
  const PruneProblem problem = problem_of(run_, {.examples = kExamples});
  const std::vector<Index> sizes = {5, 4, 3, 2, 1};  // 0, 20, 40, 60 and 80% of five are gone
  const auto choices = choose_heads(problem, find_prune_method("importance"), sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(loss(2, i), held_out_loss(choices[i].kept)) << i;
  const Table over = papers()[0].over_runs(std::vector<Json>{report, report});
  const auto last = std::ssize(report.at("curve").at("methods").items()[0].at("points").items());
  EXPECT_EQ(over.cells("loss").at(last - 1).items()[0].number(), full);
}

TEST_F(Reproduced, MichelAblatesEveryHeadAndTimesEveryBatch) {
  const Json report = michel();
  EXPECT_EQ(report.at("ablation").at("heads").items().size(), 5u);
  ASSERT_EQ(report.at("curve").at("methods").items().size(), 3u);
  EXPECT_EQ(report.at("curve").at("methods").items()[0].at("method").string(), "importance");
  ASSERT_EQ(report.at("timing").items().size(), 2u);
  EXPECT_EQ(report.at("timing").items()[1].at("batch").integer(), 2);
  const Result found = papers()[0].result(report);
  ASSERT_EQ(found.tables.size(), 5u);
  for (const Table& table : found.tables) {
    EXPECT_NE(table.note.find("published ("), std::string::npos) << table.title;
    EXPECT_FALSE(table.rows.empty()) << table.title;
  }
  EXPECT_EQ(result_of(to_json(found)).table("one_head_per_layer").rows,
            found.table("one_head_per_layer").rows);
}

TEST_F(Reproduced, MichelLeavesOutWhatTheRunDidNotKeep) {
  RunConfig kept_none = config();
  kept_none.keep_weights = 0;
  TrainedRun run = create_run(folder_ / "none", kept_none);
  const Json report = papers()[0].report(run, few(8));
  EXPECT_TRUE(report.at("by_step").items().empty());
  EXPECT_EQ(papers()[0].result(report).tables.size(), 4u);
}

TEST_F(Reproduced, VoitaKeepsTheHeadsWhoseGatesAreOpen) {
  const Json report = voita({0, 1000}, kGateSteps);
  ASSERT_EQ(report.at("rows").items().size(), 2u);
  EXPECT_EQ(report.at("heads").integer(), 5);
  EXPECT_EQ(report.at("needed").integer(), 2);
  EXPECT_TRUE(report.at("rows").items()[1].at("survivors").items().empty());
  const std::vector<HeadId> heads = all_heads(run_.model);
  for (const Json& row : report.at("rows").items()) {
    const PruneSettings settings{.examples = kExamples,
                                 .gate_steps = kGateSteps,
                                 .penalty = row.at("lambda").number()};
    const TrainedGates gates = train_gates(problem_of(run_, settings));
    std::vector<HeadId> open;
    for (std::size_t h = 0; h < heads.size(); ++h)
      if (gates.gates[h] > 0) open.push_back(heads[h]);
    EXPECT_EQ(heads_of(row.at("survivors")), open);
    EXPECT_EQ(row.at("self").integer(), std::ssize(open));
    const Transformer pruned = remove_heads(*gates.model, open);
    EXPECT_EQ(read_as<Judged>(row.at("pruned")).loss,
              evaluate(pruned, *run_.task, {.examples = kExamples}).loss);
  }
}

TEST_F(Reproduced, VoitaTrainsTheRunItselfWhereAllHeadsSurvive) {
  const Json report = voita({0});
  const Json& row = report.at("rows").items()[0];
  ASSERT_EQ(heads_of(row.at("survivors")), all_heads(run_.model));
  const Transformer longer =
      train_from_scratch(run_, all_heads(run_.model), later_stages(run_, 30, 0));
  EXPECT_EQ(read_as<Judged>(row.at("from_scratch")).loss,
            judge(longer, *run_.task, {.examples = run_.config.train.eval_examples}).loss)
      << "the schedule of the run and then that of its gates";
  const Transformer on = train_on(run_, later_stages(run_, 30, 0));
  EXPECT_EQ(read_as<Judged>(row.at("unpruned")).loss,
            judge(on, *run_.task, {.examples = run_.config.train.eval_examples}).loss);
  EXPECT_NE(report.at("schedule").string().find(", then 30 steps at a rate of"), std::string::npos)
      << report.at("schedule").string();
  EXPECT_EQ(read_as<Judged>(report.at("full")).loss, held_out_loss(all_heads(run_.model)));
  EXPECT_EQ(read_as<Judged>(report.at("none")).loss, held_out_loss({}));
}

/// Whether the chosen row has the fewest heads of those whose loss, here or there, is good enough.
bool is_best(const Json& report, const char* key) {
  const auto loss = [&](const Json& judged) { return judged.at(key).number(); };
  const double full = loss(report.at("full")),
               limit = full + 0.01 * (loss(report.at("none")) - full);
  const auto fits = [&](const Json& row) { return loss(row.at("pruned")) <= limit; };
  const auto count = [](const Json& row) { return row.at("survivors").items().size(); };
  const Json& chosen = report.at("rows").items().at(report.at("chosen").integer());
  return fits(chosen) && std::ranges::all_of(report.at("rows").items(), [&](const Json& row) {
           return !fits(row) || count(row) >= count(chosen);
         });
}

TEST_F(Reproduced, VoitaClaimsNoEffectOfLambdaThatItsCountsDoNotShow) {
  Json report = voita({0, 0});
  const auto title = [&] { return papers()[1].result(report).table("rows").title; };
  EXPECT_NE(title().find("is the same for each lambda"), std::string::npos) << title();
  report["rows"].items()[1]["survivors"] = Json::array();
  EXPECT_NE(title().find("is a function of lambda"), std::string::npos) << title();
}

TEST_F(Reproduced, VoitaChoosesTheFewestHeadsThatAreGoodEnough) {
  EXPECT_TRUE(is_best(voita({0.1, 0, 1000}, kGateSteps), "chosen_on"));
  EXPECT_EQ(voita({0, 0}).at("chosen").integer(), 1) << "the last of equals";
}

TEST_F(Reproduced, VoitaChoosesOnOneSplitAndJudgesOnTheOther) {
  const std::shared_ptr<const Task> task = std::move(run_.task);
  run_.task = std::make_unique<TaskBySplit>(task, std::make_shared<Mirrored>(task));
  const Json report = voita({0.1, 0, 1000}, kGateSteps);
  EXPECT_TRUE(is_best(report, "chosen_on"));
  EXPECT_FALSE(is_best(report, "loss")) << "what is best there is best here";
}

TEST_F(Reproduced, VoitaFollowsRolesFromHeadToHead) {
  const Json report = voita({0});
  const Json::Array& drift = report.at("drift").items();
  ASSERT_EQ(drift.size(), 2u);
  const HeadsReport before = score_heads(run_.model, *run_.task, {.examples = kExamples});
  for (std::size_t r = 0; r < 2; ++r) {
    const HeadScores& best = before.heads[before.relations[r].best];
    EXPECT_EQ(drift[r].at("relation").string(), before.relations[r].relation.name);
    EXPECT_EQ(head_of(drift[r].at("before")), (HeadId{best.attention_layer, best.head}));
    EXPECT_EQ(drift[r].at("lift_before").number(), best.relations[r].lift);
    EXPECT_NE(drift[r].at("lift_after"), drift[r].at("lift_before")) << "weights train along";
  }
  const Result found = papers()[1].result(report);
  EXPECT_NE(found.table("rows").title.find("the task needs 2"), std::string::npos);
  for (const Table& table : found.tables)
    EXPECT_NE(table.note.find("authors' page"), std::string::npos);
}

TEST_F(Reproduced, VoitaIsComparedWithScratchOverRuns) {
  Json report = voita({0});
  std::vector<Json> six(6, report);
  for (std::size_t i = 0; i < six.size(); ++i) {
    Json& row = six[i]["rows"].items()[0];
    row["from_scratch"]["loss"] = std::pow(10, i);
    row["pruned"]["loss"] = 2 * std::pow(10, i);
  }
  const Table over = papers()[1].over_runs(six);
  ASSERT_EQ(over.rows.size(), 1u);
  EXPECT_NE(over.note.find("6 seeds reach p"), std::string::npos);
  EXPECT_NEAR(over.cells("against_scratch.ratio")[0].items()[0].number(), 2, 1e-9);
  EXPECT_EQ(over.cells("against_scratch.p")[0].number(), 1 / 32.0);
  EXPECT_TRUE(over.cells("against_scratch.told_apart")[0].boolean());
  EXPECT_EQ(over.cells("survivors")[0].items().size(), 6u);
}

TEST(ReproducedVoita, IsNoAverageOfReportsWithDifferentNumbersOfPenalties) {
  const auto report = [](std::size_t rows) { return Json::object({{"rows", Json::Array(rows)}}); };
  const std::vector<Json> reports = {report(2), report(0)};
  expect_error([&] { papers()[1].over_runs(reports); }, {"with 2 and 0", "cannot average"});
}

TEST_F(Reproduced, VoitaGoesOnTrainingByTraining) {
  const std::vector<double> penalties = {0, 0.1};
  const Json whole = voita(penalties);
  PaperOptions options = few();
  options.penalties = penalties;
  std::vector<std::string> told;
  options.progress = [&](const std::string& what) { told.push_back(what); };
  options.keeping = {true, [&] { return told.size() > 1; }};  // in the middle of the second
  for (int made = 0; made < 4; ++made, told.clear())
    EXPECT_THROW(papers()[1].report(run_, options), Stopped);
  EXPECT_EQ(papers()[1].report(run_, options), whole);
  EXPECT_EQ(told.size(), 1u) << "each finished training once";
  EXPECT_EQ(papers()[1].report(run_, options), whole);
  EXPECT_EQ(told.size(), 1u) << "nothing is left to do";
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
  for (const Paper& paper : papers())
    expect_error([&] { paper.report(none, few()); }, {"no head to prune"});
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
  const PaperOptions options{.settings = {.examples = 8, .gate_steps = 2}, .penalties = {0}};
  const Json row = papers()[1].report(run, options).at("rows").items()[0];
  for (const char* kind : {"self", "encoder", "cross"})
    EXPECT_EQ(row.at(kind).integer(), 2) << kind;
}

}  // namespace
}  // namespace headlab
