// `headlab curve`: all pruning methods side by side on one run, as tables and curve.json; of
// several runs each gets its file, and what is shown are means over them. Runs are only read.
// Ctrl-C ends it at once: nothing is written of a run before its curve is done. Read next:
// prune/curve.h.
#include "headlab/prune/curve.h"

#include <sstream>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/report/curve_text.h"

namespace headlab::cli {
namespace {

struct CurveFlags {
  CurveOptions options;
  std::string methods;

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

/// Computes the curve of each run and writes it beside the run; shows the one, or means over all.
Result curves_of(const Invocation& call, std::vector<Run>& runs, CurveOptions& options) {
  std::vector<Curve> curves;
  Json paths = Json::array();
  Result result;
  for (Run& run : runs) {
    options.progress = [&](const std::string& what) {
      note(runs.size() > 1 ? run.path.string() + ": " + what : what);
    };
    curves.push_back(prune_curve(run, options));
    const std::filesystem::path file = run.path / "curve.json";
    Json json = to_json(curves.back());
    json["settings"] = call.settings().to_json();
    result = reproducible(call, std::move(json),
                          text(curve_text(curves.back()), "\n", file.string(), "\n"), file);
    paths.push_back(run.path.string());
  }
  if (runs.size() == 1) return result;
  const CurveOverRuns all = over_runs(curves);
  Json json = to_json(all);
  json["paths"] = std::move(paths);
  return reproducible(call, std::move(json),
                      text(curve_text(all), "\ncurve.json in each of the ", runs.size(),
                           " runs\n"));
}

}  // namespace

Result curve(Invocation& call) {
  CurveFlags flags;
  call.read(flags.settings());
  flags.options.methods = split_names(flags.methods);
  as_usage([&] {
    for (const std::string& name : flags.options.methods) find_prune_method(name);
  });
  std::vector<Run> runs = open_runs(call.positionals(), flags.options);
  return curves_of(call, runs, flags.options);
}

}  // namespace headlab::cli
