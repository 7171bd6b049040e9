// `headlab curve RUN [RUN ...]`: compares all pruning methods on one run, or as means over several,
// for example the seeds of a sweep's group. A run's folder stores the parts, each method and each
// training separately, and curve.json the whole. The same command given later or at the same time
// therefore does only the remaining work. The JSON has the same structure for one run and for
// several: means over the runs as "methods", and the content of each curve.json as "curves". Read
// next: lab/prune/curve.h.

#include <algorithm>

#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct CurveFlags {
  CurveOptions options;
  std::string methods;
  Index jobs = 0;
  bool force = false;
  PictureFlags picture;

  Flags settings() {
    Flags s;
    s.naming(ValueKind::method, "methods", methods,
             "pruning methods (default: all without training)", {.several = true});
    s.add(settings_of(options));
    for_methods(s, "methods");
    s.group("how");
    add_jobs(s, jobs);
    s.group("output");
    s.boolean("force", force, "recompute results that are already stored");
    s.mark_display({"jobs", "force"});
    picture.add_to(s);
    return s;
  }
};

/// Returns the runs; for SWEEP/GROUP, those that are finished.
std::vector<std::string> run_paths(const std::vector<std::string>& places) {
  std::vector<std::string> paths;
  for (const std::string& place : places) {
    const std::filesystem::path path = place;
    if (exists(path) || !exists(path.parent_path() / "grid.json")) {
      paths.push_back(place);
    } else {
      for (const std::filesystem::path& run : runs_at(place)) paths.push_back(run.string());
    }
  }
  return paths;
}

/// Checks before the work that all runs have the same sizes, which means need: their numbers of
/// heads may differ. Returns the number of sizes.
std::size_t check_runs(const std::vector<std::string>& paths, CurveOptions& options) {
  const Run first = open_run(paths[0]);
  options.methods = curve_methods(first.model, options);
  for (const std::string& path : paths) {
    const Run run = open_run(path);
    as_usage([&] { check_sizes(problem_of(run, options.settings), options.sizes); });
    const auto heads = all_heads(run.model).size(), others = all_heads(first.model).size();
    if (run.config.task != first.config.task) {
      throw UsageError(text("cannot average ", path, ", trained on ", run.config.task, ", with ",
                            paths[0], ", trained on ", first.config.task),
                       "run `headlab curve` once for each task");
    }
    if (heads != others && options.sizes.empty()) {
      throw UsageError(text("cannot average ", path, " with ", heads, " heads and ", paths[0],
                            " with ", others),
                       "name sizes that all runs have: --sizes 1,2");
    }
  }
  if (!options.sizes.empty()) return options.sizes.size();
  return all_heads(first.model).size() + 1;
}

/// Returns the differences that this many runs can detect, before they are pruned: at each size
/// every method is compared with the best, and a fine-tuned one with its references.
std::string plan_of(std::size_t runs, const CurveOptions& options, std::size_t sizes) {
  const std::size_t methods = options.methods.size();
  const std::size_t between_methods = (methods - 1) * sizes;
  const std::size_t with_reference = options.finetune > 0 ? methods * sizes : 0;
  return seeds_plan(runs, std::max(between_methods, with_reference));
}

/// Returns the table of one run, or of means over several.
Output shown_curves(const Invocation& call, const RunsDone& done, const std::vector<Curve>& curves,
                    const PictureFlags& picture) {
  const CurveOverRuns all = over_runs(curves);
  const Json means = to_json(all);
  const std::string files =
      curves.size() == 1 ? result_file(open_run(done.paths[0], Access::look), "curve.json").string()
                         : text("curve.json in each of the ", curves.size(), " runs");
  Output output = done.shown(call,
                             {{"task", curves[0].task},
                              {"needed", means.at("needed")},
                              {"methods", means.at("methods")},
                              {"curves", done.found},
                              {"settings", work_settings(call)}},
                             curve_tables(curves, done.paths), files);
  return with_picture(call, picture, std::move(output),
                      [&](double units) { return curve_figure(all, units); });
}

}  // namespace

Output curve(Invocation& call) {
  CurveFlags flags;
  call.read(flags.settings());
  flags.picture.units();
  CurveOptions& options = flags.options;
  if (!flags.methods.empty()) {
    options.methods = texts_of(split(flags.methods, ','), std::identity());
  }
  for (const std::string& name : options.methods) {
    as_usage([&] { return &find_prune_method(name); });
  }
  const std::vector<std::string> paths = run_paths(call.positionals());
  const std::size_t sizes = check_runs(paths, options);
  if (!is_worker() && paths.size() > 1) note("plan: " + plan_of(paths.size(), options, sizes));
  options.progress = note;
  std::vector<Curve> curves;
  const auto parts = [&](const auto& runs) { return curve_jobs(runs, options); };
  const auto report = [&](const Run& run) -> Json {
    return curves.emplace_back(prune_curve(run, options));
  };
  const RunsDone done =
      do_runs(call, {flags.jobs, flags.force, paths, "curve.json", options.keeping, parts, report});
  return done.ended ? *done.ended : shown_curves(call, done, curves, flags.picture);
}

}  // namespace headlab::cli
