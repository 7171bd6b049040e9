// One turn times everything once; the median over turns is taken for each. The first turn warms the
// caches and the memory pool and does not count.
// Read next: src/bench/bench.cc, whole training steps.
#include "headlab/prune/timing.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "headlab/base/error.h"
#include "headlab/base/timing.h"
#include "headlab/prune/prune.h"
#include "headlab/tensor/tape.h"

namespace headlab {
namespace {

using Work = std::function<void()>;

/// Forward and backward of a whole model.
Work step_of(Transformer& model, const Batch& batch, const ModelHooks& hooks) {
  return [&model, &batch, &hooks] {
    backward(model.loss(batch, {}, hooks));
    model.visit([](const std::string&, Tensor& parameter) { parameter.zero_grad(); });
  };
}

/// One attention module with what it reads and a gradient of what it writes, made before the clock
/// runs.
struct ModuleAlone {
  const MultiHeadAttention* attention;
  Tensor queries, keys, gradient;
  AttentionMask mask;
};

/// Inputs of the shapes that the model's have; cross-attention reads one of the source's length.
std::vector<ModuleAlone> modules_alone(Transformer& model, const Batch& batch) {
  const bool causal = model.config().architecture != Architecture::encoder;
  const Index C = model.config().d_model;
  std::vector<ModuleAlone> all;
  for (const AttentionModule& module : model.attention_modules()) {
    const bool in_source = module.kind == AttentionKind::encoder;
    const Index T = in_source ? batch.source_length : batch.length;
    ModuleAlone alone{.attention = module.attention,
                      .queries = Tensor::full({batch.size, T, C}, 1).set_requires_grad(),
                      .keys = {},
                      .gradient = Tensor::full({batch.size, T, C}, 1),
                      .mask = {.causal = causal && module.kind == AttentionKind::self}};
    alone.keys = module.kind == AttentionKind::cross
                     ? Tensor::full({batch.size, batch.source_length, C}, 1)
                     : alone.queries;
    all.push_back(std::move(alone));
  }
  return all;
}

/// Forward and backward of the attention modules alone.
Work attention_of(Transformer& model, const Batch& batch) {
  return [&model, modules = modules_alone(model, batch)]() mutable {
    for (ModuleAlone& alone : modules) {
      const Tensor y = alone.attention->forward(alone.queries, alone.keys, alone.mask);
      backward(y, alone.gradient);
      alone.queries.zero_grad();
    }
    model.visit([](const std::string&, Tensor& parameter) { parameter.zero_grad(); });
  };
}

}  // namespace

std::vector<PruneTiming> time_pruning(const Transformer& model, std::span<const HeadId> kept,
                                      const Batch& examples, const TimingOptions& options) {
  Transformer full = model.clone();
  Transformer removed = remove_heads(model, kept);
  const ModelHooks none, gates{.edits = gates_for(model, kept)};
  std::vector<PruneTiming> timings;
  for (const Index size : options.batches) {
    require(size >= 1 && size <= examples.size, "a batch of ", size, " cannot be timed with ",
            examples.size, " examples");
    const Batch batch = examples.rows(0, size);
    const std::vector<Work> works = {step_of(full, batch, none),    step_of(full, batch, gates),
                                     step_of(removed, batch, none), step_of(full, batch, none),
                                     attention_of(full, batch),     attention_of(removed, batch)};
    const std::vector<double> ms = interleaved_medians(works, options.turns);
    timings.push_back({.batch = size,
                       .full = ms[0],
                       .masked = ms[1],
                       .removed = ms[2],
                       .attention_full = ms[4],
                       .attention_removed = ms[5],
                       .noise = std::abs(ms[3] / ms[0] - 1)});
  }
  return timings;
}

Json PruneTiming::to_json() const {
  Json json = Json::object();
  json["batch"] = batch;
  json["full_ms"] = full;
  json["masked_ms"] = masked;
  json["removed_ms"] = removed;
  json["attention_full_ms"] = attention_full;
  json["attention_removed_ms"] = attention_removed;
  json["noise"] = noise;
  return json;
}

}  // namespace headlab
