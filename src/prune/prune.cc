// From an order of removal to a smaller run. Everything that can be wrong is checked before the
// new folder is made; the run that is pruned is only read. Times are medians of forward passes.
// Read next: src/model/transformer.cc, with_heads.
#include "headlab/prune/prune.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/heads/tracking.h"
#include "headlab/model/initial.h"
#include "headlab/tensor/tape.h"
#include "prune/judge.h"

namespace headlab {
namespace {

constexpr Index kTimedSequences = 64;
constexpr int kTimedPasses = 11;

/// Median milliseconds of a forward pass without recording.
double time_forward(const Transformer& model, const Task& task) {
  const NoGrad no_grad;
  const Batch batch = task.make_batch(Key{}.fold("time"), kTimedSequences, Split::validation);
  std::vector<double> times;
  for (int pass = 0; pass < kTimedPasses + 2; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    model.forward(batch);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  times.erase(times.begin(), times.begin() + 2);  // warm-up
  std::nth_element(times.begin(), times.begin() + kTimedPasses / 2, times.end());
  return times[kTimedPasses / 2];
}

RunConfig pruned_config(const Run& run, const Transformer& pruned, const PruneOptions& options) {
  RunConfig config = run.config;
  config.model = pruned.config();
  config.parent = run.path.string();
  config.train = finetuning(run.config.train, options.finetune, options.lr);
  return config;
}

/// The fewest heads with which the loss on the choosing examples rises by at most `rise`.
Choice within_rise(const PruneProblem& problem, const PruneMethod& method, double rise) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<Index> sizes;
  for (Index size = fewest_heads(problem); size <= std::ssize(heads); ++size) sizes.push_back(size);
  PassCount cost;
  const double limit = Judge(problem, cost).loss(heads) + rise;
  for (const Choice& choice : choose_heads(problem, method, sizes)) {
    Transformer& model = choice.trained ? *choice.trained : problem.model;
    const PruneProblem judged{model, problem.task, problem.examples};
    if (Judge(judged, cost).loss(choice.kept) <= limit) return choice;
  }
  throw Error(text("no number of heads keeps the rise of the loss within ", rise),
              "allow more, or take a method that does not train weights along");
}

void refuse_own_folder(const Run& run, const std::filesystem::path& out) {
  std::error_code ignored;
  require(!std::filesystem::equivalent(run.path, out, ignored), "--out ", out.string(),
          " is the run itself; a pruned run needs a folder of its own");
}

}  // namespace

Json ModelFigures::to_json() const {
  Json json = Json::object();
  json["loss"] = loss;
  json["accuracy"] = accuracy;
  json["parameters"] = parameters;
  json["ms_per_batch"] = ms_per_batch;
  return json;
}

ModelFigures measure_model(Transformer& model, const Task& task, Index examples) {
  const Evaluation held_out = evaluate(model, task, {.examples = examples});
  return {held_out.loss, held_out.accuracy, model.parameter_count(), time_forward(model, task)};
}

TrainConfig finetuning(const TrainConfig& trained, Index steps, double lr) {
  TrainConfig config = trained;
  config.steps = steps;
  config.warmup = std::min(config.warmup, steps / 10);
  config.lr = lr > 0 ? lr : 0.3 * config.lr;
  config.min_lr = std::min(config.min_lr, config.lr);
  return config;
}

PruneProblem problem_of(Run& run, const PruneOptions& options) {
  return {.model = run.model,
          .task = *run.task,
          .examples = options.examples,
          .seed = options.seed,
          .per_layer_min = options.per_layer_min,
          .train = run.config.train,
          .gate_steps = options.gate_steps,
          .penalty = options.penalty};
}

Choice choose_heads(const PruneProblem& problem, const PruneOptions& options) {
  const int given = int{options.keep.has_value()} + int{options.drop.has_value()} +
                    int{options.max_loss_rise.has_value()};
  require(given == 1, "one of --keep, --drop and --max-loss-rise says how many heads stay, not ",
          given, " of them");
  const PruneMethod& method = find_prune_method(options.method);
  if (options.max_loss_rise) return within_rise(problem, method, *options.max_loss_rise);
  const auto heads = std::ssize(all_heads(problem.model));
  Index size = options.keep.value_or(0);
  if (options.drop) {
    require(*options.drop >= 0 && *options.drop <= 100, "--drop ", *options.drop,
            ": it is a percentage, from 0 to 100");
    size = heads - static_cast<Index>(*options.drop / 100 * static_cast<double>(heads) + 1e-9);
    const Index fewest = fewest_heads(problem);
    require(size >= fewest, "--drop ", *options.drop, " leaves ", size, " heads, fewer than the ",
            fewest, " that ", problem.per_layer_min, " in each attention module make");
  }
  return choose_heads(problem, method, std::span(&size, 1))[0];
}

Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept) {
  std::vector<std::vector<std::int32_t>> numbers(model.head_numbers().size());
  for (const HeadId& head : kept) {
    require(head.layer >= 0 && head.layer < std::ssize(numbers), "there is no attention module ",
            head.layer);
    numbers[head.layer].push_back(head.head);
  }
  return model.with_heads(numbers);
}

Transformer train_from_scratch(const Run& run, std::span<const HeadId> heads) {
  Transformer model = remove_heads(run.model, heads);
  initialize(model, Key{static_cast<std::uint64_t>(run.config.train.seed)}.fold("initial values"));
  Trainer(model, *run.task, run.config.train).run();
  return model;
}

PruneResult prune_run(Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks) {
  refuse_own_folder(run, out);
  check_run_folder(out, Existing{options.force});
  PruneResult result;
  for (const AttentionModule& module : run.model.attention_modules())
    result.attention.push_back(module.name);
  const Index held_out = run.config.train.eval_examples;
  const Choice choice = choose_heads(problem_of(run, options), options);
  result.kept = choice.kept;
  for (const HeadId& head : all_heads(run.model))
    if (std::find(result.kept.begin(), result.kept.end(), head) == result.kept.end())
      result.removed.push_back(head);
  Transformer pruned = remove_heads(choice.trained ? *choice.trained : run.model, choice.kept);
  if (options.measure) {
    const Batch batch =
        run.task->make_batch(Key{}.fold("time"), kTimedSequences, Split::validation);
    result.timing = time_pruning(run.model, result.kept, batch);
  }
  result.before = measure_model(run.model, *run.task, held_out);
  result.removed_only = measure_model(pruned, *run.task, held_out);
  result.after = result.removed_only;

  Run smaller =
      create_run(out, pruned_config(run, pruned, options), pruned, Existing{options.force});
  if (options.finetune > 0) {
    train_run(smaller, track_heads(smaller, callbacks));
    result.after = measure_model(smaller.model, *smaller.task, held_out);
  }
  Json json = result.to_json();
  json["method"] = options.method;
  json["seed"] = options.seed;
  json["examples"] = options.examples;
  json["finetune"] = options.finetune;
  write_file(out / "prune.json", json.dump(2) + "\n");
  return result;
}

Json PruneResult::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["kept"] = Json(kept);
  json["removed_heads"] = Json(removed);
  json["before"] = before.to_json();
  json["without_finetuning"] = removed_only.to_json();
  json["after"] = after.to_json();
  if (!timing.empty()) {
    Json& rows = json["timing"] = Json::array();
    for (const PruneTiming& row : timing) rows.push_back(row.to_json());
  }
  return json;
}

}  // namespace headlab
