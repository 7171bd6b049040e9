// `bench pruned`: what half of the heads cost, in a model of random weights. Times do not depend on
// which heads go, so the first half of each layer stays. Attention is projections and all, forward
// and backward; what it saves is implied for the whole, whose other parts stay as they were. Read
// next: src/prune/timing.cc.
#include <algorithm>

#include "headlab/bench/benchmarks.h"
#include "headlab/prune/timing.h"

namespace headlab {
namespace {

/// 1, 4, 16 and 64, as far as the batch of the configuration or 16 goes.
std::vector<Index> batches_of(const BenchOptions& options) {
  std::vector<Index> batches = {1, 4, 16, 64};
  const Index most = options.quick ? 1 : std::max<Index>(16, options.batch);
  std::erase_if(batches, [&](Index batch) { return batch > most; });
  return batches;
}

std::vector<HeadId> first_half(const Transformer& model) {
  std::vector<HeadId> kept;
  const auto numbers = model.head_numbers();
  for (std::size_t layer = 0; layer < numbers.size(); ++layer)
    for (std::size_t h = 0; h < (numbers[layer].size() + 1) / 2; ++h)
      kept.push_back({static_cast<Index>(layer), numbers[layer][h]});
  return kept;
}

}  // namespace

BenchTable bench_pruned(const BenchOptions& options) {
  const std::vector<Index> batches = batches_of(options);
  BenchOptions largest = options;
  largest.batch = batches.back();
  TrainingStep step(largest);
  BenchTable table{.about = bench_about(options),
                   .columns = {{"batch", "batch", 0},
                               {"full_ms", "full ms", 3},
                               {"masked_ms", "masked ms", 3},
                               {"removed_ms", "removed ms", 3},
                               {"attention_full_ms", "attention full", 3},
                               {"attention_removed_ms", "attention removed", 3},
                               {"attention_saved", "saved of attention", 3},
                               {"saved", "saved of all", 3},
                               {"implied", "implied by attention", 3},
                               {"noise", "noise", 3}}};
  for (const PruneTiming& row : time_pruning(step.model(), first_half(step.model()), step.batch(),
                                             {.batches = batches, .turns = options.steps})) {
    const double of_attention = row.attention_full - row.attention_removed;
    table.rows.push_back({row.batch, row.full, row.masked, row.removed, row.attention_full,
                          row.attention_removed, of_attention / row.attention_full,
                          1 - row.removed / row.full, of_attention / row.full, row.noise});
  }
  return table;
}

}  // namespace headlab
