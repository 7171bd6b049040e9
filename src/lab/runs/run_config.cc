// The settings of a run are those of its task, its model and its training, in the order in which
// config.json has always held them; the table of each marks those that a user may not set. The
// estimate of memory is a lower bound, what every implementation of the backward pass must keep:
// it refuses a mistyped size at once, before the system starts to swap. Read next: run.cc.
#include "headlab/lab/runs/run_config.h"

#include <algorithm>
#include <cmath>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/ops/loss.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/optimizer.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/results/members.h"

namespace headlab {
namespace {

/// Returns "1.5 GB"
std::string gigabytes(double bytes) { return text(std::round(bytes / 1e8) / 10, " GB"); }

/// Reads one extension. Error unless it has these members alone, with steps that can be.
Extension extension_of(const Json& json) {
  const Extension read = read_as<Extension>(json);
  require(json.members().size() == 3, "an extension must have 3 keys, got ", json.members().size());
  require(0 <= read.from && read.from <= read.to, "from must be from 0 to ", read.to, ", got ",
          read.from);
  return read;
}

Setting setting_of(std::vector<Extension>& extended) {
  const auto set = [&extended](const Json& json) {
    in_context("extended must be a list of {from, to, is_planned}, got " + json.dump(),
               [&] { extended = mapped(json.items(), extension_of); });
  };
  return {.name = "extended",
          .placeholder = "LIST",
          .help = "times at which the run was given another number of steps",
          .set = set,
          .get = [&extended] { return Json(extended); }};
}

}  // namespace

void RunConfig::validate() const {
  model.validate();
  train.validate();
  require_memory(model, train);
}

Settings settings_of(RunConfig& config) {
  Settings s;
  s.string("task", config.task, "task, as NAME:parameter=value,...");
  s.add(settings_of(config.model));
  for (Setting& setting : settings_of(config.train).all()) {
    if (setting.name == "seed") {  // files keep the order of their members
      s.integer("track_heads", config.track_heads, 0, 1'000'000'000,
                "steps between scores of all heads (0: never)");
      s.integer("keep_weights", config.keep_weights, 0, 10'000,
                "number of snapshots to keep during training (0: none)");
      s.integer("patience", config.patience, 0, 1'000'000'000,
                "stop after N evaluations with no lower loss (0: off)");
    }
    s.add(std::move(setting));
  }
  s.string("parent", config.parent, "the run that this one was made from");
  s.string("data_hash", config.data_hash, "hash of the task's data file");
  s.string("pruning", config.pruning, "how this run was made from its parent");
  s.add(setting_of(config.extended));
  s.string("imported", config.imported, "layout of the model that was imported");
  s.string("from", config.from, "the run whose weights this one began with");
  s.string("from_weights", config.from_weights, "hash of those weights");
  s.mark_decided(
      {"parent", "data_hash", "pruning", "extended", "imported", "from", "from_weights"});
  return s;
}

void read_settings(RunConfig& config, const Json& settings, const std::string& file) {
  RunConfig read = config;  // `config` stays as it is on an error
  settings_of(read).set_all(settings, file, {"headlab", "build", "data"});
  config = std::move(read);
}

Settings user_settings_of(RunConfig& config) {
  Settings mine;
  for (Setting& setting : settings_of(config).all()) {
    if (!setting.decided) mine.add(std::move(setting));
  }
  return mine;
}

const std::vector<std::string>& resumable_settings() {
  static const std::vector<std::string> names = {"steps",      "eval_every",  "eval_examples",
                                                 "save_every", "track_heads", "keep_weights",
                                                 "patience"};
  return names;
}

std::string identity_of(const RunConfig& config) {
  static RunConfig defaults;
  static const Settings preset = settings_of(defaults);
  RunConfig copy = config;  // a table may change the object that it is bound to
  const Settings settings = settings_of(copy);
  // Stored files hold fingerprints in which the place of layer norms is called `norm`.
  const bool calls_place_norm = config.model.norm == NormType::layer;
  Json differing = Json::object();
  for (const Setting& setting : settings.all()) {
    const std::string& name = setting.name;
    const bool may_change =
        name == "extended" || std::ranges::count(resumable_settings(), name) > 0;
    if (may_change || setting.get() == preset.find(name)->get()) continue;
    differing[calls_place_norm && name == "norm_place" ? "norm" : name] = setting.get();
  }
  return fingerprint(differing.dump());
}

std::unique_ptr<Task> fit_to_task(RunConfig& config) {
  std::unique_ptr<Task> task = make_task(config.task);
  config.task = task->spec();
  config.model.shape() = task->shape();
  config.data_hash = task->data_hash();
  return task;
}

void fit_heads(TransformerConfig& model) {
  const bool fits = model.heads.size() != 1 || model.heads[0] < 1 ||
                    model.heads[0] > model.d_model || model.d_model % model.heads[0] == 0;
  if (!fits && model.d_head == 0) model.d_head = model.d_model / model.heads[0];
}

std::string warmup_note(const TrainConfig& c) {
  if (c.steps == 0 || c.warmup <= c.steps) return "";
  return text("warmup ", c.warmup, " is longer than the ", c.steps,
              c.steps == 1 ? " step" : " steps", ": the learning rate reaches ",
              significant(learning_rate(c, c.steps - 1)), " of ", significant(c.lr));
}

std::string schedule_note(const TrainConfig& before, const TrainConfig& now, Index step) {
  if (step == 0 || before.steps == now.steps) return "";
  const double last = learning_rate(before, step - 1), next = learning_rate(now, step);
  const double planned = learning_rate(before, std::min(step, before.steps - 1));
  if (std::abs(next - planned) <= 0.01 * now.lr) return "";
  return text("the schedule was planned for ", before.steps, " steps and is stretched to ",
              now.steps, ": the learning rate goes from ", significant(last), " to ",
              significant(next));
}

std::string head_width_note(const TransformerConfig& model) {
  const Index heads = model.heads[0];
  const bool is_even = model.heads.size() != 1 || heads == 0 || model.d_model % heads == 0;
  const Index width = heads == 0 ? 0 : model.d_model / heads;
  if (is_even || model.d_head != width) return "";
  return text("d_model ", model.d_model, " is not divisible by ", heads, " heads: each is ", width,
              " wide, ", heads * width, " columns together; widths that divide are ", heads * width,
              " and ", heads * (width + 1));
}

RunConfig recommended_config(const std::string& task) {
  RunConfig config;
  config.task = task;
  user_settings_of(config).set_all_text(recommended_settings(task));
  return config;
}

Transformer initial_model(const RunConfig& config) {
  Transformer model(config.model);
  initialize(model, streams::initial_values(config.train.seed));
  return model;
}

/// Returns the bytes of the logits that the loss of a step stores at a time.
static double logit_bytes(const TransformerConfig& m, const TrainConfig& t) {
  const Index outputs = m.targets * m.outputs();
  const Index rows = std::min(t.batch / t.accumulate * m.length, rows_of_logits(outputs));
  return static_cast<double>(rows * outputs) * sizeof(Scalar);
}

double step_bytes(const TransformerConfig& m, const TrainConfig& t) {
  const bool is_composed = kind_of(m.attention_function).fused == nullptr;
  Index floats = 0;  // of a sequence, for each attention layer
  for (const AttentionSlot& slot : m.attention_slots()) {
    const Index residuals = slot.begins_block()
                                ? 2 * m.d_model + (kind_of(m.activation).matrices - 1) * m.d_ff
                                : m.d_model;
    floats += slot.queries * (slot.width + residuals) + slot.keys * slot.key_width;
    if (is_composed) {  // scores and weights are kept for the backward pass
      floats += 2 * m.heads_of(slot.layer) * slot.queries * slot.keys;
    }
  }
  const Index integers = m.length * (1 + m.targets) + m.source_length;
  const double bytes =
      static_cast<double>(integers) * sizeof(std::int32_t) +
      static_cast<double>(floats) * sizeof(Scalar) / static_cast<double>(t.accumulate);
  return static_cast<double>(t.batch) * bytes + logit_bytes(m, t);
}

double parameter_bytes(const TransformerConfig& m, const TrainConfig& t) {
  const Index tables = m.inputs() + m.outputs() * (m.tied ? 0 : m.targets) +
                       (kind_of(m.positions).is_parameter ? m.tokens_per_sequence() : 0);
  const double weights = m.block_weights() + static_cast<double>(tables * m.d_model);
  return weights * sizeof(Scalar) * (3 + 2 * kind_of(t.optimizer).moments);
}

void require_memory(const TransformerConfig& model, const TrainConfig& train, double available) {
  const double step = step_bytes(model, train), parameters = parameter_bytes(model, train);
  const double there = available > 0 ? available : static_cast<double>(machine_memory());
  if (step + parameters <= there) return;
  throw Error(text("cannot train: a step of batch ", train.batch, " needs at least ",
                   gigabytes(step), " and the ", "parameters with all that belongs to them ",
                   gigabytes(parameters), " of memory, and this machine has ", gigabytes(there)),
              step > parameters
                  ? "use a smaller `batch`, or `accumulate` N, which makes a step of N "
                    "smaller ones"
                  : "use a smaller model: `d_model`, `layers` or `d_ff`");
}

}  // namespace headlab
