// Heads are chosen on training examples and judged on held-out ones, except where the experiment is
// about that very difference. Each penalty starts again from the run's model, so that rows differ
// in the penalty alone; a model that was pruned is judged as it came out of the training of its
// gates. Read next: src/prune/gates.cc, how gates are trained.
#include "headlab/lab/reproduce.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/model/initial.h"
#include "headlab/prune/gates.h"
#include "headlab/train/streams.h"

namespace headlab {
namespace {

/// The other heads of the same module.
HeadSet neighbours(const std::vector<HeadId>& heads, const HeadId& head) {
  HeadSet others = heads;
  std::erase_if(others,
                [&](const HeadId& other) { return other.layer != head.layer || other == head; });
  return others;
}

std::vector<OneHeadLeft> keep_one_head(const Run& run, Index examples) {
  const std::vector<HeadId> heads = all_heads(run.model);
  std::vector<HeadSet> silenced{{}};
  for (const HeadId& head : heads) silenced.push_back(neighbours(heads, head));
  const Batch held_out = held_out_examples(*run.task, examples).batch;
  const Batch chosen_on = run.task->make_batch(streams::choosing(), examples, Split::train);
  const std::vector<double> judged = Ablation(run.model, held_out).mean_losses(silenced);
  const std::vector<double> chosen = Ablation(run.model, chosen_on).mean_losses(silenced);
  std::vector<OneHeadLeft> rows;
  const std::vector<std::string> modules = module_names(run.model);
  for (std::size_t first = 0; first < heads.size();) {
    std::size_t in = first, out = first, h = first;
    for (; h < heads.size() && heads[h].layer == heads[first].layer; ++h) {
      if (judged[h + 1] < judged[in + 1]) in = h;
      if (chosen[h + 1] < chosen[out + 1]) out = h;
    }
    rows.push_back({modules[heads[first].layer], heads[in], heads[out], judged[in + 1] - judged[0],
                    judged[out + 1] - judged[0]});
    first = h;
  }
  return rows;
}

/// What stays of a model that loses this share of its heads, rounded down, by importance.
Choice choose_by_importance(const Transformer& model, const Task& task, Index examples,
                            double share) {
  const auto heads = std::ssize(all_heads(model));
  const auto gone = static_cast<Index>(share * static_cast<double>(heads) + 1e-9);
  const PruneProblem problem{.model = model, .task = task, .settings = {.examples = examples}};
  return choose_heads(problem, find_prune_method("importance"), heads - gone);
}

/// Trains the run's model once more and prunes copies of it on the way.
std::vector<PrunedAtStep> prune_while_training(const Run& run, const MichelOptions& options,
                                               std::span<const double> shares) {
  Transformer model = run.model.clone();
  const TrainConfig& config = run.config.train;
  initialize(model, streams::initial_values(config.seed));
  std::vector<PrunedAtStep> stages;
  const Index count = std::max<Index>(1, std::min(options.stages, config.steps));
  const auto after_step = [&](Index step) {
    if (step < config.steps * (std::ssize(stages) + 1) / count) return;
    const Transformer now = model.clone();
    PrunedAtStep& stage = stages.emplace_back(PrunedAtStep{step, {}});
    for (const double share : shares) {
      const Choice kept = choose_by_importance(now, *run.task, options.examples, share);
      stage.by_share.push_back(
          judge(pruned_model(now, kept), *run.task, {.examples = options.examples}));
    }
  };
  Trainer(model, *run.task, config).run({.after_step = after_step});
  return stages;
}

/// Half of the heads removed, by importance.
std::vector<PruneTiming> time_half(const Run& run, const MichelOptions& options) {
  const Choice half = choose_by_importance(run.model, *run.task, options.examples, 0.5);
  const std::vector<Index>& batches = options.timing.batches;
  const Index largest = batches.empty() ? 1 : std::ranges::max(batches);
  const Batch examples = run.task->make_batch(streams::timed(), largest, Split::validation);
  return time_pruning(run.model, half.kept, examples, options.timing);
}

Judged judge_like(const Run& run, const Transformer& model) {
  return judge(model, *run.task, {.examples = run.config.train.eval_examples});
}

std::vector<RoleDrift> drift_between(const Run& run, const HeadsReport& old,
                                     const Transformer& after, Index examples) {
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

/// `before`: who did what in the run itself.
PenaltyRow prune_with(const Run& run, const PruneSettings& settings, Index finetune,
                      const HeadsReport& before) {
  const TrainedGates trained = train_gates(problem_of(run, settings));
  PenaltyRow row{.penalty = settings.penalty};
  const std::vector<HeadId> heads = all_heads(run.model);
  const auto modules = run.model.attention_modules();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (trained.gates[h] <= 0) continue;
    row.survivors.push_back(heads[h]);
    ++row.by_kind[static_cast<std::size_t>(modules[heads[h].layer].kind)];
  }
  Transformer model = remove_heads(*trained.model, row.survivors);
  row.pruned = judge_like(run, model);
  if (finetune > 0) {
    Trainer(model, *run.task, finetuning(run.config.train, finetune)).run();
    row.finetuned = judge_like(run, model);
  }
  row.drift = drift_between(run, before, model, settings.examples);
  return row;
}

/// See VoitaReport::chosen.
std::size_t choose_row(const VoitaReport& report) {
  const double limit = report.full.loss + 0.01 * (report.none.loss - report.full.loss);
  std::size_t best = 0;
  for (std::size_t i = 1; i < report.rows.size(); ++i) {
    const PenaltyRow &row = report.rows[i], &so_far = report.rows[best];
    const auto loss = [](const PenaltyRow& r) { return r.finetuned.value_or(r.pruned).loss; };
    const bool fits = loss(row) <= limit, fitted = loss(so_far) <= limit;
    const bool fewer = row.survivors.size() <= so_far.survivors.size();
    const bool lower = loss(row) < loss(so_far);
    if (fits ? !fitted || fewer : !fitted && lower) best = i;
  }
  return best;
}

// The two trainings of a penalty, which add their results to the report.

void train_gates_of(const Run& run, const VoitaOptions& options, const HeadsReport& before,
                    double penalty, VoitaReport& report) {
  if (options.progress) options.progress(text("training gates, lambda ", penalty));
  PruneSettings settings = options.settings;
  settings.penalty = penalty;
  add_rows(report, {prune_with(run, settings, options.finetune, before)}, options.penalties);
  if (options.after_training) options.after_training(report);
}

void train_anew(const Run& run, const VoitaOptions& options, PenaltyRow& row, VoitaReport& report) {
  if (options.progress)
    options.progress(text("training ", row.survivors.size(), " heads from scratch"));
  const Index steps = options.settings.gate_steps + options.finetune;
  row.from_scratch = judge_like(run, train_from_scratch(run, row.survivors, steps));
  add_rows(report, {}, options.penalties);
  if (options.after_training) options.after_training(report);
}

}  // namespace

MichelReport reproduce_michel(const Run& run, const MichelOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  const auto tell = [&](const char* what) {
    if (options.progress) options.progress(what);
  };
  MichelReport report;
  tell("ablating single heads");
  report.ablation = ablate_heads(run.model, held_out_examples(*run.task, options.examples).batch);
  report.one_head = keep_one_head(run, options.examples);
  const auto stop = [&] {
    report.complete = report.complete && !(options.should_stop && options.should_stop());
    return !report.complete;
  };
  tell("pruning by importance and by single ablation");
  report.curve = prune_curve(run, {.methods = {"importance", "ablation", "random"},
                                   .settings = {.examples = options.examples},
                                   .known = options.known_curve,
                                   .should_stop = options.should_stop});
  if (stop()) return report;
  report.by_step = options.known_steps;
  if (options.retrain && report.by_step.empty()) {
    tell("training once more, to prune on the way");
    report.by_step = prune_while_training(run, options, report.shares);
  }
  if (stop()) return report;
  tell("timing the full, the masked and the pruned model");
  report.timing = time_half(run, options);
  return report;
}

void add_rows(VoitaReport& report, const std::vector<PenaltyRow>& others,
              std::span<const double> penalties) {
  std::vector<PenaltyRow> rows;
  report.complete = true;
  for (const double penalty : penalties) {
    const auto other = std::ranges::find(others, penalty, &PenaltyRow::penalty);
    const auto mine = std::ranges::find(report.rows, penalty, &PenaltyRow::penalty);
    const bool known = other != others.end();
    if (mine != report.rows.end())
      rows.push_back(*mine);
    else if (known)
      rows.push_back(*other);
    const bool begun = known || mine != report.rows.end();
    if (known && !rows.back().from_scratch) rows.back().from_scratch = other->from_scratch;
    report.complete = report.complete && begun && rows.back().from_scratch.has_value();
  }
  report.rows = std::move(rows);
  report.chosen = choose_row(report);
}

VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  require(!options.penalties.empty(), "there is no penalty to try");
  VoitaReport report;
  report.attention = module_names(run.model);
  report.heads = std::ssize(all_heads(run.model));
  report.needed = run.task->needed_heads();
  report.steps = trained_steps(run) + options.settings.gate_steps + options.finetune;
  report.full = judge_like(run, run.model);
  report.none = judge_like(run, remove_heads(run.model, {}));
  const HeadsReport before =
      score_heads(run.model, *run.task, {.examples = options.settings.examples});
  const auto row = [&](double penalty) {
    return std::ranges::find(report.rows, penalty, &PenaltyRow::penalty);
  };
  add_rows(report, {}, options.penalties);
  bool trained = false;
  for (const VoitaMethod method : {VoitaMethod::gates, VoitaMethod::from_scratch}) {
    for (std::size_t i = 0; i < options.penalties.size(); ++i) {
      const double penalty = options.penalties[i];
      if (options.known) add_rows(report, options.known(), options.penalties);
      const bool gates = row(penalty) == report.rows.end();
      const bool anew =
          method == VoitaMethod::from_scratch && (gates || !row(penalty)->from_scratch);
      if ((!gates && !anew) || (options.wanted && !options.wanted(i, method))) continue;
      if (trained && options.should_stop && options.should_stop()) return report;
      if (gates) train_gates_of(run, options, before, penalty, report);
      if (anew) train_anew(run, options, *row(penalty), report);
      trained = true;
    }
  }
  return report;
}

}  // namespace headlab
