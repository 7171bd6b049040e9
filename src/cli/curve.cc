// `headlab curve`: all pruning methods side by side on one run, as tables and curve.json; of
// several runs each gets its file, and what is shown are means over them. Runs are only read.
// Ctrl-C ends it after the method at which it is, and --shard deals out the methods of each run;
// what a curve.json holds of the same weights and settings is taken from there. The JSON has one
// shape, for one run and for several: means over the runs as "methods", and what each curve.json
// holds as "curves". Read next: prune/curve.h.
#include "headlab/prune/curve.h"

#include <algorithm>
#include <functional>

#include "cli/commands.h"
#include "cli/pictures.h"
#include "cli/slices.h"
#include "headlab/base/text.h"
#include "headlab/report/figures.h"
#include "headlab/report/prune_text.h"

namespace headlab::cli {
namespace {

struct CurveFlags {
  CurveOptions options;
  std::string methods;
  RunsFlags runs;
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
    runs.add_to(s, "curve.json");
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

/// What the run's curve.json holds of this curve, and what is to be done now of the rest, computed
/// and kept there; nothing where Ctrl-C left some of it out.
std::optional<Json> curve_of_run(const Invocation& call, const Run& run, const CurveFlags& flags,
                                 RunsDone& done) {
  CurveOptions options = flags.options;
  if (const std::optional<Json> kept =
          flags.runs.force ? std::nullopt : kept_finding(call, run, "curve.json")) {
    options.known = curve_of(*kept);
    const std::vector<std::string>& left = options.known->left;
    options.progress(left.empty() ? "its curve.json holds this curve"
                                  : "its curve.json holds it but for " + join(left, ", "));
    if (left.empty()) return kept;
  }
  Curve curve = prune_curve(run, options);
  const bool stopped = interrupted() && !curve.left.empty();
  Result kept = merged_finding(call, run, "curve.json", [&](const std::optional<Json>& there) {
    if (there) add_methods(curve, curve_of(*there), options.methods);
    Json json = to_json(curve);
    json["settings"] = unsliced_settings(call);
    return json;
  });
  if (kept.unwritten) done.unwritten = kept.unwritten;
  return stopped ? std::nullopt : std::optional(std::move(kept.json));
}

/// The table of one run, or of means over several.
Result shown_curves(const Invocation& call, const RunsDone& done, const PictureFlags& picture) {
  std::vector<Curve> curves;
  for (const Json& found : done.found) curves.push_back(curve_of(found));
  const CurveOverRuns all = over_runs(curves);
  const bool one = curves.size() == 1;
  Json json = done.to_json(), means = to_json(all);
  json["task"] = curves[0].task;
  for (const char* key : {"needed", "methods"}) json[key] = means.at(key);
  json["curves"] = done.found;
  json["settings"] = call.settings().to_json();
  const std::string files = one ? (std::filesystem::path(done.paths[0]) / "curve.json").string()
                                : text("curve.json in each of the ", curves.size(), " runs");
  Result result = reproducible(call, std::move(json),
                               text(one ? curve_text(curves[0]) : curve_text(all), "\n", files,
                                    "\n", done.failures_text()));
  result.unwritten = done.unwritten;
  result.status = done.failed.empty() ? 0 : 1;
  if (!picture.wanted()) return result;
  return with_picture(call, picture, curve_figure(all, picture.units()), result);
}

}  // namespace

Result curve(Invocation& call) {
  CurveFlags flags;
  call.read(flags.settings());
  flags.picture.units();
  if (!flags.methods.empty())
    flags.options.methods = texts_of(split(flags.methods, ','), std::identity());
  for (const std::string& name : flags.options.methods)
    as_usage([&] { return &find_prune_method(name); });
  const SweepSlice slice = parse_slice(call);
  std::vector<Run> runs = open_runs(call.positionals(), flags.options);
  catch_interrupts();
  flags.options.should_stop = interrupted;
  const std::vector<std::string>& methods = flags.options.methods =
      curve_methods(runs[0].model, flags.options);
  RunsDone unkept;
  RunsDone done = do_runs(runs, methods.size(), slice, [&](Run& run, const Cells& mine) {
    flags.options.wanted = [&](const std::string& method) {
      return mine[std::ranges::find(methods, method) - methods.begin()];
    };
    flags.options.progress = [&](const std::string& what) {
      note(runs.size() > 1 ? run.path.string() + ": " + what : what);
    };
    return curve_of_run(call, run, flags, unkept);
  });
  done.unwritten = unkept.unwritten;
  if (done.stopped || slice.count > 1) return slice_result(call, done, flags.runs.shard);
  require(!done.found.empty(), done.failures_text());
  return shown_curves(call, done, flags.picture);
}

}  // namespace headlab::cli
