// `headlab curve`: all pruning methods side by side on one run, as tables and curve.json; of
// several runs each gets its file, and what is shown are means over them. Runs are only read.
// Ctrl-C ends it at once: nothing is written of a run before its curve is done. Read next:
// prune/curve.h.
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
    s.integers("sizes", options.sizes, 0, 1 << 20,
               "numbers of heads to keep; empty: all from 0 (or --per-layer-min) on");
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after each removal");
    s.boolean("from_scratch", options.from_scratch,
              "also train models that have as many heads in each layer from the start");
    s.boolean("test_split", options.test_split,
              "judge on examples that nothing else has seen, not on the held-out ones");
    const Settings shared = settings_of(options.settings);
    s.add(*shared.find("examples"));
    s.integer("judged", options.judged, 0, 1 << 24,
              "examples on which models are judged (0: as many as the run's evaluations)");
    s.integer("draws", options.draws, 1, 1000, "of the method random, averaged");
    s.add(shared);
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

void check_sizes(const CurveOptions& options, const Run& run) {
  try {
    headlab::check_sizes(problem_of(run, options.settings), options.sizes);
  } catch (const SizeError& error) {
    throw usage_of(error, "sizes", options.settings.per_layer_min,
                   error.size > error.heads
                       ? text("name sizes from ", error.fewest, " to ", error.heads)
                       : text("name sizes from ", error.fewest, ", or lower --per-layer-min"));
  }
}

/// Means need the same sizes in each run: heads that differ in number are noticed before the work.
std::vector<Run> open_runs(const std::vector<std::string>& paths, const CurveOptions& options) {
  std::vector<Run> runs;
  for (const std::string& path : paths) {
    runs.push_back(open_run(path));
    check_sizes(options, runs.back());
    const auto heads = all_heads(runs.back().model).size(), first = all_heads(runs[0].model).size();
    if (heads != first && options.sizes.empty()) {
      throw UsageError(text(path, " has ", heads, " heads, but ", paths[0], " has ", first),
                       "name sizes that all runs have: --sizes 1,2");
    }
  }
  return runs;
}

struct Result {
  Json json;
  std::string text;
};

/// Computes the curve of each run and writes it beside the run.
Result curves_of(std::vector<Run>& runs, CurveFlags& flags, const Json& settings,
                 const std::string& command) {
  std::vector<Curve> curves;
  Result result;
  for (const Run& run : runs) {
    flags.options.progress = [&](const std::string& what) {
      note(runs.size() > 1 ? run.path.string() + ": " + what : what);
    };
    curves.push_back(prune_curve(run, flags.options));
    result.json = to_json(curves.back());
    result.json["settings"] = settings;
    result.json["command"] = command;
    write_file(run.path / "curve.json", result.json.dump(2) + "\n");
  }
  if (runs.size() == 1) {
    result.text = curve_text(curves[0]) + "\n" + (runs[0].path / "curve.json").string();
    return result;
  }
  const CurveOverRuns all = over_runs(curves);
  result.json = to_json(all);
  Json& paths = result.json["paths"] = Json::array();
  for (const Run& run : runs) paths.push_back(run.path.string());
  result.json["command"] = command;
  result.text = curve_text(all) + text("\ncurve.json in each of the ", runs.size(), " runs");
  return result;
}

}  // namespace

int curve_command(Arguments arguments) {
  CurveFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("curve", "RUN [RUN ...]", settings);
  Signature signature = signature_of("curve", {"RUN"});
  signature.repeats = true;
  const auto paths = parse_arguments(arguments, signature, settings);
  flags.common.apply();
  flags.options.methods = split_names(flags.methods);
  as_usage([&] {
    for (const std::string& name : flags.options.methods) find_prune_method(name);
  });
  std::vector<Run> runs = open_runs(paths, flags.options);
  const std::string command = again("curve", arguments);
  const Result result = curves_of(runs, flags, settings.to_json(), command);
  if (flags.common.json)
    print(result.json);
  else
    print(result.text + "\nagain: " + command + "\n");
  return 0;
}

}  // namespace headlab::cli
