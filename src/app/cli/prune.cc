// `headlab prune`: choose heads, remove them, fine-tune, and show what it cost. Choosing writes
// nothing, so Ctrl-C ends it at once; once the pruned run is on disk, Ctrl-C saves it first. Read
// next: prune/prune.h, which does the work.

#include "cli/commands.h"

namespace headlab::cli {
namespace {

struct PruneFlags {
  PruneOptions options;
  Index keep = 0;
  double drop = 0, max_loss_rise = 0;
  std::string out, remove;

  Flags settings() {
    Flags s;
    s.string("out", out, "folder of the pruned run (default: RUN-pruned)", "DIR");
    s.integer("keep", keep, 0, 1 << 20,
              "heads to keep in the whole model (this or one of the next three is required)");
    s.real("drop", drop, 0, 100, "or: percent of the heads to remove");
    s.real("max_loss_rise", max_loss_rise, 0, 1000,
           "or: keep the fewest heads with which the loss rises by at most so many nats");
    s.string("remove", remove, "or: remove these heads", "0.1,0.2");
    const Settings shared = settings_of(options.settings);
    s.add(*shared.find("per_layer_min"));
    s.string("method", options.method,
             "how heads are chosen (`headlab list methods` explains): " +
                 join(texts_of(prune_table(), &PruneMethod::name), ", "),
             "NAME");
    s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after the removal");
    s.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
    for (const char* name : {"examples", "seed"}) s.add(*shared.find(name));
    s.add(shared);
    s.boolean("measure", options.measure,
              "time the full, the masked and the removed model at batch 1, 4, 16, 64");
    s.boolean("force", options.force, "replace the run that --out names");
    s.only({"drop", "max_loss_rise"}, {"!keep"});
    s.only({"max_loss_rise"}, {"!drop"});
    s.only({"keep", "drop", "max_loss_rise", "method", "per_layer_min", "examples"}, {"!remove"});
    s.only({"lr"}, {"finetune"});
    for_methods(s, "method");
    return s;
  }
};

/// How far to prune, by the one flag of four that is given.
void read_aim(PruneFlags& flags, const Invocation& call) {
  if (!flags.remove.empty()) return;
  if (call.given("keep"))
    flags.options.keep = flags.keep;
  else if (call.given("drop"))
    flags.options.drop = flags.drop;
  else if (call.given("max_loss_rise"))
    flags.options.max_loss_rise = flags.max_loss_rise;
  else
    throw UsageError(
        "missing --keep, the number of heads to keep (or --drop, --max-loss-rise, --remove)",
        call.example());
}

}  // namespace

void for_methods(Flags& settings, const std::string& flag) {
  std::string own;  // may look at any setting
  for (const PruneMethod& method : own_methods()) own += text("|", method.name);
  const std::string none = flag == "methods" ? "|" : "";  // then random is among them
  settings.only({"seed"}, {text(flag, "=", none, "random|ablation_resample|l0|subset", own)});
  settings.only({"draws"}, {text(flag, "=", none, "random", own)});
  settings.only({"gate_steps"}, {flag + "=l0|subset" + own});
  settings.only({"lambda"}, {flag + "=l0" + own});
}

Result prune(Invocation& call) {
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
  if (options.keep)
    as_usage([&] { check_sizes(problem_of(run, options.settings), {&*options.keep, 1}); });
  check_run_folder(flags.out, Existing{options.force});
  if (options.remove.empty())
    note(text("choosing ", options.keep ? text(*options.keep, " of ") : "among ",
              all_heads(run.model).size(), " heads (", options.method, ")"));
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
  std::string said =
      text("\n", flags.out, ": method ", pruned.options.method, ", seed ", options.settings.seed);
  if (options.finetune > 0) {
    const std::string of =
        pruned.finetuned < options.finetune ? text(" of ", options.finetune) : "";
    said += text(", fine-tuned ", pruned.finetuned, of, " steps with seed ", run.config.train.seed);
  }
  Result result = reproducible(call, finding_of(pruned), said + "\n");
  result.text.insert(result.text.size() - 1, replaced_text(flags.out));
  result.unwritten = pruned.unwritten;
  if (pruned.finetuned == options.finetune && !result.unwritten)
    keep_as(std::filesystem::path(flags.out) / "prune.json", result);
  return progress.interrupted_or(std::move(result), flags.out, run.config.task);
}

}  // namespace headlab::cli
