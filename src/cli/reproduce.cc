// `headlab reproduce michel|voita RUN`: the experiments of the two papers that began head pruning,
// on any run, with the published numbers beside ours. The run is only read; the results go to a
// file of their own in its folder. Read next: lab/michel.h, lab/voita.h.
#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/lab/michel.h"
#include "headlab/lab/voita.h"
#include "headlab/report/reproduce_text.h"

namespace headlab::cli {
namespace {

struct ReproduceFlags {
  MichelOptions michel;
  VoitaOptions voita;
  Index examples = 512;

  Settings settings() {
    Settings s;
    s.integer("examples", examples, 2, 1 << 24, "on which heads are chosen and scored");
    s.integer("stages", michel.stages, 1, 1000, "michel: points in training at which it is pruned");
    s.boolean("retrain", michel.retrain, "michel: train once more, to prune on the way");
    s.integer("turns", michel.timing.turns, 1, 100000, "michel: timings of each batch size");
    s.integer("gate_steps", voita.settings.gate_steps, 1, 1 << 30,
              "voita: steps of training gates");
    s.integer("seed", voita.settings.seed, 0, std::int64_t{1} << 53, "voita: of the gates' noise");
    return s;
  }
};

struct Reproduction {
  Json json;
  std::string text;
};

Reproduction reproduce_paper(const std::string& paper, const Run& run, ReproduceFlags& flags) {
  flags.michel.examples = flags.voita.settings.examples = flags.examples;
  flags.michel.progress = flags.voita.progress = note;
  if (paper == "michel") {
    const MichelReport report = reproduce_michel(run, flags.michel);
    return {to_json(report), michel_text(report)};
  }
  const VoitaReport report = reproduce_voita(run, flags.voita);
  return {to_json(report), voita_text(report)};
}

}  // namespace

Result reproduce(Invocation& call) {
  ReproduceFlags flags;
  call.read(flags.settings());
  const std::string& paper = call.positionals()[0];
  require_known("paper", paper, {"michel", "voita"});
  const Run run = open_run(call.positionals()[1]);
  Reproduction found = reproduce_paper(paper, run, flags);
  found.json["settings"] = call.settings().to_json();
  const std::filesystem::path file = run.path / (paper + ".json");
  return reproducible(call, std::move(found.json), text(found.text, "\n", file.string(), "\n"),
                      file);
}

}  // namespace headlab::cli
