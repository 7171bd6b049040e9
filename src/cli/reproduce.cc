// `headlab reproduce michel|voita RUN ...`: the experiments of the two papers that began head
// pruning, on any runs, with the published numbers beside ours. Runs are only read; trainings are
// kept in each folder as they are made, so that nothing is done again, and then the whole in a file
// of its own. The JSON has one shape, for one run and for several. Read next: lab/reproduce.h.
#include "headlab/lab/reproduce.h"

#include "cli/commands.h"
#include "cli/slices.h"
#include "headlab/report/prune_text.h"

namespace headlab::cli {
namespace {

struct ReproduceFlags {
  MichelOptions michel;
  VoitaOptions voita;
  Index examples = 512;
  WorkFlags work;
  bool force = false;

  Settings settings() {
    Settings s;
    s.integer("examples", examples, 2, 1 << 24, "on which heads are chosen and scored");
    s.integer("stages", michel.stages, 1, 1000, "michel: points in training at which it is pruned");
    s.boolean("retrain", michel.retrain, "michel: train once more, to prune on the way");
    s.integer("turns", michel.timing.turns, 1, 100000, "michel: timings of each batch size");
    s.integer("gate_steps", voita.settings.gate_steps, 1, 1 << 30,
              "voita: steps of training gates");
    voita.finetune = voita.settings.gate_steps;
    s.integer("finetune", voita.finetune, 0, 1 << 30,
              "voita: steps of training after the closed gates are gone, if not as many as with "
              "them");
    s.integer("seed", voita.settings.seed, 0, kMostExact, "voita: of the gates' noise");
    work.add_to(s);
    s.boolean("force", force, "make anew what the runs keep");
    return s;
  }
};

/// What one paper's experiment found: of several runs means, of one the whole.
struct Found {
  std::vector<MichelReport> michel{};
  std::vector<VoitaReport> voita{};

  Json over_runs() const {
    return voita.empty() ? Json(shares_over_runs(stages())) : Json(penalties_over_runs(voita));
  }
  std::string shown() const {
    if (voita.size() == 1) return voita_text(voita[0]);
    if (michel.size() == 1) return michel_text(michel[0]);
    return voita.empty() ? shares_text(shares_over_runs(stages()), michel.size())
                         : penalties_text(penalties_over_runs(voita), voita.size());
  }

 private:
  std::vector<std::vector<PrunedAtStep>> stages() const {
    std::vector<std::vector<PrunedAtStep>> all;
    for (const MichelReport& report : michel) all.push_back(report.by_step);
    return all;
  }
};

Result shown(const Invocation& call, const RunsDone& done, const Found& found) {
  const std::string paper = call.positionals()[0], name = paper + ".json";
  Json json = done.to_json();
  json["paper"] = paper;
  json["reports"] = done.found;
  json["settings"] = work_settings(call);
  json["over_runs"] = found.over_runs();
  const std::string file = call.given("out") ? call.value("out")
                           : done.paths.size() == 1
                               ? done.paths[0] + "/" + name
                               : text(name, " in each of the ", done.paths.size(), " runs");
  return done.with_failures(
      reproducible(call, std::move(json), text(found.shown(), "\n", file, "\n")));
}

}  // namespace

Result reproduce(Invocation& call) {
  ReproduceFlags flags;
  call.read(flags.settings(), call.out_setting());
  const std::string paper = call.positionals()[0], name = paper + ".json";
  require_known("paper", paper, {"michel", "voita"});
  const std::vector<std::string> paths(call.positionals().begin() + 1, call.positionals().end());
  if (paths.size() > 1 && call.given("out"))
    throw UsageError("--out keeps what one run showed", "leave it out: each run keeps its own");
  if (!call.given("finetune")) flags.voita.finetune = flags.voita.settings.gate_steps;
  flags.michel.examples = flags.voita.settings.examples = flags.examples;
  flags.michel.progress = flags.voita.progress = note;
  Found found;
  const RunsDone done =
      do_runs(call, {.flags = flags.work,
                     .force = flags.force,
                     .paths = paths,
                     .cells =
                         [&](const auto& runs) {
                           flags.michel.keeping = flags.voita.keeping = {true, interrupted};
                           return paper == "voita" ? voita_cells(runs, flags.voita)
                                                   : michel_cells(runs, flags.michel);
                         },
                     .show =
                         [&](const Run& run, const Keeping& keeping) {
                           flags.michel.keeping = flags.voita.keeping = keeping;
                           Json json = paper == "voita" ? to_json(found.voita.emplace_back(
                                                              reproduce_voita(run, flags.voita)))
                                                        : to_json(found.michel.emplace_back(
                                                              reproduce_michel(run, flags.michel)));
                           json["settings"] = work_settings(call);
                           return finding(call, run, std::move(json), "", name);
                         }});
  return done.ended ? *done.ended : shown(call, done, found);
}

}  // namespace headlab::cli
