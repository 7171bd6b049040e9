// What people look at most in a model: the pattern of a head, its output, a residual stream, by the
// head's name and not by offsets into captures. A pruned model's heads keep the numbers they were
// born with, and are found by them. Read next: model/transformer.h (ModelCaptures), scores.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/heads/edits.h"
#include "headlab/heads/lessons.h"
#include "headlab/tasks/task.h"
#include "headlab/train/evaluate.h"

namespace headlab {

/// One forward pass over a batch, without recording for gradients, and what it computed on the way.
class Activations {
 public:
  /// `patterns`: whether to keep the attention weights as well, which take heads x queries x keys
  /// numbers for each sequence. `model` must outlive it.
  /// Without `logits` those are not computed.
  Activations(const HeadedModel& model, const Batch& batch, bool patterns = true,
              bool logits = true);

  /// Logits [B, T, K*V]; without them, the last stream.
  const Tensor& logits() const { return logits_; }
  /// The weights of a head, [B, T, S]: a row for each query. Error if the model has no such head.
  Tensor pattern(const HeadId& head) const;
  /// Its output z [B, T, Dv], before W_O. Error if the model has no such head.
  Tensor output(const HeadId& head) const;
  /// The stream [B, T, C] before each block and after the last, the encoder's first.
  const Tensor& residual(std::size_t i) const { return captures_.residual[i]; }
  /// All of it, by attention module.
  const ModelCaptures& captures() const { return captures_; }

 private:
  const HeadedModel& model_;
  ModelCaptures captures_;
  Tensor logits_;
};

/// The patterns of all attention layers, [B, H, T, S] each, with rows that sum to 1: those of a
/// function that does not normalise are divided by their sums. Scores of heads are computed from
/// these.
std::vector<Tensor> normalised_patterns(const HeadedModel& model, const ModelCaptures& captures);

/// The tokens at the queries and keys of a module of this kind in sequence b, without padding.
std::span<const std::int32_t> query_tokens(const Batch& batch, AttentionKind kind, Index b);
std::span<const std::int32_t> key_tokens(const Batch& batch, AttentionKind kind, Index b);

/// Where the truth of one relation lies on a pattern.
struct GoldCells {
  std::string relation;
  std::vector<char> cells;  // [queries, keys], row-major: 1 on the gold keys of a query
  /// Mean weight on them, as a share of the row's sum, over the queries that have some; NaN if none
  /// has.
  double mass = 0;
};

/// The pattern of one head on one sequence, without padding.
struct HeadPattern {
  HeadId head;
  Index example = 0;              // the number of the sequence
  bool normalises = true;         // whether the attention function gives rows that sum to 1
  std::vector<Scalar> weights{};  // [queries, keys], row-major, as the model computed them
  std::vector<Scalar> z{};        // what the head put out, before W_O: [queries, d_value]
  std::vector<std::string> queries{}, keys{};  // their tokens, as the task shows them
  std::vector<GoldCells> gold{};  // of the relations that this kind of attention may find

  /// The gold of a relation; of "" that on which the pattern has most of its weight. nullptr if
  /// there is none.
  const GoldCells* gold_of(std::string_view relation) const;
};

/// The pattern of a head on sequence b of examples of the task, with the truth that these have.
/// Error if the model has no such head.
HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       const Example& examples, Index b = 0);
/// The same on one of the held-out examples on which heads are scored.
HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       Index example = 0);
/// The same of every head, in the order of all_heads.
std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task, Index example = 0);
/// The same on sequence b of examples of the task.
std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task,
                                     const Example& examples, Index b = 0);
/// {"layer", "head", "example", "tokens" of the queries, "keys", "pattern": rows, "gold":
/// [{"relation", "mass", "keys": those of each query}]}.
Json to_json(const HeadPattern& pattern);

/// An array with its name, for NumPy: row-major.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
/// What a model computes on a batch. N sequences, T queries, S keys, H heads, G key-value blocks:
///   LAYER.q [N, T, H, d_head]    LAYER.k [N, S, G, d_head]    LAYER.v [N, S, G, d_value]
///   LAYER.pattern [N, H, T, S]   LAYER.z [N, T, H, d_value]   LAYER.heads [H]: original indices
/// for each attention layer (such as blocks.0.attn); q and k are rotated, z is before W_O;
///   BLOCK.mlp [N, T, d_model]       what each feed-forward network adds, such as blocks.0.mlp
///   stream.I [N, T, d_model]        the residual stream before block I, and after the last one;
///   tokens [N, T], lengths [N]      of an encoder also encoder.stream.I, source, source_lengths.
/// Rows from a sequence's length on are padding.
std::vector<NamedArray> activation_arrays(const Transformer& model, const Batch& batch);

/// The steps of a head on sequence b, without padding. Error if the model has no such head.
HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b = 0);
/// The largest difference of these weights from the model's own pattern.
double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b = 0);

}  // namespace headlab
