// Timing of pruned models. Six pieces of work are timed in turns: the three models, the full one a
// second time, and the attention layers alone of the full and the pruned one. Two timings of the
// full model show the noise of the clock.
// Read next: src/lab/runs/timing.h.
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/fields.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

using Work = std::function<void()>;

void clear_gradients(Transformer& model) {
  model.visit([](const std::string&, const Tensor& parameter) { parameter.zero_grad(); });
}

/// Runs forward and backward of a whole model.
Work step_of(Transformer& model, const Batch& batch, const ModelHooks& hooks) {
  return [&model, &batch, &hooks] {
    backward(model.loss(batch, {}, hooks));
    clear_gradients(model);
  };
}

/// Attention layer with its inputs and the gradient of its output, created before the timing.
struct LayerAlone {
  const MultiHeadAttention* attention = nullptr;
  Tensor queries, keys, gradient;
  AttentionMask mask;
};

/// Returns the attention layers with inputs of the shapes that they have in the model.
std::vector<LayerAlone> layers_alone(const Transformer& model, const Batch& batch) {
  const auto ones = [&](Index length) {
    return Tensor::full({batch.size, length, model.config().d_model}, 1);
  };
  std::vector<LayerAlone> all;
  for (const AttentionLayer& m : model.attention_layers()) {
    LayerAlone& alone = all.emplace_back();
    alone.attention = m.attention;
    alone.queries = ones(batch.queries(m.kind)).set_requires_grad();
    alone.keys = m.kind == AttentionKind::cross ? ones(batch.keys(m.kind)) : alone.queries;
    alone.gradient = ones(batch.queries(m.kind));
    alone.mask = {.causal = m.causal, .window = m.window};
  }
  return all;
}

/// Runs forward and backward of the attention layers alone.
Work attention_of(Transformer& model, const Batch& batch) {
  return [&model, attention_layers = layers_alone(model, batch)]() mutable {
    for (LayerAlone& alone : attention_layers) {
      const Tensor y = alone.attention->forward(alone.queries, alone.keys, alone.mask);
      backward(y, alone.gradient);
      alone.queries.zero_grad();
    }
    clear_gradients(model);
  };
}

}  // namespace

Table timing_table(std::span<const TimedBatch> batches) {
  using Row = TimedBatch;
  Fields<Row> fields;
  fields.add(Column("batch", "batch", "sequences in a batch").no_legend(), &Row::batch);
  fields.add(
      Column("full_ms", "full ms", "forward and backward of the whole model, median").fixed(3),
      &Row::full_ms);
  fields.add(Column("masked_ms", "masked ms", "with heads whose gates are 0").fixed(3),
             &Row::masked_ms);
  fields.add(Column("removed_ms", "removed ms", "with these heads removed").fixed(3),
             &Row::removed_ms);
  fields.add(
      Column("attention_full_ms", "attention", "attention of the whole model, alone").fixed(3),
      &Row::attention_full_ms);
  fields.add(Column("attention_removed_ms", "without", "attention with heads removed").fixed(3),
             &Row::attention_removed_ms);
  fields.add(
      Column("attention_saved", "saved", "share of the time of attention that is saved").percent(1),
      [](const Row& row) { return 1 - row.attention_removed_ms / row.attention_full_ms; });
  fields.add(Column("saved", "of all", "share of the whole time that is saved").percent(1),
             [](const Row& row) { return 1 - row.removed_ms / row.full_ms; });
  fields.add(Column("noise", "noise", "by how much repeated timings differ").percent(1),
             [](const Row& row) { return std::abs(row.repeated_ms / row.full_ms - 1); });
  return fields.table({.name = "timing"}, batches);
}

Table time_pruning(const Transformer& model, std::span<const HeadId> kept, const Batch& examples,
                   const TimingOptions& options) {
  Transformer full = model.clone();
  Transformer removed = remove_heads(model, kept);
  const ModelHooks none, gates{.interventions = gates_for(model, kept)};
  std::vector<TimedBatch> timed;
  Steps steps(std::ssize(options.batches));
  for (const Index size : options.batches) {
    require(size >= 1 && size <= examples.size, "cannot time a batch of ", size, " with ",
            examples.size, " examples");
    const Batch batch = examples.rows(0, size);
    const std::vector<Work> works = {step_of(full, batch, none),    step_of(full, batch, gates),
                                     step_of(removed, batch, none), step_of(full, batch, none),
                                     attention_of(full, batch),     attention_of(removed, batch)};
    const std::vector<double> ms = interleaved_medians(works, options.turns);
    timed.push_back({.batch = size,
                     .full_ms = ms[0],
                     .masked_ms = ms[1],
                     .removed_ms = ms[2],
                     .repeated_ms = ms[3],
                     .attention_full_ms = ms[4],
                     .attention_removed_ms = ms[5]});
    steps.done();
  }
  return timing_table(timed);
}

}  // namespace headlab
