// `headlab prune`: choose heads, remove them, fine-tune, and show what it cost. Choosing writes
// nothing, so Ctrl-C ends it at once; once the pruned run is on disk, Ctrl-C saves it first. Read
// next: prune/prune.h, which does the work.
#include "headlab/prune/prune.h"

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

struct PruneFlags {
  PruneOptions options;
  std::string out;
  CommonFlags common;

  Settings settings() {
    std::vector<std::string> methods;
    for (const PruneMethod& method : prune_table()) {
      methods.emplace_back(method.name);
    }
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the pruned run (required)"));
    s.integer("keep", options.keep, 0, 1 << 20, "heads to keep in the whole model (required)");
    s.add(named_text("method", join(methods, "|"), options.method, "see `headlab list methods`"));
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after the removal");
    s.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
    s.integer("examples", options.examples, 1, 1 << 24,
              "training examples on which heads are chosen");
    s.integer("seed", options.seed, 0, std::int64_t{1} << 53, "of the method random");
    s.boolean("force", options.force, "replace the run that --out names");
    s.add(common.settings());
    return s;
  }
};

/// What is wrong whatever the run holds.
void check_flags(const PruneFlags& flags, const std::vector<std::string>& given) {
  const bool keep = std::find(given.begin(), given.end(), "keep") != given.end();
  if (flags.out.empty() || !keep) {
    throw UsageError(flags.out.empty() ? "missing --out, the folder of the pruned run"
                                       : "missing --keep, the number of heads to keep",
                     "for example: " + signature_of("prune", {}).example);
  }
  as_usage([&] { find_prune_method(flags.options.method); });
}

void check_keep(const Run& run, Index keep) {
  const auto heads = std::ssize(all_heads(run.model));
  if (keep > heads) {
    throw UsageError(text("--keep ", keep, ": the model has ", heads, " heads"),
                     text("keep fewer than ", heads, " to remove some"));
  }
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
  if (wants_help(arguments)) {
    return print_help("prune", "RUN", settings);
  }
  std::vector<std::string> given;
  const auto paths = parse_arguments(arguments, signature_of("prune", {"RUN"}), settings, &given);
  check_flags(flags, given);
  flags.common.apply();
  Run run = open_run(paths[0]);
  check_keep(run, flags.options.keep);
  check_run_folder(flags.out, flags.options.force);
  note(text("choosing ", flags.options.keep, " of ", all_heads(run.model).size(), " heads (",
            flags.options.method, ")"));
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
    print(prune_text(result) + summary_text(flags, run, arguments));
  }
  return progress.status(flags.out);
}

}  // namespace headlab::cli
