// Heads are chosen on training examples and judged on held-out ones, except where the experiment is
// about that very difference.
// Read next: voita.cc.
#include "headlab/lab/michel.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/model/initial.h"

namespace headlab {
namespace {

Judged judge(const Transformer& model, const Task& task, Index examples) {
  const Evaluation held_out = evaluate(model, task, {.examples = examples});
  return {held_out.loss, held_out.accuracy};
}

/// The other heads of the same module.
HeadSet neighbours(const std::vector<HeadId>& heads, const HeadId& head) {
  HeadSet others;
  std::copy_if(heads.begin(), heads.end(), std::back_inserter(others),
               [&](const HeadId& other) { return other.layer == head.layer && !(other == head); });
  return others;
}

std::vector<OneHeadLeft> keep_one_head(Run& run, Index examples) {
  const std::vector<HeadId> heads = all_heads(run.model);
  std::vector<HeadSet> silenced{{}};
  for (const HeadId& head : heads) silenced.push_back(neighbours(heads, head));
  const Batch held_out = held_out_examples(*run.task, examples).batch;
  const Batch chosen_on = run.task->make_batch(Key{}.fold("prune"), examples, Split::train);
  const std::vector<double> judged = Ablation(run.model, held_out).mean_losses(silenced);
  const std::vector<double> chosen = Ablation(run.model, chosen_on).mean_losses(silenced);
  std::vector<OneHeadLeft> rows;
  const auto modules = run.model.attention_modules();
  for (std::size_t first = 0; first < heads.size();) {
    std::size_t in = first, out = first, h = first;
    for (; h < heads.size() && heads[h].layer == heads[first].layer; ++h) {
      if (judged[h + 1] < judged[in + 1]) in = h;
      if (chosen[h + 1] < chosen[out + 1]) out = h;
    }
    rows.push_back({modules[heads[first].layer].name, heads[in], heads[out],
                    judged[in + 1] - judged[0], judged[out + 1] - judged[0]});
    first = h;
  }
  return rows;
}

/// Prunes a model by importance to each share and judges what is left.
PrunedAtStep prune_now(Transformer& model, const Run& run, Index step, Index examples,
                       std::span<const double> shares) {
  PrunedAtStep stage{step, {}};
  const auto heads = static_cast<double>(all_heads(model).size());
  const PruneProblem problem{.model = model, .task = *run.task, .examples = examples};
  for (const double share : shares) {
    const auto size = static_cast<Index>(heads) - static_cast<Index>(share * heads + 1e-9);
    const Choice choice =
        choose_heads(problem, find_prune_method("importance"), std::span(&size, 1))[0];
    stage.by_share.push_back(judge(remove_heads(model, choice.kept), *run.task, examples));
  }
  return stage;
}

/// Trains the run's model once more and prunes copies of it on the way.
std::vector<PrunedAtStep> prune_while_training(Run& run, const MichelOptions& options,
                                               std::span<const double> shares) {
  Transformer model = run.model.clone();
  const TrainConfig& config = run.config.train;
  initialize(model, Key{static_cast<std::uint64_t>(config.seed)}.fold("initial values"));
  std::vector<PrunedAtStep> stages;
  const Index count = std::max<Index>(1, std::min(options.stages, config.steps));
  const auto after_step = [&](Index step) {
    const Index due = config.steps * (std::ssize(stages) + 1) / count;
    if (step < due) return;
    Transformer copy = model.clone();
    stages.push_back(prune_now(copy, run, step, options.examples, shares));
  };
  Trainer(model, *run.task, config).run({.after_step = after_step});
  return stages;
}

}  // namespace

MichelReport reproduce_michel(Run& run, const MichelOptions& options) {
  const std::vector<HeadId> heads = all_heads(run.model);
  require(!heads.empty(), "the model has no head to prune");
  const auto say = [&](const char* what) {
    if (options.progress) options.progress(what);
  };
  MichelReport report;
  say("ablating single heads");
  report.ablation = ablate_heads(run.model, held_out_examples(*run.task, options.examples).batch);
  report.one_head = keep_one_head(run, options.examples);
  say("pruning by importance and by single ablation");
  report.curve = prune_curve(
      run, {.methods = {"importance", "ablation", "random"}, .examples = options.examples});
  if (options.retrain) {
    say("training once more, to prune on the way");
    report.by_step = prune_while_training(run, options, report.shares);
  }
  say("timing the full, the masked and the pruned model");
  const PruneProblem problem{.model = run.model, .task = *run.task, .examples = options.examples};
  const Index half = (std::ssize(heads) + 1) / 2;
  const Choice kept =
      choose_heads(problem, find_prune_method("importance"), std::span(&half, 1))[0];
  const std::vector<Index>& batches = options.timing.batches;
  const Index largest = batches.empty() ? 1 : *std::max_element(batches.begin(), batches.end());
  const Batch examples = run.task->make_batch(Key{}.fold("time"), largest, Split::validation);
  report.timing = time_pruning(run.model, kept.kept, examples, options.timing);
  return report;
}

}  // namespace headlab
