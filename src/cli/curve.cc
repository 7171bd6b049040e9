// `headlab curve`: all pruning methods side by side on one run, as tables and curve.json; of
// several runs each gets its file, and what is shown are means over them. Runs are only read.
// Ctrl-C ends it after the method at which it is: what is done is kept and shown. Read next:
// prune/curve.h.
#include "headlab/prune/curve.h"

#include <functional>

#include "cli/commands.h"
#include "cli/pictures.h"
#include "headlab/base/text.h"
#include "headlab/report/figures.h"
#include "headlab/report/prune_text.h"

namespace headlab::cli {
namespace {

struct CurveFlags {
  CurveOptions options;
  std::string methods;
  PictureFlags picture;

  Settings settings() {
    Settings s;
    s.string("methods", methods, "see `headlab list methods`; empty: all that need no training",
             "A,B,...");
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
    picture.add_to(s);
    return s;
  }
};

/// Means need the same sizes in each run: heads that differ in number are noticed before the work.
std::vector<Run> open_runs(const std::vector<std::string>& paths, const CurveOptions& options) {
  std::vector<Run> runs;
  for (const std::string& path : paths) {
    runs.push_back(open_run(path));
    check_sizes(problem_of(runs.back(), options.settings), options.sizes);
    const auto heads = all_heads(runs.back().model).size(), first = all_heads(runs[0].model).size();
    if (runs.back().config.task != runs[0].config.task) {
      throw UsageError(text(path, " was trained on ", runs.back().config.task, ", but ", paths[0],
                            " on ", runs[0].config.task),
                       "means are over runs of one task: give each task a curve of its own");
    }
    if (heads != first && options.sizes.empty()) {
      throw UsageError(text(path, " has ", heads, " heads, but ", paths[0], " has ", first),
                       "name sizes that all runs have: --sizes 1,2");
    }
  }
  return runs;
}

/// A curve that Ctrl-C cut short.
Result stopped(Result result, const Run& run, const std::vector<std::string>& left) {
  result.status = 130;
  result.note =
      text("interrupted: of the methods ", join(left, ", "), " are left out\nhint: to see ",
           "them too: headlab curve ", shell_word(run.path.string()), " --methods ",
           join(left, ","), ", which replaces curve.json");
  return result;
}

Result means_over(const Invocation& call, const std::vector<Run>& runs,
                  const std::vector<Curve>& curves) {
  const CurveOverRuns all = over_runs(curves);
  Json json = to_json(all);
  json["paths"] = texts_of(runs, [](const Run& run) { return run.path.string(); });
  return reproducible(call, std::move(json),
                      text(curve_text(all), "\ncurve.json in each of the ", runs.size(),
                           " runs\n"));
}

/// Computes the curve of each run and writes it beside the run; shows the one, or means over all.
Result curves_of(const Invocation& call, std::vector<Run>& runs, CurveFlags& flags) {
  CurveOptions& options = flags.options;
  std::vector<Curve> curves;
  Result result;
  std::optional<Error> unwritten;
  catch_interrupts();
  options.should_stop = interrupted;
  for (Run& run : runs) {
    options.progress = [&](const std::string& what) {
      note(runs.size() > 1 ? run.path.string() + ": " + what : what);
    };
    if (runs.size() > 1) {
      if (const std::optional<Json> kept = kept_finding(call, run, "curve.json")) {
        options.progress("its curve.json holds this curve");
        curves.push_back(curve_of(*kept));
        curves.back().task = run.config.task;
        continue;
      }
    }
    curves.push_back(prune_curve(run, options));
    const std::filesystem::path file = run.path / "curve.json";
    Json json = to_json(curves.back());
    json["settings"] = call.settings().to_json();
    result = finding(call, run, std::move(json),
                     text(curve_text(curves.back()), "\n", file.string(), "\n"), "curve.json");
    if (result.unwritten) unwritten = result.unwritten;
    if (!curves.back().left.empty()) return stopped(std::move(result), run, curves.back().left);
  }
  if (runs.size() > 1) {
    result = means_over(call, runs, curves);
    result.unwritten = unwritten;
  }
  if (!flags.picture.wanted()) return result;
  const Picture picture =
      runs.size() == 1 ? curve_figure(curves[0]) : curve_figure(over_runs(curves));
  return with_picture(call, flags.picture, picture, result);
}

}  // namespace

Result curve(Invocation& call) {
  CurveFlags flags;
  call.read(flags.settings());
  if (!flags.methods.empty())
    flags.options.methods = texts_of(split(flags.methods, ','), std::identity());
  for (const std::string& name : flags.options.methods)
    require_known("pruning method", name, texts_of(prune_table(), &PruneMethod::name));
  std::vector<Run> runs = open_runs(call.positionals(), flags.options);
  return curves_of(call, runs, flags);
}

}  // namespace headlab::cli
