// Cost of attention, counted from sizes alone: parameters by matrix, operations by op, memory with
// the cache of keys and values. At a fixed d_model the number of heads changes none of the
// products, only the work done once per score. Counts are exact whole numbers; sizes whose counts
// exceed the precision of a double are refused. Read next: bench.h, which measures times.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/base/settings.h"
#include "headlab/core/model/transformer.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Attention layer with the sequences that it joins: T queries and S keys. `kept` is the number of
/// keys that generation caches: those within a window, or none if nothing is generated.
struct AttentionSlotSizes {
  std::string name;
  AttentionSizes sizes;
  Index queries, keys, kept;
  AttentionFunction function = AttentionFunction::softmax;
};

struct CostOptions {
  Index d_model = 512, heads = 8;
  Index kv_heads = 0;   // blocks of K and V, a divisor of heads; 0: heads
  Index d_head = 0;     // 0: floor(d_model / heads)
  Index d_value = 0;    // 0: d_head
  Index length = 1024;  // T = S
  Index layers = 1, batch = 1;
  bool biases = true;
  AttentionFunction attention_function = AttentionFunction::softmax;
};
/// Returns every option with its limits: sizes to 2^20, length to 2^24, layers to 10^4, batch to
/// 10^5.
Settings settings_of(CostOptions& options);

/// Returns `layers` attention layers of these sizes. Errors: more heads than d_model if d_head is
/// not given, so that heads have no width; kv_heads that do not divide heads.
std::vector<AttentionSlotSizes> attention_layers_of(const CostOptions& options);
/// Returns the attention layers of a model at its full length, without pruned heads.
std::vector<AttentionSlotSizes> attention_layers_of(const Transformer& model);

/// Returns a note on the remainder, "512 does not divide into 7 heads: ...", and how headlab and
/// PyTorch treat it; "" if there is no remainder.
std::string division_note(Index d_model, Index heads);

/// Returns matrix, its shape in letters and numbers, parameters; the last row is the sum.
Table parameter_cost(const std::vector<AttentionSlotSizes>& attention_layers);
/// Returns op, formula, operations forward with one head as wide as all together, forward,
/// backward; the last row is the sum. A multiply-add counts two. A score counts as many as its
/// attention function (softmax five: maximum, difference, exp, sum, quotient), forward and
/// backward. All T x S scores are counted, masked or not. Backward is that of the fused kernel,
/// which computes the scores again.
Table operation_cost(const std::vector<AttentionSlotSizes>& attention_layers, Index batch);
/// Returns what, formula, numbers, bytes in fp32 and fp16 of the memory that a training step keeps,
/// composed of simpler ops and fused, and of the keys and values that generation caches.
Table memory_cost(const std::vector<AttentionSlotSizes>& attention_layers, Index batch);
/// Returns part, time and memory as orders of growth, and the operations at these sizes with their
/// share.
Table complexity_cost(const std::vector<AttentionSlotSizes>& attention_layers, Index batch);
/// Returns all of these tables.
Result cost_result(const std::vector<AttentionSlotSizes>& attention_layers, Index batch);

}  // namespace headlab
