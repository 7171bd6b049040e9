// `headlab prune`: chooses heads, removes them, fine-tunes, and shows the cost. Choosing writes
// nothing, so Ctrl-C ends it at once; once the pruned run is on disk, Ctrl-C saves it first. Read
// next: lab/prune/prune.h, which does the work.

#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct PruneFlags {
  PruneOptions options;
  Index keep = 0;
  double drop = 0, max_loss_rise = 0;
  std::string out, remove;

  Flags settings() {
    Flags s;

    s.integer("keep", keep, 0, 1 << 20,
              "heads to keep; or use --drop, --max-loss-rise or --remove");
    s.real("drop", drop, 0, 100, "percent of the heads to remove");
    s.real("max_loss_rise", max_loss_rise, 0, 1000,
           "keep the fewest heads within this rise of the loss (nats)");
    s.naming(ValueKind::heads, "remove", remove, "remove these heads", {.several = true});
    s.group("how");
    const Settings shared = settings_of(options.settings);
    s.add(*shared.find("per_layer_min"));
    s.naming(ValueKind::method, "method", options.method,
             "how heads are chosen (headlab list methods)");
    s.integer("finetune", options.finetune, 0, 1 << 30, "training steps after the removal");
    s.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
    for (const char* name : {"examples", "seed"}) s.add(*shared.find(name));
    s.add(shared);
    s.group("output");
    s.naming(ValueKind::folder, "out", out, "folder of the pruned run (default: RUN-pruned)");
    s.boolean("measure", options.measure, "time the full, masked and pruned model");
    s.boolean("force", options.force, "replace the run that --out names");
    s.excludes({"drop", "max_loss_rise"}, {flag_given("keep")});
    s.excludes({"max_loss_rise"}, {flag_given("drop")});
    s.excludes({"keep", "drop", "max_loss_rise", "method", "per_layer_min", "examples"},
               {flag_given("remove")});
    s.needs({"lr"}, {flag_given("finetune")});
    for_methods(s, "method");
    return s;
  }
};

/// Reads how far to prune, from the one flag of four that is given.
void read_aim(PruneFlags& flags, const Invocation& call) {
  if (!flags.remove.empty()) return;
  if (call.given("keep")) {
    flags.options.keep = flags.keep;
  } else if (call.given("drop")) {
    flags.options.drop = flags.drop;
  } else if (call.given("max_loss_rise")) {
    flags.options.max_loss_rise = flags.max_loss_rise;
  } else {
    throw UsageError(
        "missing --keep, the number of heads to keep (or --drop, --max-loss-rise, --remove)",
        call.example());
  }
}

/// Returns how the run was pruned, as text after the tables.
std::string about(const PruneResult& pruned, const PruneFlags& flags, const Run& run) {
  const PruneOptions& options = flags.options;
  std::string said =
      text("\n", flags.out, ": method ", pruned.options.method, ", seed ", options.settings.seed);
  if (options.finetune > 0) {
    const bool is_short = pruned.finetuned < options.finetune;
    const std::string planned = is_short ? text(" of ", options.finetune) : "";
    said += text(", fine-tuned ", pruned.finetuned, planned, " steps with seed ",
                 run.config.train.seed);
  }
  if (pruned.kept.empty()) {
    said += "\nno head is left: the model predicts from the token and its position alone";
  }
  return said + "\n";
}

}  // namespace

void for_methods(Flags& settings, const std::string& flag) {
  // Without --methods a curve has all of them, random included.
  const bool has_default_list = flag == "methods";
  const auto with_random = [&](std::vector<std::string> methods) {
    if (has_default_list) methods.emplace_back("");
    return methods;
  };
  const auto with = [&](std::vector<std::string> methods) {
    for (const PruneMethod& method : own_methods()) methods.push_back(method.name);
    return has_value(flag, std::move(methods));
  };
  settings.needs({"seed"}, {with(with_random({"random", "ablation_resample", "l0", "subset"}))});
  settings.needs({"draws"}, {with(with_random({"random"}))});
  settings.needs({"gate_steps"}, {with({"l0", "subset"})});
  settings.needs({"lambda"}, {with({"l0"})});
}

Output prune(Invocation& call) {
  PruneFlags flags;
  call.read(flags.settings());
  read_aim(flags, call);
  if (flags.out.empty()) {
    const std::string& run = call.positionals()[0];
    flags.out = run.substr(0, run.find_last_not_of('/') + 1) + "-pruned";
  }
  PruneOptions& options = flags.options;
  as_usage([&] { return &find_prune_method(options.method); });
  const Run run = open_run(call.positionals()[0]);
  options.remove = parse_heads("--remove", flags.remove, run.model);
  if (options.keep) {
    as_usage([&] { check_sizes(problem_of(run, options.settings), {&*options.keep, 1}); });
  }
  check_run_folder(flags.out, Existing{options.force});
  if (options.remove.empty()) {
    note(text("choosing ", options.keep ? text(*options.keep, " of ") : "among ",
              all_heads(run.model).size(), " heads (", options.method, ")"));
  }
  Progress progress(options.finetune);
  RunCallbacks callbacks = watch(progress);
  callbacks.prepare = [](Trainer&) { catch_interrupts(); };  // from here on there is a run to save
  PruneResult pruned;
  try {
    pruned = prune_run(run, flags.out, options, callbacks);
  } catch (const Stopped&) {
    progress.clear();
    return progress.stopped_while_waiting(flags.out, run.config.task);
  }
  progress.clear();
  Output output = reproducible(call, output_of(result_of(pruned), about(pruned, flags, run)),
                               replaced_text(flags.out));
  output.unwritten = pruned.unwritten;
  if (pruned.finetuned == options.finetune && !output.unwritten) {
    keep_as(std::filesystem::path(flags.out) / "prune.json", output);
  }
  return progress.interrupted_or(std::move(output), flags.out, run.config.task);
}

}  // namespace headlab::cli
