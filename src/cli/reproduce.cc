// `headlab reproduce michel|voita RUN`: the experiments of the two papers that began head pruning,
// on any run, with the published numbers beside ours. The run is only read; the results go to a
// file of their own in its folder. Read next: lab/michel.h, lab/voita.h.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/files.h"
#include "headlab/report/reproduce_text.h"

namespace headlab::cli {
namespace {

struct ReproduceFlags {
  MichelOptions michel;
  VoitaOptions voita;
  Index examples = 512;
  CommonFlags common;

  Settings settings() {
    Settings s;
    s.integer("examples", examples, 2, 1 << 24, "on which heads are chosen and scored");
    s.integer("stages", michel.stages, 1, 1000, "michel: points in training at which it is pruned");
    s.boolean("retrain", michel.retrain, "michel: train once more, to prune on the way");
    s.integer("turns", michel.timing.turns, 1, 100000, "michel: timings of each batch size");
    s.integer("gate_steps", voita.settings.gate_steps, 1, 1 << 30,
              "voita: steps of training gates");
    s.integer("seed", voita.settings.seed, 0, std::int64_t{1} << 53, "voita: of the gates' noise");
    s.add(common.settings());
    return s;
  }
};

struct Reproduction {
  Json json;
  std::string text;
};

Reproduction reproduce(const std::string& paper, const Run& run, ReproduceFlags& flags) {
  const auto progress = [](const std::string& what) { note(what); };
  if (paper == "michel") {
    flags.michel.examples = flags.examples;
    flags.michel.progress = progress;
    const MichelReport report = reproduce_michel(run, flags.michel);
    return {to_json(report), michel_text(report)};
  }
  flags.voita.settings.examples = flags.examples;
  flags.voita.progress = progress;
  const VoitaReport report = reproduce_voita(run, flags.voita);
  return {to_json(report), voita_text(report)};
}

}  // namespace

int reproduce_command(Arguments arguments) {
  ReproduceFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("reproduce", "michel|voita RUN", settings);
  const auto names =
      parse_arguments(arguments, signature_of("reproduce", {"michel|voita", "RUN"}), settings);
  if (names[0] != "michel" && names[0] != "voita") {
    const Error unknown = unknown_name("paper", names[0], {"michel", "voita"});
    throw UsageError(unknown.what(), unknown.hint());
  }
  flags.common.apply();
  const Run run = open_run(names[1]);
  Reproduction result = reproduce(names[0], run, flags);
  result.json["settings"] = settings.to_json();
  result.json["command"] = again("reproduce", arguments);
  const std::filesystem::path file = run.path / (names[0] + ".json");
  write_file(file, result.json.dump(2) + "\n");
  if (flags.common.json) {
    print(result.json);
  } else {
    print(result.text +
          text("\n", file.string(), "\nagain: ", again("reproduce", arguments), "\n"));
  }
  return 0;
}

}  // namespace headlab::cli
