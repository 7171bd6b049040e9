// The study of a run that its page shows: mean patterns, numbers for the page's own check, and kept
// weights, each against a computation by hand from the run's activations.
#include "lab/studies/run_study.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/scores/activations.h"
#include "lab/runs/snapshots.h"
#include "support/runs.h"

namespace headlab { namespace {

class RunStudies : public testing::Test {
 protected:
  TrainedRun trained(const std::string& task, const std::string& settings) const {
    RunConfig config = tiny_config(settings);
    config.task = task;
    TrainedRun run = create_run(folder_ / "run", config);
    train_run(run);
    return run;
  }
  static Batch scored(const TrainedRun& run, Index examples) {
    return run.task->make_batch(streams::scored(), examples, Split::validation);
  }
  /// The mean over examples of the largest weight of each square of `by` times `by` cells.
  static std::vector<double> mean_squares(const Transformer& model, const Batch& examples,
                                          std::size_t attention_layer, Index by) {
    const Activations activations(model, examples);
    const auto& recorded = activations.cache().attention[attention_layer];
    const Index heads = model.attention_layers()[attention_layer].attention->head_count();
    const Index queries = examples.length, rows = (queries + by - 1) / by;
    std::vector<double> mean(heads * rows * rows);
    for (Index h = 0; h < heads; ++h) {
      for (Index b = 0; b < examples.size; ++b) {
        const auto pattern = recorded.pattern_of(h, b);
        for (Index i = 0; i < rows * rows; ++i) {
          double largest = 0;
          for (Index t = i / rows * by; t < std::min(queries, (i / rows + 1) * by); ++t)
            for (Index s = i % rows * by; s < std::min(queries, (i % rows + 1) * by); ++s)
              largest = std::max(largest, static_cast<double>(pattern[t * queries + s]));
          mean[h * rows * rows + i] += largest / static_cast<double>(examples.size);
        }
      }
    }
    return mean;
  }
  static void expect_alike(const std::vector<float>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-5) << i;
  }

