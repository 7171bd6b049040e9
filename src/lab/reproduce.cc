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
#include "lab/kept.h"

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

/// The second training of a run, with prunings on the way.
Cell steps_cell(const Run& run, const MichelOptions& options) {
  Json settings = Json::object({{"examples", options.examples}, {"stages", options.stages}});
  return part_of_run(run, options.keeping, "michel-steps", std::move(settings), [&run, options] {
    if (options.progress)
      options.progress(run.path.string() + ": training once more, to prune on the way");
    return Json::object({{"by_step", prune_while_training(run, options, MichelReport().shares)}});
  });
}

CurveOptions curve_options(const MichelOptions& options) {
  return {.methods = {"importance", "ablation", "random"},
          .settings = {.examples = options.examples},
          .keeping = options.keeping,
          .progress = options.progress};
}

/// The trainings of one run, gates first.
class VoitaWork {
 public:
  VoitaWork(const Run& run, const VoitaOptions& options) : run_(run), options_(options) {
    require(!options.penalties.empty(), "there is no penalty to try");
    for (const double penalty : options.penalties)
      add("gates", penalty, [this, penalty] { return train_gates_of(penalty); });
    for (std::size_t i = 0; i < options.penalties.size(); ++i)
      add("scratch", options.penalties[i], [this, i] { return train_anew(i); });
  }
  const std::vector<Cell>& cells() const { return cells_; }
  PenaltyRow row(std::size_t penalty) const {
    PenaltyRow row = penalty_row_of(found(penalty));
    row.from_scratch = judged_of(found(penalty + options_.penalties.size()));
    return row;
  }

 private:
  void add(const char* what, double penalty, std::function<Json()> make) {
    VoitaOptions options = options_;
    options.settings.penalty = penalty;
    cells_.push_back(part_of_run(run_, options_.keeping, text("voita-", what, "-", penalty),
                                 settings_of(options).to_json(), std::move(make)));
  }
  Json found(std::size_t cell) const { return once(cells_[cell], options_.keeping.should_stop); }
  void tell(const std::string& what) const {
    if (options_.progress) options_.progress(run_.path.string() + ": " + what);
  }

  Json train_gates_of(double penalty) {
    tell(text("training gates, lambda ", penalty));
    PruneSettings settings = options_.settings;
    settings.penalty = penalty;
    if (!before_) before_ = score_heads(run_.model, *run_.task, {.examples = settings.examples});
    return to_json(prune_with(run_, settings, options_.finetune, *before_));
  }
  Json train_anew(std::size_t penalty) const {
    const std::vector<HeadId> survivors = penalty_row_of(found(penalty)).survivors;
    tell(text("training ", survivors.size(), " heads from scratch"));
    const Index steps = options_.settings.gate_steps + options_.finetune;
    return to_json(judge_like(run_, train_from_scratch(run_, survivors, steps)));
  }

  const Run& run_;
  const VoitaOptions options_;
  std::vector<Cell> cells_;
  std::optional<HeadsReport> before_;  // who did what in the run itself
};

}  // namespace

std::vector<Cell> michel_cells(const std::vector<std::filesystem::path>& runs,
                               const MichelOptions& options) {
  struct Steps {
    Steps(const Run& run, const MichelOptions& options) {
      if (options.retrain) all.push_back(steps_cell(run, options));
    }
    const std::vector<Cell>& cells() const { return all; }
    std::vector<Cell> all;
  };
  std::vector<Cell> cells = curve_cells(runs, curve_options(options));
  for (Cell& steps : cells_of_runs<Steps>(runs, options)) cells.push_back(std::move(steps));
  return cells;
}

MichelReport reproduce_michel(const Run& run, const MichelOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  const auto tell = [&](const char* what) {
    if (options.progress) options.progress(run.path.string() + ": " + what);
  };
  MichelReport report;
  tell("ablating single heads");
  report.ablation = ablate_heads(run.model, held_out_examples(*run.task, options.examples).batch);
  report.one_head = keep_one_head(run, options.examples);
  report.curve = prune_curve(run, curve_options(options));
  if (options.retrain)
    report.by_step =
        pruned_steps_of(once(steps_cell(run, options), options.keeping.should_stop), report.shares);
  tell("timing the full, the masked and the pruned model");
  report.timing = time_half(run, options);
  return report;
}

std::vector<Cell> voita_cells(const std::vector<std::filesystem::path>& runs,
                              const VoitaOptions& options) {
  return cells_of_runs<VoitaWork>(runs, options);
}

VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  const VoitaWork work(run, options);
  VoitaReport report;
  report.attention = module_names(run.model);
  report.heads = std::ssize(all_heads(run.model));
  report.needed = run.task->needed_heads();
  report.steps = trained_steps(run) + options.settings.gate_steps + options.finetune;
  report.full = judge_like(run, run.model);
  report.none = judge_like(run, remove_heads(run.model, {}));
  for (std::size_t i = 0; i < options.penalties.size(); ++i) report.rows.push_back(work.row(i));
  report.chosen = choose_row(report);
  return report;
}

}  // namespace headlab
