// `headlab prune`: choose heads, remove them, fine-tune, and show what it cost. Choosing writes
// nothing, so Ctrl-C ends it at once; once the pruned run is on disk, Ctrl-C saves it first. Read
// next: prune/prune.h, which does the work.
#include "headlab/prune/prune.h"

#include "cli/all_commands.h"
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
  CommonFlags common;

  Settings settings() {
    std::vector<std::string> methods;
    for (const PruneMethod& method : prune_table()) methods.emplace_back(method.name);
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the pruned run (required)"));
    s.integer("keep", keep, 0, 1 << 20, "heads to keep in the whole model");
    s.real("drop", drop, 0, 100, "or: percent of the heads to remove");
    s.real("max_loss_rise", max_loss_rise, 0, 1000,
           "or: keep the fewest heads with which the loss rises by at most so many nats");
    s.integer("per_layer_min", options.per_layer_min, 0, 1 << 20,
              "heads that each attention module keeps");
    s.add(named_text("method", join(methods, "|"), options.method, "see `headlab list methods`"));
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after the removal");
    s.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
    s.integer("examples", options.examples, 1, 1 << 24,
              "training examples on which heads are chosen");
    s.integer("seed", options.seed, 0, std::int64_t{1} << 53, "of random choices");
    s.integer("gate_steps", options.gate_steps, 1, 1 << 30,
              "steps of training in the methods l0 and subset");
    s.real("lambda", options.penalty, 0, 1000, "penalty of the method l0 for each open head");
    s.boolean("measure", options.measure,
              "time the full, the masked and the removed model at batch 1, 4, 16, 64");
    s.boolean("force", options.force, "replace the run that --out names");
    s.add(common.settings());
    return s;
  }
};

/// What is wrong whatever the run holds; fills in how far to prune.
void check_flags(PruneFlags& flags, const std::vector<std::string>& given) {
  const auto has = [&](const char* name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  if (has("keep")) flags.options.keep = flags.keep;
  if (has("drop")) flags.options.drop = flags.drop;
  if (has("max_loss_rise")) flags.options.max_loss_rise = flags.max_loss_rise;
  const int sizes = int{has("keep")} + int{has("drop")} + int{has("max_loss_rise")};
  const std::string example = "for example: " + signature_of("prune", {}).example;
  if (flags.out.empty()) throw UsageError("missing --out, the folder of the pruned run", example);
  if (sizes == 0)
    throw UsageError("missing --keep, the number of heads to keep (or --drop, --max-loss-rise)",
                     example);
  if (sizes > 1)
    throw UsageError("--keep, --drop and --max-loss-rise each say how many heads stay: give one",
                     example);
  as_usage([&] { find_prune_method(flags.options.method); });
}

void check_keep(Run& run, const PruneOptions& options) {
  const auto heads = std::ssize(all_heads(run.model));
  const Index keep = options.keep.value_or(heads);
  if (keep > heads) {
    throw UsageError(text("--keep ", keep, ": the model has ", heads, " heads"),
                     text("keep fewer than ", heads, " to remove some"));
  }
  const Index fewest = fewest_heads(problem_of(run, options));
  if (keep < fewest) {
    throw UsageError(text("--keep ", keep, " is less than the ", fewest, " heads that ",
                          options.per_layer_min, " in each attention module make"),
                     text("keep ", fewest, " or more, or lower --per-layer-min"));
  }
}

/// "4 of 8 heads", "fewer of 8 heads".
std::string aim_text(const PruneOptions& options, Run& run) {
  const auto heads = all_heads(run.model).size();
  return options.keep ? text(*options.keep, " of ", heads, " heads")
                      : text("among ", heads, " heads");
}

std::string summary_text(const PruneFlags& flags, const Run& run, Arguments arguments) {
  return text("\n", flags.out, ": method ", flags.options.method, ", seed ", flags.options.seed,
              flags.options.finetune > 0 ? text(", fine-tuned ", flags.options.finetune,
                                                " steps with seed ", run.config.train.seed)
                                         : std::string(),
              "\nagain: ", again("prune", arguments), "\n");
}

}  // namespace

int prune_command(Arguments arguments) {
  PruneFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("prune", "RUN", settings);
  std::vector<std::string> given;
  const auto paths = parse_arguments(arguments, signature_of("prune", {"RUN"}), settings, &given);
  check_flags(flags, given);
  flags.common.apply();
  Run run = open_run(paths[0]);
  check_keep(run, flags.options);
  check_run_folder(flags.out, flags.options.force);
  note(text("choosing ", aim_text(flags.options, run), " (", flags.options.method, ")"));
  Progress progress(flags.options.finetune);
  RunCallbacks callbacks = watch(progress);
  callbacks.prepare = [](Trainer&) { catch_interrupts(); };
  const PruneResult result = prune_run(run, flags.out, flags.options, callbacks);
  progress.clear();
  if (flags.common.json) {
    Json json = result.to_json();
    json["seed"] = flags.options.seed;
    json["command"] = again("prune", arguments);
    print(json);
  } else {
    if (!result.timing.empty()) print(timing_text(result.timing) + "\n");
    print(prune_text(result) + summary_text(flags, run, arguments));
  }
  return progress.status(flags.out);
}

}  // namespace headlab::cli
