// `headlab reproduce michel|voita RUN ...`: the experiments of the first two papers on head
// pruning, on any runs, with the published numbers next to ours. Runs are only read. Each training
// is stored in its run's folder when it is done, so that nothing is repeated, and the whole result
// in a file of its own. The JSON has the same structure for one run and for several. Read next:
// lab/studies/reproduce.h.

#include <algorithm>

#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct ReproduceFlags {
  PaperOptions options;
  Index jobs = 0;
  bool force = false;

  Flags settings() {
    Flags s;
    s.integer("examples", options.settings.examples, 2, 1 << 24,
              "examples on which heads are chosen and scored");
    s.integer("turns", options.timing.turns, 1, 100000, "timings of each batch size");
    s.integer("gate_steps", options.settings.gate_steps, 1, 1 << 30, "training steps of the gates");
    options.finetune = options.settings.gate_steps;
    s.integer("finetune", options.finetune, 0, 1 << 30, "training steps without the closed gates");
    s.integer("seed", options.settings.seed, 0, kMostExact,
              "random seed for the noise of the gates");
    s.needs({"turns"}, {first_argument("michel")});
    s.needs({"gate_steps", "finetune", "seed"}, {first_argument("voita")});
    add_jobs(s, jobs);
    s.boolean("force", force, "recompute results that are already stored");
    return s;
  }
};

/// Returns the result of one run, or over several.
Output shown(const Invocation& call, const Paper& paper, const RunsDone& done) {
  const bool one = done.paths.size() == 1;
  const Table over = paper.over_runs(done.found);
  const std::string name = text(paper.name, ".json");
  std::string file = text(name, " in each of the ", done.paths.size(), " runs");
  if (one) file = done.paths[0] + "/" + name;
  if (call.given("out")) file = call.value("out");
  const std::vector<Table> tables = one ? paper.result(done.found[0]).tables : std::vector{over};
  return done.shown(call,
                    {{"paper", paper.name},
                     {"reports", done.found},
                     {"settings", work_settings(call)},
                     {"over_runs", Json(Result{.tables = {over}}).at("over_runs")}},
                    tables, file);
}

}  // namespace

Output reproduce(Invocation& call) {
  ReproduceFlags flags;
  call.read(flags.settings(), call.out_setting());
  const std::string name = call.positionals()[0];
  require_known("paper", name, texts_of(papers(), &Paper::name));
  const Paper& paper = *std::ranges::find(papers(), name, &Paper::name);
  const std::vector<std::string> paths(call.positionals().begin() + 1, call.positionals().end());
  if (paths.size() > 1 && call.given("out")) {
    throw UsageError("cannot use --out: it keeps the result of one run",
                     "leave it out: each run keeps its own");
  }
  PaperOptions& options = flags.options;
  if (!call.given("finetune")) options.finetune = options.settings.gate_steps;
  options.progress = note;
  const auto parts = [&](const auto& runs) { return paper.parts(runs, options); };
  const auto report = [&](const Run& run) { return paper.report(run, options); };
  const RunsDone done = do_runs(call, {flags.jobs, flags.force, paths, name + ".json",
                                       options.keeping, parts, report});
  return done.ended ? *done.ended : shown(call, paper, done);
}

}  // namespace headlab::cli
