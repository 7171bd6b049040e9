// Access to patterns, head outputs and residual streams by the name of a head instead of by offsets
// into the activation cache. The heads of a pruned model keep their original indices and are found
// by them. Read next: core/model/transformer.h (ActivationCache), scores.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/tasks/task.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/lessons/lessons.h"

namespace headlab {

/// One forward pass over a batch without recording for gradients, with its activation cache.
class Activations {
 public:
  /// Runs the model, which must outlive this object. `patterns`: keep the attention weights too,
  /// which take heads x queries x keys numbers for each sequence. `logits`: compute the logits.
  Activations(const HeadedModel& model, const Batch& batch, bool patterns = true,
              bool logits = true);

  /// Returns the logits [B, T, K*V], or the last residual stream if they were not computed.
  const Tensor& logits() const { return logits_; }
  /// Returns the attention weights of a head, [B, T, S]: one row per query. Error if the model has
  /// no such head.
  Tensor pattern(const HeadId& head) const;
  /// Returns the output z of a head, [B, T, Dv], before W_O. Error if the model has no such head.
  Tensor output(const HeadId& head) const;
  /// Returns the residual stream [B, T, C] before each block and after the last; the encoder's come
  /// first.
  const Tensor& residual(std::size_t i) const { return activations_.residual[i]; }
  const ActivationCache& cache() const { return activations_; }

 private:
  const HeadedModel& model_;
  ActivationCache activations_;
  Tensor logits_;
};

/// Divides the weights [..., S] by the sums of their rows; rows of zeros do not change. Off the
/// tape.
Tensor normalised_rows(const Tensor& pattern);

/// Returns the patterns of all attention layers, [B, H, T, S] each, with rows that sum to 1. If the
/// attention function does not normalise, each row is divided by its sum. Head scores are computed
/// from these.
std::vector<Tensor> normalised_patterns(const HeadedModel& model,
                                        const ActivationCache& activations);

/// Returns the tokens at the queries or keys of an attention layer of this kind in sequence b,
/// without padding.
std::span<const std::int32_t> query_tokens(const Batch& batch, AttentionKind kind, Index b);
std::span<const std::int32_t> key_tokens(const Batch& batch, AttentionKind kind, Index b);

/// Ground-truth cells of one relation on a pattern.
struct TruthCells {
  std::string relation;
  std::vector<char> cells;  // [queries, keys], row-major: 1 on the ground-truth keys of a query
  /// Mean weight on these cells, as a share of the row's sum, over the queries that have
  /// ground-truth keys; NaN if no query has any.
  double mass = 0;
};

/// The pattern of one head on one sequence, without padding.
struct HeadPattern {
  HeadId head;
  Index example = 0;              // index of the sequence
  bool normalises = true;         // whether the attention function gives rows that sum to 1
  std::vector<Scalar> weights{};  // [queries, keys], row-major, as the model computed them
  std::vector<Scalar> z{};        // the head's output before W_O: [queries, d_value]
  std::vector<std::string> queries{}, keys{};  // tokens, as the task shows them
  std::vector<TruthCells> truth{};             // one for each relation of this kind of attention

  /// Returns the ground truth of a relation; for "", the one that holds most of the pattern's
  /// weight. nullptr if there is none.
  const TruthCells* truth_of(std::string_view relation) const;
};

/// Returns the pattern of a head on sequence b of examples of the task, with their ground truth.
/// Error if the model has no such head.
HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       const Example& examples, Index b = 0);
/// Returns the pattern on one of the held-out examples that score_heads uses.
HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       Index example = 0);
/// Returns the patterns of every head, in the order of all_heads.
std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task, Index example = 0);
/// Returns the patterns of every head on sequence b of examples of the task.
std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task,
                                     const Example& examples, Index b = 0);
/// Returns {"layer", "head", "example", "tokens" of the queries, "keys", "pattern": rows, "truth":
/// [{"relation", "mass", "keys": ground-truth keys of each query}]}.
Json to_json(const HeadPattern& pattern);

/// Named array for NumPy, row-major: of float32, or of int32 if it holds ids and counts.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  bool is_whole = false;
};
/// Returns the activations of a model on a batch. N sequences, T queries, S keys, H heads, G
/// key-value blocks:
///   LAYER.q [N, T, H, d_head]    LAYER.k [N, S, G, d_head]    LAYER.v [N, S, G, d_value]
///   LAYER.pattern [N, H, T, S]   LAYER.z [N, T, H, d_value]   LAYER.heads [H]: original indices
/// for each attention layer (such as blocks.0.attn); q and k are rotated, z is before W_O;
///   BLOCK.mlp [N, T, d_model]       output of each feed-forward network, such as blocks.0.mlp
///   stream.I [N, T, d_model]        the residual stream before block I, and after the last one;
///   tokens [N, T], lengths [N]      an encoder adds encoder.stream.I, source, source_lengths.
/// Positions from the length of a sequence on are NaN; their keys have weight 0 in a pattern.
std::vector<NamedArray> activation_arrays(const Transformer& model, const Batch& batch);

/// Returns the attention steps of a head on sequence b, without padding. Error if the model has no
/// such head.
HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b = 0);
/// Returns the largest difference between these weights and the model's own pattern.
double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b = 0);

}  // namespace headlab
