// The benchmark of a training step. The step is the one that the trainer takes, without its
// batches and files: forward, cross-entropy, backward, norm, AdamW. Operations are counted over
// all T keys, so that skipping causal tiles shows as a larger share of peak. Read next:
// machine.cc.
#include "headlab/bench/bench.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "headlab/base/error.h"
#include "headlab/base/timing.h"
#include "headlab/base/threads.h"
#include "headlab/base/version.h"
#include "headlab/bench/machine.h"
#include "headlab/model/initial.h"
#include "headlab/tensor/watch.h"
#include "headlab/train/optimizer.h"

namespace headlab {
namespace {

struct NamedConfig {
  const char* name;
  Index layers, heads, d_model, d_ff, length, batch, vocab;
  Index steps;
};

constexpr std::array<NamedConfig, 5> kConfigs = {{
    {"toy", 2, 4, 64, 256, 32, 64, 64, 120},
    {"char", 4, 4, 128, 512, 64, 12, 65, 90},  // the CPU example of nanoGPT's README
    {"medium", 6, 6, 384, 1536, 256, 4, 65, 15},
    {"long", 2, 4, 128, 512, 1024, 4, 65, 15},
    {"gpt2", 12, 12, 768, 3072, 64, 4, 50257, 7},  // the CPU example of llm.c's README
}};

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
  return name.rfind("encoder.", 0) == 0 || name.find(".cross_attn.W_K") != name.npos ||
         name.find(".cross_attn.W_V") != name.npos;
}

/// 6 B (weights x the tokens that they multiply + attention over all T x S keys), forward and
/// backward.
double operations_of(Transformer& model, const BenchOptions& options) {
  const TransformerConfig& c = options.model;
  Index products = c.tied ? c.vocab * c.d_model * c.length : 0;
  model.visit([&](const std::string& name, Tensor& parameter) {
    const bool looked_up = name == "embed.W_E" || name.find("pos_embed.W_pos") != name.npos;
    const bool multiplies = parameter.rank() == 2 && !looked_up;
    const Index tokens = reads_source(name) ? c.source_length : c.length;
    products += multiplies ? parameter.count() * tokens : 0;
  });
  for (const AttentionPlace& place : c.attention_places()) {
    const Index queries = place.kind == AttentionKind::encoder ? c.source_length : c.length;
    const Index keys = place.kind == AttentionKind::self ? c.length : c.source_length;
    products += c.heads_of(place.layer) * (c.d_head_of(place.layer) + c.d_value_of(place.layer)) *
                queries * keys;
  }
  return 6 * static_cast<double>(options.batch) * static_cast<double>(products);
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
  Json json = Json::object();
  json["headlab"] = version();
  json["config"] = options.config;
  json["threads"] = thread_count();
  json["processors"] = processor_count();
  json["spin_us"] = thread_count() <= processor_count() ? kSpinMicroseconds : 0;
  json["binding"] = "none";
  json["load_average"] = load_average();
  return json;
}

std::vector<std::string> bench_config_names() {
  std::vector<std::string> names;
  for (const NamedConfig& config : kConfigs) names.emplace_back(config.name);
  return names;
}

BenchOptions bench_options(const std::string& name) {
  for (const NamedConfig& named : kConfigs) {
    if (name == named.name) {
      BenchOptions options{.config = name, .batch = named.batch, .steps = named.steps, .model = {}};
      options.model.layers = named.layers;
      options.model.heads = {named.heads};
      options.model.d_model = named.d_model;
      options.model.d_ff = named.d_ff;
      options.model.length = named.length;
      options.model.vocab = named.vocab;
      options.model.init = InitialValues::gpt2;
      return options;
    }
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
  result.gflops = operations_of(step.model(), options) / result.median_ms / 1e6;
  result.peak_gflops = measure_fma_peak();
  result.fraction_of_peak = result.gflops / result.peak_gflops;
  result.triad_gbs = measure_triad();
  if (!has_threads()) {
    result.warnings.emplace_back(
        "this build has no threads (HEADLAB_THREADS=OFF) and uses one core");
  }
  return result;
}

Json BenchResult::to_json() const {
  Json json = about;
  json["median_ms"] = median_ms;
  json["min_ms"] = min_ms;
  json["tokens_per_s"] = tokens_per_s;
  json["gflops"] = gflops;
  json["peak_gflops"] = peak_gflops;
  json["fraction_of_peak"] = fraction_of_peak;
  json["triad_gbs"] = triad_gbs;
  json["peak_memory_mb"] = peak_memory_mb;
  return json;
}

}  // namespace headlab
