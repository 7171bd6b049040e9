// Pruning from a choice of heads to a smaller run. All errors are checked before the new folder is
// created; the original run is only read. Times are medians of forward passes.
// Read next: src/core/model/transformer.cc, with_heads.
#include "headlab/lab/prune/prune.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/prune/stages.h"
#include "lab/prune/subsets.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

constexpr const char* kUnfinished = "unfinished";

constexpr Index kTimedSequences = 64, kTimedPasses = 11;

Batch timed_examples(const Task& task) {
  return task.make_batch(streams::timed(), kTimedSequences, Split::validation);
}

RunConfig pruned_config(const Run& run, const Transformer& pruned, const PruneOptions& options) {
  RunConfig config = run.config;
  config.model = pruned.config();
  config.parent = name_of(run);
  config.from = config.from_weights = "";  // the weights are those of the parent
  config.patience = 0;                     // fine-tuning takes the steps that it is given
  config.pruning = pruning_text(options);
  config.extended.clear();
  config.train = finetuning(run.config.train, options.finetune, options.lr);
  return config;
}

/// Returns the fewest heads with which the loss on the choosing examples rises by at most `rise`.
Choice within_rise(const PruneProblem& problem, const PruneMethod& method, double rise) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<Index> sizes(heads.size() + 1 - fewest_heads(problem));
  std::iota(sizes.begin(), sizes.end(), fewest_heads(problem));
  PassCount cost;
  const double limit = SubsetLoss(problem, cost)(heads) + rise;
  for (const Choice& choice : choose_heads(problem, method, sizes)) {
    const HeadedModel& model = choice.trained ? *choice.trained : problem.model;
    const PruneProblem judged{model, problem.task, {.examples = problem.settings.examples}};
    if (SubsetLoss(judged, cost)(choice.kept) <= limit) return choice;
  }
  throw Error(text("cannot keep the rise of the loss within ", rise, " with any number of heads"),
              "allow a larger rise, or use a method that does not train the weights");
}

void refuse_own_folder(const Run& run, const std::filesystem::path& out) {
  std::error_code ignored;
  require(!std::filesystem::equivalent(run.path, out, ignored), "cannot write the pruned run to ",
          out.string(), ": it is the run itself; name another folder");
}

}  // namespace

Judged judge(const Model& model, const Task& task, const EvaluateOptions& options) {
  const Evaluation held_out = evaluate(model, task, options);
  return {held_out.loss, held_out.accuracy};
}

ModelFigures measure_model(const Transformer& model, const Task& task, Index examples) {
  const NoGrad no_grad;
  const Batch batch = timed_examples(task);
  const std::function<void()> pass = [&] { model.forward(batch); };
  const double ms = interleaved_medians(std::span(&pass, 1), kTimedPasses)[0];
  return {judge(model, task, {.examples = examples}), model.parameter_count(), ms};
}

TrainConfig finetuning(const TrainConfig& trained, Index steps, double lr) {
  TrainConfig config = trained;
  config.steps = steps;
  config.warmup = std::min(config.warmup, steps / 10);
  config.lr = lr > 0 ? lr : 0.3 * config.lr;
  config.min_lr = std::min(config.min_lr, config.lr);
  return config;
}

Choice choose_heads(const PruneProblem& problem, const PruneOptions& options) {
  const int given = options.keep.has_value() + options.drop.has_value() +
                    options.max_loss_rise.has_value() + !options.remove.empty();
  require(given == 1,
          "cannot choose heads: exactly one of keep, drop, max_loss_rise and "
          "remove is needed, got ",
          given);
  if (!options.remove.empty()) {
    Choice choice{.kept = all_heads(problem.model)};
    for (const HeadId& head : options.remove) {
      slot_of(problem.model, head);  // Error if it does not exist
      std::erase(choice.kept, head);
    }
    return choice;
  }
  const PruneMethod& method = find_prune_method(options.method);
  if (options.max_loss_rise) return within_rise(problem, method, *options.max_loss_rise);
  if (options.keep) return choose_heads(problem, method, *options.keep);
  const double percent = *options.drop;
  require(percent >= 0 && percent <= 100, "cannot remove ", percent,
          " percent of the heads: expected 0 to 100");
  const auto heads = std::ssize(all_heads(problem.model));
  const auto gone = static_cast<Index>(percent / 100 * static_cast<double>(heads) + 1e-9);
  return choose_heads(problem, method, heads - gone);
}

Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept) {
  std::vector<std::vector<std::int32_t>> numbers(model.head_numbers().size());
  for (const HeadId& head : kept) {
    require(head.attention_layer >= 0 && head.attention_layer < std::ssize(numbers),
            "cannot prune a head of attention layer ", head.attention_layer, ": the model has ",
            numbers.size());
    numbers[head.attention_layer].push_back(head.head);
  }
  return model.with_heads(numbers);
}

