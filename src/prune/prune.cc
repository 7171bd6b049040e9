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
#include "headlab/tensor/tape.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

constexpr Index kTimedSequences = 64;
constexpr int kTimedPasses = 11;

/// Median milliseconds of a forward pass without recording.
double time_forward(const Transformer& model, const Task& task) {
  const NoGrad no_grad;
  const Batch batch = task.make(Key{}.fold("time"), kTimedSequences, Split::validation).batch;
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

Json heads_to_json(const std::vector<HeadId>& heads) {
  Json list = Json::array();
  for (const HeadId& id : heads) {
    list.push_back(Json::Array{id.layer, id.head});
  }
  return list;
}

RunConfig pruned_config(const Run& run, const Transformer& pruned, const PruneOptions& options) {
  RunConfig config = run.config;
  config.model = pruned.config();
  config.parent = run.path.string();
  config.train.steps = options.finetune;
  config.train.warmup = std::min(config.train.warmup, options.finetune / 10);
  config.train.lr = options.lr > 0 ? options.lr : 0.3 * config.train.lr;
  config.train.min_lr = std::min(config.train.min_lr, config.train.lr);
  return config;
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

std::vector<HeadId> choose_heads(const PruneProblem& problem, const std::string& method,
                                 Index keep) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  const PruneMethod& chosen = find_prune_method(method);
  require(keep >= 0 && keep <= std::ssize(heads), "--keep ", keep, ": the model has ", heads.size(),
          " heads");
  const std::vector<HeadId> removed = chosen.order(problem, std::ssize(heads) - keep);
  std::vector<HeadId> kept;
  std::copy_if(heads.begin(), heads.end(), std::back_inserter(kept), [&](const HeadId& head) {
    return std::find(removed.begin(), removed.end(), head) == removed.end();
  });
  return kept;
}

Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept) {
  std::vector<std::vector<std::int32_t>> numbers(model.head_numbers().size());
  for (const HeadId& head : kept) {
    require(head.layer >= 0 && head.layer < std::ssize(numbers), "there is no attention module ",
            head.layer);
    numbers[static_cast<std::size_t>(head.layer)].push_back(head.head);
  }
  return model.with_heads(numbers);
}

PruneResult prune_run(Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks) {
  refuse_own_folder(run, out);
  check_run_folder(out, options.force);
  PruneResult result;
  for (const AttentionModule& module : run.model.attention_modules()) {
    result.attention.push_back(module.name);
  }
  const Index held_out = run.config.train.eval_examples;
  const PruneProblem problem{run.model, *run.task, options.examples, options.seed};
  result.kept = choose_heads(problem, options.method, options.keep);
  for (const HeadId& head : all_heads(run.model)) {
    if (std::find(result.kept.begin(), result.kept.end(), head) == result.kept.end()) {
      result.removed.push_back(head);
    }
  }
  Transformer pruned = remove_heads(run.model, result.kept);
  result.before = measure_model(run.model, *run.task, held_out);
  result.removed_only = measure_model(pruned, *run.task, held_out);
  result.after = result.removed_only;

  Run smaller = create_run(out, pruned_config(run, pruned, options), pruned, options.force);
  if (options.finetune > 0) {
    train_run(smaller, callbacks);
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
  json["kept"] = heads_to_json(kept);
  json["removed_heads"] = heads_to_json(removed);
  json["before"] = before.to_json();
  json["without_finetuning"] = removed_only.to_json();
  json["after"] = after.to_json();
  return json;
}

}  // namespace headlab::inline HEADLAB_SCALAR
