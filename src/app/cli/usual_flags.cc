// Flags of a run: which settings need others, and the short help of `train` and `sweep`, a row for
// each flag with advice of at most 60 characters. A test holds that each row names a flag, and the
// length of the advice. Read next: train.cc, sweep.cc.
#include "app/cli/usual_flags.h"

#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

/// Settings of a model and of its training that people change first.
std::vector<Flags::Usual> usual_settings_of_runs() {
  return {
      {"task", "begin with relations; `headlab list tasks` lists all"},
      {"layers", "2 if a key is found by what another key says"},
      {"heads", "one for each key that a query must read"},
      {"d_model", "larger for many different tokens; training is slower"},
      {"d_ff", "4 times --d-model if answers must be computed"},
      {"block", "to compare architectures"},
      {"attention_function", "to compare ways to make weights"},
      {"positions", "rotary or alibi for longer inputs than in training"},
      {"steps", "more if the loss still falls at the end"},
      {"batch", "larger if the loss jumps from step to step"},
      {"lr", "lower if the loss rises, higher if it hardly falls"},
      {"seed", "several seeds show what holds beyond one run"},
      {"eval_every", "smaller to see the loss more often"},
      {"track_heads", "20 to see when each role emerges (`history`)"},
      {"keep_weights", "20 to open earlier steps on the page"},
      {"patience", "to stop when the loss no longer falls"},
  };
}

}  // namespace

std::vector<Flags::Usual> usual_flags_of_train() {
  std::vector<Flags::Usual> usual = usual_settings_of_runs();
  for (Flags::Usual& flag : usual) {
    if (flag.setting == "track_heads") flag.when = "0: never; small models are scored anyway";
    if (flag.setting == "keep_weights") flag.when = "0: none; small models keep about 20";
  }
  usual.push_back({"from", "to fine-tune a trained model"});
  usual.push_back({"resume", "after an interruption, or with --steps to train longer"});
  usual.push_back({"config", "to repeat a run with a few changes"});
  usual.push_back({"out", "one folder for each experiment"});
  usual.push_back({"force", "only if the earlier run may be lost"});
  return usual;
}

std::vector<Flags::Usual> usual_flags_of_sweep() {
  std::vector<Flags::Usual> usual = usual_settings_of_runs();
  usual.push_back({"seeds", "10 or more, so that a difference can be shown"});
  usual.push_back({"config", "for settings that all trials share"});
  usual.push_back({"jobs", "1 if a trial is large enough for all threads"});
  usual.push_back({"out", "the same folder again trains only what is missing"});
  return usual;
}

Flags flags_of(RunConfig& config) {
  Flags flags = user_settings_of(config);
  flags.kinds["task"] = ValueKind::task;
  flags.group_at("what", "task");
  flags.group_at("model", "layers");
  flags.group_at("training", "steps");
  std::vector<std::string> with_momentum = {"sgd"};
  for (const OptimizerEntry& optimizer : own_optimizers()) {
    with_momentum.push_back(optimizer.name);  // it may look at any setting
  }
  flags.needs({"momentum"}, {has_value("optimizer", with_momentum)});
  flags.excludes({"beta1", "beta2", "eps"}, {has_value("optimizer", {"sgd"})});
  flags.excludes({"min_lr"}, {has_value("schedule", {"constant"})});
  for_models(flags);
  return flags;
}

void for_models(Flags& settings) {
  settings.excludes({"activation"}, {has_value("d_ff", {"0"})});
  settings.needs({"rotary_base"}, {has_value("positions", {"rotary"})});
}

}  // namespace headlab::cli
