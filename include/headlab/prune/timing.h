// What removal saves. A head whose gate is 0 costs as much as before; a head that was removed
// costs nothing. The full, the masked and the pruned model are timed in turns, so that other load
// on the machine affects all three alike. Read next: src/prune/timing.cc.
#pragma once

#include <span>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/heads/edits.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// Median milliseconds of one batch: forward and backward.
struct PruneTiming {
  Index batch = 0;  // sequences
  double full = 0, masked = 0, removed = 0;
  double attention_full = 0, attention_removed = 0;  // all attention modules alone
  double noise = 0;  // relative difference of two timings of the full model in the same turns
};
Table timing_table(const std::vector<PruneTiming>& timing);

struct TimingOptions {
  std::vector<Index> batches = {1, 4, 16, 64};
  Index turns = 15;  // of each batch size, after one warm-up
};

/// Times a model with all its heads, with gates that leave `kept`, and with `kept` alone. Error if
/// `examples` holds fewer sequences than the largest batch.
std::vector<PruneTiming> time_pruning(const Transformer& model, std::span<const HeadId> kept,
                                      const Batch& examples, const TimingOptions& options = {});

}  // namespace headlab
