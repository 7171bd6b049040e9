// The benchmark of a training step. The step is the one that the trainer takes, without its
// batches and files: forward, cross-entropy, backward, norm, AdamW. Operations are counted over
// all T keys, so that skipping causal tiles shows as a larger share of peak. Read next:
// machine.cc.
#include "headlab/bench/bench.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"
#include "headlab/base/timing.h"
#include "headlab/bench/machine.h"
#include "headlab/model/initial.h"
#include "headlab/tensor/watch.h"
#include "headlab/train/optimizer.h"

namespace headlab {
namespace {

struct NamedConfig {
  const char* name;
  const char* settings;
};

constexpr NamedConfig kConfigs[] = {
    {"toy", "layers=2 heads=4 d_model=64 d_ff=256 length=32 vocab=64 batch=64 steps=120"},
    // the CPU example of nanoGPT's README
    {"char", "layers=4 heads=4 d_model=128 d_ff=512 length=64 vocab=65 batch=12 steps=90"},
    {"medium", "layers=6 heads=6 d_model=384 d_ff=1536 length=256 vocab=65 batch=4 steps=15"},
    {"long", "layers=2 heads=4 d_model=128 d_ff=512 length=1024 vocab=65 batch=4 steps=15"},
    // the CPU example of llm.c's README
    {"gpt2", "layers=12 heads=12 d_model=768 d_ff=3072 length=64 vocab=50257 batch=4 steps=7"},
};

Batch random_batch(const BenchOptions& options) {
  Generator random(Key{1}.fold("bench"));
  Batch batch = Batch::make(options.batch, options.model.length, options.model.targets,
                            options.model.source_length);
  for (Ids* ids : {&batch.tokens, &batch.targets, &batch.source})
    for (std::int32_t& id : *ids) id = static_cast<std::int32_t>(random.below(options.model.vocab));
  return batch;
}

/// Whether a weight multiplies the tokens of the source.
bool reads_source(const std::string& name) {
  return name.starts_with("encoder.") || name.find(".cross_attn.W_K") != name.npos ||
         name.find(".cross_attn.W_V") != name.npos;
}

/// 6 B (weights x the tokens that they multiply + attention over all T x S keys), forward and
/// backward.
double operations_of(const TrainingStep& step) {
  const TransformerConfig& c = step.model().config();
  Index products = c.tied ? c.vocab * c.d_model * c.length : 0;
  step.model().visit([&](const std::string& name, const Tensor& parameter) {
    const bool looked_up = name == "embed.W_E" || name.find("pos_embed.W_pos") != name.npos;
    const bool multiplies = parameter.rank() == 2 && !looked_up;
    const Index tokens = reads_source(name) ? c.source_length : c.length;
    products += multiplies ? parameter.count() * tokens : 0;
  });
  for (const auto& [name, kind, layer] : c.attention_places())
    products += c.heads_of(layer) * (c.d_head_of(layer) + c.d_value_of(layer)) *
                step.batch().queries(kind) * step.batch().keys(kind);
  return 6 * static_cast<double>(step.batch().size) * static_cast<double>(products);
}

/// Milliseconds of each step after the warm-up, sorted.
std::vector<double> time_steps(TrainingStep& step, Index steps) {
  const Index warmup = std::max<Index>(1, steps / 3);
  std::vector<double> times;
  for (Index i = 0; i < warmup + steps; ++i) times.push_back(milliseconds([&] { step.run(); }));
  times.erase(times.begin(), times.begin() + warmup);
  std::sort(times.begin(), times.end());
  return times;
}

TrainConfig train_config() {
  TrainConfig train;
  train.lr = 1e-4;
  train.clip = 1;
  return train;
}

}  // namespace

TrainingStep::TrainingStep(const BenchOptions& options)
    : TrainingStep(options, random_batch(options)) {}

TrainingStep::TrainingStep(const BenchOptions& options, Batch batch)
    : model_(options.model), optimizer_(train_config()), batch_(std::move(batch)) {
  initialize(model_, Key{1}.fold("bench"));
  model_.visit(
      [&](const std::string& name, Tensor& parameter) { optimizer_.add(name, parameter); });
}

void TrainingStep::run() {
  backward(model_.loss(batch_, {.training = true, .key = {}}));
  const double norm = optimizer_.gradient_norm();
  note_work("gradient norm");
  optimizer_.step(train_config().lr, norm);
  note_work("optimizer");
}

Json bench_about(const BenchOptions& options) {
  return stamped({{"config", options.config},
                  {"threads", thread_count()},
                  {"processors", processor_count()},
                  {"spin_us", thread_count() <= processor_count() ? kSpinMicroseconds : 0},
                  {"binding", "none"},
                  {"load_average", load_average()}});
}

std::vector<std::string> bench_config_names() {
  std::vector<std::string> names;
  for (const NamedConfig& config : kConfigs) names.emplace_back(config.name);
  return names;
}

BenchOptions bench_options(const std::string& name) {
  for (const NamedConfig& named : kConfigs) {
    if (name != named.name) continue;
    BenchOptions options{.config = name};
    options.model.init = InitialValues::gpt2;
    settings_of(options).set_all_text(named.settings);
    return options;
  }
  throw unknown_name("configuration", name, bench_config_names());
}

Settings settings_of(BenchOptions& options) {
  Settings s;
  s.integer("batch", options.batch, 1, 1 << 20, "sequences in a step");
  s.integer("steps", options.steps, 1, 1 << 20, "timed steps");
  s.boolean("quick", options.quick, "tables: one round at the smallest sizes");
  s.add(settings_of(options.model));
  return s;
}

BenchResult bench_step(const BenchOptions& options) {
  BenchResult result;
  result.about = bench_about(options);
  TrainingStep step(options);
  const std::vector<double> times = time_steps(step, options.steps);
  result.config = options.config;
  result.threads = thread_count();
  result.peak_memory_mb = headlab::peak_memory_mb();
  result.median_ms = times[times.size() / 2];
  result.min_ms = times[0];
  result.tokens_per_s = static_cast<double>(options.batch * options.model.tokens_per_sequence()) /
                        result.median_ms * 1e3;
  result.gflops = operations_of(step) / result.median_ms / 1e6;
  result.peak_gflops = measure_fma_peak();
  result.fraction_of_peak = result.gflops / result.peak_gflops;
  result.triad_gbs = measure_triad();
  if (!has_threads()) {
    result.warnings.emplace_back(
        "this build has no threads (HEADLAB_THREADS=OFF) and uses one core");
  }
  return result;
}

Json to_json(const BenchResult& result) {
  Json json = result.about;
  const Json measured = Json::object({{"median_ms", result.median_ms},
                                      {"min_ms", result.min_ms},
                                      {"tokens_per_s", result.tokens_per_s},
                                      {"gflops", result.gflops},
                                      {"peak_gflops", result.peak_gflops},
                                      {"fraction_of_peak", result.fraction_of_peak},
                                      {"triad_gbs", result.triad_gbs},
                                      {"peak_memory_mb", result.peak_memory_mb}});
  for (const auto& [key, value] : measured.members()) json[key] = value;
  return json;
}

}  // namespace headlab
