// The table of attention functions: how scores become weights. A row is a name, a summary with its
// source, and a function from q, k, v to the outputs of the heads; softmax has a fused kernel as
// well. Everything around it (projections, masks, cache, interventions, removal of heads, scores)
// is the same for all rows. Read next: src/core/nn/attention_functions.cc.
#pragma once

#include <span>
#include <vector>

#include "headlab/core/ops/attention.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

enum class AttentionFunction { softmax, softmax_composed, sigmoid, softmax_one };

/// The weights of a row that stay after one of its keys is masked, whose weight was w.
enum class AfterMask {
  unchanged,   // each weight depends on its own score only
  normalised,  // the others sum to 1 again: each is divided by their sum
  with_sink    // the others and a sink of value 0 sum to 1 again: each is divided by 1 - w
};

/// An attention function: its name in settings, its formula and source for help and `explain`,
/// whether each row of weights sums to 1, how a row answers to a masked key, the operations for
/// each score (`headlab cost`), and the function itself. q [B, T, H*D], k [B, S, G*D], v [B, S,
/// G*Dv]; returns z [B, T, H*Dv]; if `pattern` is not null, it receives the weights [B, H, T, S]
/// before dropout. The weight must be 0 if the score is -inf. `fused` computes the same in one op;
/// null if there is none.
struct AttentionFunctionEntry {
  using Compute = Tensor (*)(const Tensor& q, const Tensor& k, const Tensor& v,
                             AttentionOptions options, Tensor* pattern);
  const char* name;
  const char* summary;
  bool normalises;
  AfterMask after_mask;
  int operations;
  Compute compute;
  Compute fused = nullptr;
};

/// Returns the table, indexed by AttentionFunction; rows of a program that uses this library
/// follow.
std::span<const AttentionFunctionEntry> attention_functions();
/// Returns the rows of a program that uses this library. Add to them before the table is first
/// read.
std::vector<AttentionFunctionEntry>& own_attention_functions();
const AttentionFunctionEntry& kind_of(AttentionFunction function);

/// Returns the fused form of an attention function if it has one, and its composed form otherwise.
AttentionFunctionEntry::Compute form_of(AttentionFunction function);

}}  // namespace headlab
