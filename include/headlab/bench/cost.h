// What attention costs, counted from sizes alone: parameters by matrix, operations by op, memory,
// the cache of keys and values. At a fixed d_model the number of heads changes none of the
// products, only what is done once for each score. Counts are exact whole numbers; sizes whose
// counts a double could not hold are refused. Read next: bench.h, which times what is counted here.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/base/table.h"
#include "headlab/model/transformer.h"

namespace headlab {

/// An attention module with the sequences that it joins: T queries, S keys, of which generation
/// keeps so many: those in a window, and none where nothing is generated.
struct AttentionPlaceSizes {
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
/// Every option with its limits: sizes to 2^20, length to 2^24, layers to 10^4, batch to 10^5.
Settings settings_of(CostOptions& options);

/// `layers` modules of these sizes. Errors: more heads than d_model where d_head is not given, so
/// that heads have no width; kv_heads that do not divide heads.
std::vector<AttentionPlaceSizes> modules_of(const CostOptions& options);
/// Those of a model, at its full length; what was pruned is gone.
std::vector<AttentionPlaceSizes> modules_of(const Transformer& model);

/// "512 does not divide into 7 heads: ..." what becomes of the rest here and in PyTorch; "" where
/// they divide.
std::string division_note(Index d_model, Index heads);

/// matrix, its shape in letters and numbers, parameters; last the sum.
Table parameter_cost(const std::vector<AttentionPlaceSizes>& modules);
/// op, formula, operations forward with one head as wide as all together, forward, backward; last
/// the sum. A multiply-add counts two, a score what its attention function says (softmax five:
/// maximum, difference, exp, sum, quotient), forward and backward. All T x S scores are counted,
/// hidden or not. Backward is that of the fused kernel, which computes the scores again.
Table operation_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch);
/// what, formula, numbers, bytes in fp32 and fp16: what a training step keeps, composed of simpler
/// ops and fused.
Table memory_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch);
/// The keys and values that generation keeps, for a block of K and V for each head, for the groups
/// asked for (or for four heads a block), and for one block.
Table cache_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch);
/// part, time and memory as orders of growth, and their operations here with their share.
Table complexity_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch);
/// All of them.
Finding cost_finding(const std::vector<AttentionPlaceSizes>& modules, Index batch);
/// Published models with their attention's parameters (without biases) and cache for each token.
Table published_cost();

}  // namespace headlab
