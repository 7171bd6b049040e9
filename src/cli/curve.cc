// `headlab curve`: all pruning methods side by side on one run, as tables and curve.json. The run
// is only read. Ctrl-C ends it at once: nothing is written before all is done.
// Read next: prune/curve.h.
#include "headlab/prune/curve.h"

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/files.h"
#include "headlab/report/curve_text.h"

namespace headlab::cli {
namespace {

struct CurveFlags {
  CurveOptions options;
  std::string methods;
  CommonFlags common;

  Settings settings() {
    Settings s;
    s.add(named_text("methods", "A,B,...", methods,
                     "see `headlab list methods`; empty: all that need no training"));
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after each removal");
    s.boolean("test-split", options.test_split,
              "judge on examples that nothing else has seen, not on the held-out ones");
    s.integer("examples", options.examples, 1, 1 << 24,
              "training examples on which heads are chosen");
    s.integer("judged", options.judged, 0, 1 << 24,
              "examples on which models are judged (0: as many as the run's evaluations)");
    s.integer("draws", options.draws, 1, 1000, "of the method random, averaged");
    s.integer("per-layer-min", options.per_layer_min, 0, 1 << 20,
              "heads that each attention module keeps");
    s.integer("gate-steps", options.gate_steps, 1, 1 << 30,
              "steps of training in the methods l0 and subset");
    s.real("lambda", options.penalty, 0, 1000, "penalty of the method l0 for each open head");
    s.integer("seed", options.seed, 0, std::int64_t{1} << 53, "of random choices");
    s.add(common.settings());
    return s;
  }
};

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  return names;
}

}  // namespace

int curve_command(Arguments arguments) {
  CurveFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("curve", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("curve", {"RUN"}), settings);
  flags.common.apply();
  flags.options.methods = split_names(flags.methods);
  as_usage([&] {
    for (const std::string& name : flags.options.methods) find_prune_method(name);
  });
  Run run = open_run(paths[0]);
  flags.options.progress = [](const std::string& what) { note(what); };
  const Curve curve = prune_curve(run, flags.options);
  Json json = curve.to_json();
  json["settings"] = settings.to_json();
  json["command"] = again("curve", arguments);
  write_file(run.path / "curve.json", json.dump(2) + "\n");
  if (flags.common.json) {
    print(json);
  } else {
    print(curve_text(curve) +
          text("\n", paths[0], "/curve.json\nagain: ", again("curve", arguments), "\n"));
  }
  return 0;
}

}  // namespace headlab::cli