  TemporaryFolder folder_;
};

TEST_F(RunStudies, MeanPatternsAverageTheScoredExamples) {
  const TrainedRun run = trained("relations:length=8,vocab=6,classes=3,relations=1+same", "");
  const RunStudy study = study_run(run);
  EXPECT_EQ(study.examples, kStudiedExamples);
  ASSERT_EQ(study.attention_layers.size(), 1u);
  const AttentionMaps& attention_layer = study.attention_layers[0];
  EXPECT_EQ(attention_layer.by, 1);
  EXPECT_EQ(std::pair(attention_layer.rows, attention_layer.columns),
            std::pair(Index{8}, Index{8}));
  expect_alike(attention_layer.mean_pattern,
               mean_squares(run.model, scored(run, study.examples), 0, attention_layer.by));
  for (std::size_t b = 0; b < attention_layer.donors.size(); ++b)
    EXPECT_NE(attention_layer.donors[b], int(b));
}

TEST_F(RunStudies, LongPatternsAreTheLargestWeightOfEachSquare) {
  const TrainedRun run = trained("relations:length=99,vocab=6,classes=3,relations=1+same",
                                 "heads=8 d_model=16 steps=5");
  const RunStudy study = study_run(run);
  const AttentionMaps& attention_layer = study.attention_layers[0];
  EXPECT_EQ(attention_layer.by, 2) << "99 cells in at most 64";
  EXPECT_EQ(std::pair(attention_layer.rows, attention_layer.columns),
            std::pair(Index{50}, Index{50}));
  expect_alike(attention_layer.mean_pattern,
               mean_squares(run.model, scored(run, study.examples), 0, attention_layer.by));
  EXPECT_EQ(study.check_every, 2) << "2 examples of 8 x 99 x 99 weights are too many";
  EXPECT_EQ(attention_layer.check.size(), 2u * 8 * 49 * 99);
  const auto first = scored_patterns(run, 1)[0];
  EXPECT_EQ(attention_layer.check[98], first[99 + 98]) << "query 1 is the first that is kept";
}

TEST_F(RunStudies, ChecksHoldTheFirstScoredExamples) {
  const TrainedRun run = trained("relations:length=8,vocab=6,classes=3,relations=1+same", "");
  const RunStudy study = study_run(run);
  EXPECT_EQ(std::pair(study.checked, study.check_every), std::pair(Index{2}, Index{1}));
  std::vector<float> logits, patterns;
  const Batch batch = scored(run, 2);
  for (Index b = 0; b < 2; ++b) {
    const Activations activations(run.model, batch.rows(b, b + 1));
    const auto said = activations.logits().values();
    logits.insert(logits.end(), said.begin(), said.end());
    for (Index h = 0; h < 2; ++h) {
      const auto pattern = activations.cache().attention[0].pattern_of(h);
      patterns.insert(patterns.end(), pattern.begin(), pattern.end());
    }
  }
  EXPECT_EQ(study.logits, logits);
  EXPECT_EQ(study.attention_layers[0].check, patterns);
}

/// One held-out sequence has no other from which an Ablation could take means: it gives its own.
TEST_F(RunStudies, MeanOutputOfOneExampleIsTheMeanOverItsPositions) {
  write_file(folder_ / "one.jsonl", R"({"tokens":["a","b","a"],"targets":["b","a","b"]})"
                                    "\n");
  const std::string file = (folder_ / "one.jsonl").string();
  const TrainedRun run = trained(text("file:train=", file, ",held_out=", file, ",test=", file), "");
  const RunStudy study = study_run(run);
  const Batch one = held_out_examples(*run.task, 1).batch;
  const Tensor z = Activations(run.model, one).cache().attention[0].z;
  const Index width = z.size(2);
  std::vector<double> mean(width);
  for (Index at = 0; at < 3 * width; ++at) {
    mean[at % width] += static_cast<double>(z.data()[at]) / 3;
  }
  expect_alike(study.attention_layers[0].mean_output, mean);
}

TEST_F(RunStudies, LossesEqualTheEvaluation) {
  const TrainedRun run = trained("relations:length=8,vocab=6,classes=3,relations=1+same", "");
  const RunStudy study = study_run(run);
  const std::vector<double> targets =
      targets_by_example(held_out_examples(*run.task, study.examples).batch);
  double sum = 0, count = 0;
  for (std::size_t b = 0; b < targets.size(); ++b) {
    sum += study.held_out_losses[b] * targets[b];
    count += targets[b];
  }
  EXPECT_NEAR(sum / count, study.evaluation.loss, 1e-5);
  EXPECT_EQ(std::ssize(study.scored_losses), study.examples);
  const Ablation means(run.model, held_out_examples(*run.task, study.examples).batch,
                       {.kind = AblationKind::mean});
  const auto mean = means.replacement(0).values();
  EXPECT_EQ(study.attention_layers[0].mean_output, std::vector<float>(mean.begin(), mean.end()));
}

TEST_F(RunStudies, SnapshotsAreJudgedWithTheirOwnWeights) {
  const TrainedRun run =
      trained("relations:length=8,vocab=6,classes=3,relations=1+same", "keep_weights=3");
  const RunStudy study = study_run(run);
  const Snapshots kept = read_snapshots(run);
  ASSERT_EQ(study.snapshots.size(), kept.steps.size());
  ASSERT_GE(kept.steps.size(), 3u);
  EXPECT_EQ(study.snapshot_examples, 64);
  for (std::size_t i = 0; i < kept.steps.size(); ++i) {
    const RunStudy::Snapshot& found = study.snapshots[i];
    const Transformer model = kept.model(run, i);
    const std::vector<double> weights = parameters_in(model);
    EXPECT_EQ(found.step, kept.steps[i]);
    EXPECT_EQ(std::vector<double>(found.weights.begin(), found.weights.end()), weights);
    const double loss = evaluate(model, *run.task, {.examples = 64}).loss;
    EXPECT_EQ(found.loss, loss);
    EXPECT_NEAR(found.half_loss, loss, 1e-2 * loss);
    EXPECT_NE(found.half_loss, loss) << "16 bits are fewer";
    expect_alike(found.attention_layers[0].mean_pattern,
                 mean_squares(model, scored(run, study.examples).rows(0, 64), 0, 1));
  }
}

}  // namespace
}  // namespace headlab
