// Each penalty starts again from the run's model, so that rows differ in the penalty alone.
// The model that was pruned is judged as it came out of the training of its gates.
// Read next: src/prune/learned.cc, how gates are trained.
#include "headlab/lab/voita.h"

#include <algorithm>

#include "headlab/base/error.h"

namespace headlab {
namespace {

Judged judge(const Transformer& model, const Run& run) {
  const Evaluation held_out =
      evaluate(model, *run.task, {.examples = run.config.train.eval_examples});
  return {held_out.loss, held_out.accuracy};
}

struct Pruned {
  PenaltyRow row;
  Transformer model;
};

Pruned prune_with(Run& run, double penalty, const VoitaOptions& options) {
  const PruneProblem problem{.model = run.model,
                             .task = *run.task,
                             .examples = options.examples,
                             .seed = options.seed,
                             .train = run.config.train,
                             .gate_steps = options.gate_steps,
                             .penalty = penalty};
  const TrainedGates trained = train_gates(problem);
  PenaltyRow row;
  row.penalty = penalty;
  const std::vector<HeadId> heads = all_heads(run.model);
  const auto modules = run.model.attention_modules();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (trained.gates[h] <= 0) continue;
    row.survivors.push_back(heads[h]);
    const AttentionKind kind = modules[heads[h].layer].kind;
    ++row.by_kind[static_cast<std::size_t>(kind)];
  }
  Transformer model = remove_heads(*trained.model, row.survivors);
  row.pruned = judge(model, run);
  return {row, model};
}

std::vector<RoleDrift> drift_between(Run& run, Transformer& after, Index examples) {
  const HeadsReport old = score_heads(run.model, *run.task, {.examples = examples});
  const HeadsReport now = score_heads(after, *run.task, {.examples = examples});
  std::vector<RoleDrift> drift;
  for (std::size_t r = 0; r < std::min(old.relations.size(), now.relations.size()); ++r) {
    const HeadScores& a = old.heads[old.relations[r].best];
    const HeadScores& b = now.heads[now.relations[r].best];
    drift.push_back({old.relations[r].relation.name,
                     {a.layer, a.head},
                     {b.layer, b.head},
                     a.relations[r].lift,
                     b.relations[r].lift});
  }
  return drift;
}

/// The row with the fewest survivors among those whose loss is within 1% of the span from the full
/// model to none; if there are none, the one with the lowest loss.
std::size_t choose_row(const VoitaReport& report) {
  const double limit = report.full.loss + 0.01 * (report.none.loss - report.full.loss);
  std::size_t best = 0;
  for (std::size_t i = 1; i < report.rows.size(); ++i) {
    const PenaltyRow &row = report.rows[i], &so_far = report.rows[best];
    const bool fits = row.pruned.loss <= limit, fitted = so_far.pruned.loss <= limit;
    const bool fewer = row.survivors.size() <= so_far.survivors.size();
    const bool lower = row.pruned.loss < so_far.pruned.loss;
    if (fits ? !fitted || fewer : !fitted && lower) best = i;
  }
  return best;
}

}  // namespace

VoitaReport reproduce_voita(Run& run, const VoitaOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  require(!options.penalties.empty(), "there is no penalty to try");
  VoitaReport report;
  for (const AttentionModule& module : run.model.attention_modules())
    report.attention.push_back(module.name);
  report.heads = std::ssize(all_heads(run.model));
  report.needed = run.task->needed_heads();
  report.full = judge(run.model, run);
  report.none = judge(remove_heads(run.model, {}), run);
  std::vector<Transformer> models;
  for (const double penalty : options.penalties) {
    if (options.progress) options.progress(text("training gates, lambda ", penalty));
    Pruned pruned = prune_with(run, penalty, options);
    if (options.progress)
      options.progress(text("training ", pruned.row.survivors.size(), " heads from scratch"));
    pruned.row.from_scratch = judge(train_from_scratch(run, pruned.row.survivors), run);
    report.rows.push_back(pruned.row);
    models.push_back(pruned.model);
  }
  report.chosen = choose_row(report);
  report.drift = drift_between(run, models[report.chosen], options.examples);
  return report;
}

}  // namespace headlab
