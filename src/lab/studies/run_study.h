// Study of a run on its examples for a page: losses, mean outputs and patterns of heads, the losses
// of kept weights, and numbers with which another program can check its own model. Private to these
// layers. Read next: run_study.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "headlab/core/model/transformer.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

/// Maximum number of examples of each set: fewer if one takes very long.
inline constexpr Index kStudiedExamples = 512;

/// An attention layer with the patterns and outputs of its heads on the examples of a study.
struct AttentionMaps {
  AttentionKind kind;
  Index heads = 0, d_value = 0, queries = 0, keys = 0;
  std::vector<float> check;  // patterns: [checked, H, Q / check_every, S]
  /// Mean pattern over scored examples, [H, rows, columns]; for long inputs the largest weight of
  /// each square of by * by cells, in at most 64 x 64.
  Index by = 1, rows = 0, columns = 0;
  std::vector<float> mean_pattern;
  std::vector<float> mean_output;    // [H, Dv]
  std::vector<std::int32_t> donors;  // [examples]
};

struct RunStudy {
  Index examples = 0;  // of each set
  Evaluation evaluation;
  std::vector<float> held_out_losses, scored_losses;  // of each example, nats per target; or NaN
  std::vector<AttentionMaps> attention_layers;
  /// Data for the self-check of the page, on the first scored examples: query t is included if (t +
  /// 1) % check_every is 0.
  Index checked = 0, check_every = 1;
  std::vector<float> logits;  // [checked, T / check_every, K*V]
  /// Weights after a kept step, their loss in 32 bits and in 16, and the attention layers with
  /// their mean patterns.
  struct Snapshot {
    Index step = 0;
    std::vector<float> weights{};
    std::vector<AttentionMaps> attention_layers{};
    double loss = 0, half_loss = 0;
  };
  Index snapshot_examples = 0;  // number of examples for these losses
  std::vector<Snapshot> snapshots;
};
RunStudy study_run(const Run& run);
/// Returns the attention layers of a run with the mean patterns of their heads over the first
/// scored examples, in at most `cells` x `cells` cells. Only the sizes and patterns are set.
std::vector<AttentionMaps> mean_patterns(const Run& run, Index examples, Index cells);
/// Returns a study that has only the attention layers, with their mean patterns over these
/// examples.
RunStudy study_patterns(const HeadedModel& model, const Batch& examples);
/// Returns the patterns on these examples, for each attention layer [examples, H, Q, S].
std::vector<std::vector<Scalar>> patterns_on(const HeadedModel& model, const Batch& examples);
/// Returns the patterns of the first scored examples of a run.
std::vector<std::vector<Scalar>> scored_patterns(const Run& run, Index examples);

}  // namespace headlab