Transformer pruned_model(const Transformer& model, const Choice& choice) {
  return remove_heads(choice.trained ? *choice.trained : model, choice.kept);
}

/// Writes the record of a pruning. A failure to write is kept in result.unwritten.
static void write_record(const std::filesystem::path& file, PruneResult& result) {
  Json json = to_json(result);
  if (result.finetuned < result.options.finetune) json[kUnfinished] = true;
  try {
    write_json(file, json);
  } catch (const Error& error) {
    result.unwritten = error;
  }
}

PruneResult prune_run(const Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks) {
  refuse_own_folder(run, out);
  check_run_folder(out, Existing{options.force});
  const Choice choice = choose_heads(problem_of(run, options.settings), options);
  PruneResult result;
  result.options = options;
  if (!options.remove.empty()) result.options.method = "hand";
  result.steps = trained_steps(run);
  result.gate_steps = choice.steps;
  result.attention = attention_layer_names(run.model);
  result.kept = choice.kept;
  result.gates = choice.gates;
  result.removed = all_heads(run.model);
  std::erase_if(result.removed, [&](const HeadId& head) { return contains(choice.kept, head); });
  const Transformer pruned = pruned_model(run.model, choice);
  if (options.measure) {
    result.timing = time_pruning(run.model, result.kept, timed_examples(*run.task));
  }
  const Index held_out = run.config.train.eval_examples;
  result.before = measure_model(run.model, *run.task, held_out);
  result.removed_only = result.after = measure_model(pruned, *run.task, held_out);

  Json json = to_json(result);
  if (options.finetune > 0) json[kUnfinished] = true;
  Run smaller = create_run(out, pruned_config(run, pruned, options), pruned,
                           Existing{options.force}, {{kPruneFile, json}});
  if (options.finetune > 0) {
    const TrainResult trained = train_run(smaller, track_heads(smaller, callbacks));
    result.finetuned = trained.steps;
    result.after = measure_model(smaller.model, *smaller.task, held_out);
  }
  result.weights = weights_hash(smaller.model);
  write_record(out / kPruneFile, result);
  return result;
}

std::string pruning_text(const PruneOptions& options) {
  std::vector<std::string> parts = {
      options.remove.empty() ? "method=" + options.method
                             : "remove=" + join(texts_of(options.remove, head_text), ",")};
  if (options.keep) parts.push_back(text("keep=", *options.keep));
  if (options.drop) parts.push_back("drop=" + number_text(*options.drop));
  if (options.max_loss_rise) {
    parts.push_back("max_loss_rise=" + number_text(*options.max_loss_rise));
  }
  parts.push_back(text("finetune=", options.finetune));
  if (options.lr > 0) parts.push_back("lr=" + number_text(options.lr));
  PruneSettings settings = options.settings;
  const Settings shared = options.remove.empty() ? settings_of(settings) : Settings();
  for (const Setting& setting : shared.all()) {
    parts.push_back(setting.name + "=" + setting.get().dump());
  }
  return join(parts, " ");
}

void update_prune_record(const Run& run) {
  const std::filesystem::path file = run.path / kPruneFile;
  if (!is_there(file)) return;
  Json record = read_json(file);
  const Json now = measure_model(run.model, *run.task, run.config.train.eval_examples);
  record["after"] = now;
  if (record.find("models") != nullptr) {
    for (const auto& [key, value] : now.members()) record["models"].items().back()[key] = value;
  }
  record["finetuned"] = run.step;
  record["step"] = run.step;
  record["weights"] = weights_hash(run.model);
  if (run.step >= run.config.train.steps) {
    std::erase_if(record.members(), [](const auto& member) { return member.first == kUnfinished; });
  }
  write_json(file, record);
}

