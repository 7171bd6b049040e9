// Each penalty starts again from the run's model, so that rows differ in the penalty alone.
// The model that was pruned is judged as it came out of the training of its gates.
// Read next: src/prune/gates.cc, how gates are trained.
#include "headlab/lab/voita.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/prune/gates.h"

namespace headlab {
namespace {

struct Pruned {
  PenaltyRow row;
  Transformer model;
};

Judged judge_like(const Run& run, const Transformer& model) {
  return judge(model, *run.task, {.examples = run.config.train.eval_examples});
}

Pruned prune_with(const Run& run, const PruneSettings& settings) {
  const TrainedGates trained = train_gates(problem_of(run, settings));
  PenaltyRow row{.penalty = settings.penalty};
  const std::vector<HeadId> heads = all_heads(run.model);
  const auto modules = run.model.attention_modules();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (trained.gates[h] <= 0) continue;
    row.survivors.push_back(heads[h]);
    ++row.by_kind[static_cast<std::size_t>(modules[heads[h].layer].kind)];
  }
  const Transformer model = remove_heads(*trained.model, row.survivors);
  row.pruned = judge_like(run, model);
  return {row, model};
}

std::vector<RoleDrift> drift_between(const Run& run, const Transformer& after, Index examples) {
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

VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options) {
  require(!all_heads(run.model).empty(), "the model has no head to prune");
  require(!options.penalties.empty(), "there is no penalty to try");
  const auto tell = [&](const std::string& what) {
    if (options.progress) options.progress(what);
  };
  VoitaReport report;
  report.attention = module_names(run.model);
  report.heads = std::ssize(all_heads(run.model));
  report.needed = run.task->needed_heads();
  report.full = judge_like(run, run.model);
  report.none = judge_like(run, remove_heads(run.model, {}));
  std::vector<Pruned> pruned;
  for (const double penalty : options.penalties) {
    tell(text("training gates, lambda ", penalty));
    PruneSettings settings = options.settings;
    settings.penalty = penalty;
    auto& [row, model] = pruned.emplace_back(prune_with(run, settings));
    tell(text("training ", row.survivors.size(), " heads from scratch"));
    row.from_scratch = judge_like(run, train_from_scratch(run, row.survivors));
    report.rows.push_back(row);
  }
  report.chosen = choose_row(report);
  report.drift = drift_between(run, pruned[report.chosen].model, options.settings.examples);
  return report;
}

Json to_json(const PenaltyRow& row) {
  return Json::object({{"lambda", row.penalty},
                       {"survivors", row.survivors},
                       {"self", row.by_kind[0]},
                       {"encoder", row.by_kind[1]},
                       {"cross", row.by_kind[2]},
                       {"pruned", row.pruned},
                       {"from_scratch", row.from_scratch}});
}

Json to_json(const RoleDrift& role) {
  return Json::object({{"relation", role.relation},
                       {"before", role.before},
                       {"after", role.after},
                       {"lift_before", role.lift_before},
                       {"lift_after", role.lift_after}});
}

Json to_json(const VoitaReport& report) {
  return stamped({{"attention", report.attention},
                  {"heads", report.heads},
                  {"needed", report.needed > 0 ? Json(report.needed) : Json()},
                  {"full", report.full},
                  {"none", report.none},
                  {"rows", report.rows},
                  {"chosen", report.chosen},
                  {"drift", report.drift}});
}

}  // namespace headlab
