// `headlab reproduce michel|voita RUN`: the experiments of the two papers that began head pruning,
// on any run, with the published numbers beside ours. The run is only read; the results go to a
// file of their own in its folder. Read next: lab/reproduce.h.
#include "headlab/lab/reproduce.h"
#include "cli/commands.h"
#include "headlab/report/prune_text.h"

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
    s.integer("seed", voita.settings.seed, 0, kMostExact, "voita: of the gates' noise");
    return s;
  }
};

/// The report, with status 130 if Ctrl-C cut it short.
Result reproduce_paper(const std::string& paper, const Run& run, ReproduceFlags& flags) {
  flags.michel.examples = flags.voita.settings.examples = flags.examples;
  flags.michel.progress = flags.voita.progress = note;
  catch_interrupts();
  flags.michel.should_stop = flags.voita.should_stop = interrupted;
  if (paper == "michel") {
    const MichelReport report = reproduce_michel(run, flags.michel);
    return {.json = to_json(report),
            .text = michel_text(report),
            .status = report.complete ? 0 : 130};
  }
  const VoitaReport report = reproduce_voita(run, flags.voita);
  return {.json = to_json(report), .text = voita_text(report), .status = report.complete ? 0 : 130};
}

}  // namespace

Result reproduce(Invocation& call) {
  ReproduceFlags flags;
  call.read(flags.settings(), call.out_setting());
  const std::string& paper = call.positionals()[0];
  require_known("paper", paper, {"michel", "voita"});
  const Run run = open_run(call.positionals()[1]);
  Result found = reproduce_paper(paper, run, flags);
  found.json["settings"] = call.settings().to_json();
  const std::string name = paper + ".json";
  const std::string file = call.given("out") ? call.value("out") : (run.path / name).string();
  Result result =
      finding(call, run, std::move(found.json), text(found.text, "\n", file, "\n"), name);
  if (found.status != 0) {
    result.status = found.status;
    result.note = "interrupted: what was done is kept; the same command begins anew";
  }
  return result;
}

}  // namespace headlab::cli
