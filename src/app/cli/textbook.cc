// Models of `headlab page --textbook`: a small sweep over the number of heads, with which lessons
// show a knee and heads with roles, and two controls in which no head has a role. They are trained
// in seconds each time the page is written. Equal seeds give equal models, so the page is the same
// each time. Read next: page.cc; lab/studies/sweep.h.
#include <unistd.h>

#include <system_error>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTextbookSweep = "sweeps/textbook";

/// Task with four relations in one query: fewer than four heads cannot read four keys.
const SweepGrid kTextbookGrid = {
    {"task", {"relations"}},  {"heads", {"1", "2", "3", "4", "5", "8"}},
    {"d_model", {"32"}},      {"seed", {"0", "1", "2", "3", "4"}},
    {"steps", {"1000"}},      {"batch", {"16"}},
    {"lr", {"2e-2"}},         {"warmup", {"50"}},
    {"eval_examples", {"64"}}};

/// Control tasks on which nothing can be found, although some head always ranks first.
const SweepGrid kControlGrid = {{"heads", {"4"}},    {"task", {"memoryless", "random"}},
                                {"d_model", {"32"}}, {"eval_examples", {"64"}},
                                {"steps", {"500"}},  {"batch", {"32"}}};

std::string sweep_line(const SweepGrid& grid, const char* out) {
  std::string line = "headlab sweep";
  for (const SweepAxis& axis : grid) {
    line += text(" ", flag_of(axis.name), " ", join(axis.values, ","));
  }
  return line + " --out " + out;
}

void train_models(const fs::path& folder, const SweepGrid& grid) {
  add_grid(folder, grid);
  const RunCallbacks until_interrupted{{.should_stop = interrupted}};
  const auto watching = [&](const SweepTrial&) { return until_interrupted; };
  std::vector<Job> trainings;
  for (const SweepTrial& trial : sweep_trials(grid)) {
    trainings.push_back(training_job(folder, trial, watching));
  }
  const JobsDone made = make_shown(0, trainings);
  require(!made.stopped, "cannot write the textbook: it was interrupted");
  require(made.failed.empty() && made.missing.empty(),
          "cannot write the textbook: one of its models failed: ",
          made.failed.empty() ? "its process died" : made.failed[0].error);
}

/// Computes the data of the lessons for the first model with each number of heads: roles, costs of
/// ablation and, for few enough heads, the loss of every subset.
void analyse_models(const fs::path& folder) {
  for (const SweepTrial& trial : sweep_trials(kTextbookGrid)) {
    if (trial.config.train.seed != 0) continue;
    const Run run = open_run(folder / trial.name);
    const Batch batch = held_out_examples(*run.task, 512).batch;
    write_json(run.path / "heads.json", result_of(score_heads(run.model, *run.task)));
    write_json(run.path / "ablation.json", result_of(ablate_heads(run.model, batch, {})));
    const Curve curve = prune_curve(run, {.methods = {"exhaustive"}});
    write_json(run.path / "curve.json", to_json(curve));
  }
}

/// Returns {"command", "tasks": [{"task", "accuracy", "scores": heads.json}]}.
Json trained_controls(const fs::path& folder) {
  train_models(folder, kControlGrid);
  Json tasks = Json::array();
  for (const SweepTrial& trial : sweep_trials(kControlGrid)) {
    const Run run = open_run(folder / trial.name);
    Json& task = tasks.items().emplace_back(Json::object({{"task", run.config.task}}));
    task["accuracy"] = read_trial(folder / trial.name).accuracy;
    task["scores"] = score_heads(run.model, *run.task, {.without_truth = false});
  }
  return Json::object({{"command", sweep_line(kControlGrid, "sweeps/controls")}, {"tasks", tasks}});
}

}  // namespace

Page textbook(const PageOptions& options) {
  if (!options.weights) return make_textbook({}, "", options);
  std::string name = (fs::temp_directory_path() / "headlab-textbook-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {  // a new folder, which no other user can have prepared
    throw Error(text("cannot make the folder '", name, "'"), "set TMPDIR to a folder to write in");
  }
  const fs::path folder = name;
  // its destructor deletes the folder, however this function returns
  const std::shared_ptr<void> scratch(nullptr, [&](void*) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  });
  const fs::path models = folder / "models";
  train_models(models, kTextbookGrid);
  analyse_models(models);
  Json report = Json::object({{"command", sweep_line(kTextbookGrid, kTextbookSweep)}});
  report["controls"] = trained_controls(folder / "controls");
  write_json(models / "sweep.json", report);
  return make_textbook(models, kTextbookSweep, options);
}

}  // namespace headlab::cli