namespace {

/// The model at one stage of pruning.
struct ModelStage : ModelFigures {
  const char* name;
  std::size_t heads;
};

/// The final gate of a head.
struct HeadGate {
  HeadId head;
  double gate;
  bool kept;

  bool is_closed() const { return gate <= 0; }
};

}  // namespace

static Table model_table(const PruneResult& result) {
  using Row = ModelStage;
  Fields<Row> fields;
  fields.add(Column("model", "model", "full model, after removing heads, or after fine-tuning")
                 .no_legend(),
             &Row::name);
  fields.add(Column("heads", "heads", "number of heads").no_legend(), &Row::heads);
  fields.add({"loss", "loss", "nats per held-out target: small is good"}, &Row::loss);
  fields.add(Column("accuracy", "accuracy", "share of targets that are right").fixed(4).no_legend(),
             &Row::accuracy);
  fields.add(Column("parameters", "parameters", "number of parameters")
                 .shown_as(Form::grouped)
                 .no_legend(),
             &Row::parameters);
  fields.add(
      Column("ms_per_batch", "ms per batch", "forward pass over 64 sequences, median").fixed(2),
      &Row::ms_per_batch);
  const std::vector<Row> stages = {{result.before, "before",
                                    result.kept.size() + result.removed.size()},
                                   {result.removed_only, "heads removed", result.kept.size()},
                                   {result.after, "after", result.kept.size()}};
  const std::string kept = join(texts_of(result.kept, head_text), " ");
  return fields.table({.name = "models", .note = "kept heads: " + (kept.empty() ? "none" : kept)},
                      stages);
}

/// Returns all heads that the run had, in the order of the model, which is that of the gates.
static std::vector<HeadId> heads_before(const PruneResult& result) {
  std::vector<HeadId> all = result.kept;
  all.insert(all.end(), result.removed.begin(), result.removed.end());
  std::ranges::sort(all, {},
                    [](const HeadId& head) { return std::pair(head.attention_layer, head.head); });
  return all;
}

static std::string counted_heads(Index count) {
  return text(count, count == 1 ? " head" : " heads");
}

/// Returns a note on the final gates of l0, and the heads that their rank chose rather than the
/// gates.
static Table gates_table(const PruneResult& result) {
  Fields<HeadGate> fields;
  fields.add(kHeadColumn, &HeadGate::head);
  fields.add({"gate", "gate", "value of the gate after training: 0 closed, 1 open"},
             &HeadGate::gate);
  fields.add(Column("kept", "kept", "whether the head is kept").no_legend(), &HeadGate::kept);
  std::vector<HeadGate> gates;
  const std::vector<HeadId> heads = heads_before(result);
  for (const std::size_t h : indices(heads.size())) {
    gates.push_back({heads[h], result.gates[h], contains(result.kept, heads[h])});
  }
  const auto count = [&](auto which) { return std::ranges::count_if(gates, which); };
  const Index closed = count(&HeadGate::is_closed);
  const Index closed_kept = count([](const HeadGate& one) { return one.is_closed() && one.kept; });
  const Index open_removed =
      count([](const HeadGate& one) { return !one.is_closed() && !one.kept; });
  Table table = fields.table({.name = "gates"}, gates);
  table.title = text(closed, " of ", gates.size(), " gates closed during training");
  if (open_removed > 0) {
    table.title += text("; ", counted_heads(open_removed), " with an open gate removed by rank");
  }
  if (closed_kept > 0) {
    table.title += text("; ", counted_heads(closed_kept), " with a closed gate kept by rank");
  }
  return table;
}

Result result_of(const PruneResult& result) {
  std::vector<Table> tables = {model_table(result)};
  if (!result.gates.empty()) tables.push_back(gates_table(result));
  if (result.timing) tables.push_back(*result.timing);
  Json about = stamped(to_json<PruneResult>(result).members());
  if (!result.gates.empty()) {
    about["gates_closed"] =
        std::ranges::count_if(result.gates, [](double gate) { return gate <= 0; });
  }
  return {.about = std::move(about), .tables = std::move(tables)};
}

Json to_json(const PruneResult& result) { return result_of(result); }

}  // namespace headlab
