// `headlab prune`: choose heads, remove them, fine-tune, and show what it cost. Choosing writes
// nothing, so Ctrl-C ends it at once; once the pruned run is on disk, Ctrl-C saves it first. Read
// next: prune/prune.h, which does the work.
#include "headlab/prune/prune.h"

#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/report/prune_text.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

struct PruneFlags {
  PruneOptions options;
  Index keep = 0;
  double drop = 0, max_loss_rise = 0;
  std::string out;

  Settings settings() {
    std::vector<std::string> methods;
    for (const PruneMethod& method : prune_table()) methods.emplace_back(method.name);
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the pruned run (required)"));
    s.integer("keep", keep, 0, 1 << 20, "heads to keep in the whole model");
    s.real("drop", drop, 0, 100, "or: percent of the heads to remove");
    s.real("max_loss_rise", max_loss_rise, 0, 1000,
           "or: keep the fewest heads with which the loss rises by at most so many nats");
    const Settings shared = settings_of(options.settings);
    s.add(*shared.find("per_layer_min"));
    s.add(named_text("method", join(methods, "|"), options.method, "see `headlab list methods`"));
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after the removal");
    s.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
    for (const char* name : {"examples", "seed"}) s.add(*shared.find(name));
    s.add(shared);
    s.boolean("measure", options.measure,
              "time the full, the masked and the removed model at batch 1, 4, 16, 64");
    s.boolean("force", options.force, "replace the run that --out names");
    return s;
  }
};

/// What is wrong whatever the run holds; fills in how far to prune.
void check_flags(PruneFlags& flags, const Invocation& call) {
  const bool keep = call.given("keep"), drop = call.given("drop"),
             rise = call.given("max_loss_rise");
  if (keep) flags.options.keep = flags.keep;
  if (drop) flags.options.drop = flags.drop;
  if (rise) flags.options.max_loss_rise = flags.max_loss_rise;
  const int sizes = int{keep} + int{drop} + int{rise};
  if (flags.out.empty())
    throw UsageError("missing --out, the folder of the pruned run", call.example());
  if (sizes == 0)
    throw UsageError("missing --keep, the number of heads to keep (or --drop, --max-loss-rise)",
                     call.example());
  if (sizes > 1)
    throw UsageError("--keep, --drop and --max-loss-rise each say how many heads stay: give one",
                     call.example());
  as_usage([&] { find_prune_method(flags.options.method); });
}

void check_keep(const Run& run, const PruneOptions& options) {
  if (!options.keep) return;
  try {
    check_sizes(problem_of(run, options.settings), std::span(&*options.keep, 1));
  } catch (const SizeError& error) {
    throw usage_of(error, "keep", options.settings.per_layer_min,
                   error.size > error.heads
                       ? text("keep fewer than ", error.heads, " to remove some")
                       : text("keep ", error.fewest, " or more, or lower --per-layer-min"));
  }
}

/// "4 of 8 heads", or "among 8 heads" where the number that stays is not known yet.
std::string aim_text(const PruneOptions& options, const Run& run) {
  const auto heads = all_heads(run.model).size();
  return options.keep ? text(*options.keep, " of ", heads, " heads")
                      : text("among ", heads, " heads");
}

}  // namespace

UsageError usage_of(const SizeError& error, const std::string& setting, Index per_layer_min,
                    const std::string& hint) {
  const std::string what = flag_of(setting) + " " + std::to_string(error.size);
  return UsageError(error.size > error.heads
                        ? text(what, ": the model has ", error.heads, " heads")
                        : text(what, " is less than the ", error.fewest, " heads that ",
                               per_layer_min, " in each attention module make"),
                    hint);
}

Result prune(Invocation& call) {
  PruneFlags flags;
  call.read(flags.settings());
  check_flags(flags, call);
  const PruneOptions& options = flags.options;
  const Run run = open_run(call.positionals()[0]);
  check_keep(run, options);
  check_run_folder(flags.out, Existing{options.force});
  note(text("choosing ", aim_text(options, run), " (", options.method, ")"));
  Progress progress(options.finetune);
  RunCallbacks callbacks = watch(progress);
  callbacks.prepare = [](Trainer&) { catch_interrupts(); };  // from here on there is a run to save
  const PruneResult pruned = prune_run(run, flags.out, options, callbacks);
  progress.clear();
  Json json = to_json(pruned);
  json["seed"] = options.settings.seed;
  std::string shown = pruned.timing.empty() ? "" : timing_text(pruned.timing) + "\n";
  shown += text(prune_text(pruned), "\n", flags.out, ": method ", options.method, ", seed ",
                options.settings.seed);
  if (options.finetune > 0)
    shown += text(", fine-tuned ", options.finetune, " steps with seed ", run.config.train.seed);
  return progress.interrupted_or(reproducible(call, std::move(json), shown + "\n"), flags.out);
}

}  // namespace headlab::cli
