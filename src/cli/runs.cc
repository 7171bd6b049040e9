// `headlab eval`, `sample` and `prune`: commands that take a run.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/model/generation.h"
#include "headlab/prune/prune.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

std::string evaluation_text(const Evaluation& evaluation) {
  Table table({"target", "loss", "accuracy", "targets"});
  for (const TargetScore& target : evaluation.targets) {
    table.add(
        {target.name, significant(target.loss), fixed(target.accuracy, 4), grouped(target.count)});
  }
  if (evaluation.targets.size() > 1) {
    table.add({"all", significant(evaluation.loss), fixed(evaluation.accuracy, 4),
               grouped(evaluation.count)});
  }
  return table.text();
}

}  // namespace

int eval_command(Arguments arguments) {
  CommonFlags common;
  Index examples = 512;
  Settings settings;
  settings.integer("examples", examples, 1, 1 << 24, "held-out sequences");
  settings.add(common.settings());
  const auto paths = parse_arguments(arguments, {{"RUN"}, common.help}, settings);
  if (common.help || paths.empty()) {
    print_help("eval", "RUN", settings);
    return 0;
  }
  common.apply();
  const Run run = open_run(paths[0]);
  const Evaluation evaluation = evaluate(run.model, *run.task, {.examples = examples});
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    evaluation.write_to(json);
    print(json);
  } else {
    print(evaluation_text(evaluation));
  }
  return 0;
}

int sample_command(Arguments arguments) {
  CommonFlags common;
  GenerationOptions options;
  std::string prompt = "\n";
  std::int64_t seed = 0;
  Settings settings;
  settings.text("prompt", prompt, "the text to continue");
  settings.integer("tokens", options.tokens, 1, 1 << 20, "characters to add");
  settings.real("temperature", options.temperature, 0, 100, "0: always the likeliest");
  settings.integer("top_k", options.top_k, 0, 1 << 24, "draw among the k likeliest (0: all)");
  settings.integer("seed", seed, 0, std::int64_t{1} << 53, "of the draws");
  settings.add(common.settings());
  const auto paths = parse_arguments(arguments, {{"RUN"}, true}, settings);
  if (common.help) {
    print_help("sample", "RUN", settings);
    return 0;
  }
  if (paths.empty()) {
    throw UsageError("missing argument RUN", "see --help for an example");
  }
  common.apply();
  const Run run = open_run(paths[0]);
  options.key = Key{static_cast<std::uint64_t>(seed)}.fold("sample");
  std::string out;
  for (const std::int32_t token : generate(run.model, run.task->encode(prompt), options)) {
    out += run.task->token_text(token);
  }
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    json["text"] = out;
    print(json);
  } else {
    print(out + "\n");
  }
  return 0;
}

int prune_command(Arguments arguments) {
  CommonFlags common;
  PruneOptions options;
  std::string out;
  options.keep = -1;
  Settings settings;
  settings.text("method", options.method,
                "greedy, importance, magnitude or random; see `headlab list methods`");
  settings.integer("keep", options.keep, -1, 1 << 20, "heads to keep in the whole model");
  settings.text("out", out, "folder of the pruned run");
  settings.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after the removal");
  settings.real("lr", options.lr, 0, 1000, "learning rate of fine-tuning (0: 0.3 of the run's)");
  settings.integer("examples", options.examples, 1, 1 << 24, "examples on which heads are chosen");
  settings.integer("seed", options.seed, 0, std::int64_t{1} << 53, "of the method random");
  settings.boolean("force", options.force, "replace the run that --out names");
  settings.add(common.settings());
  const auto paths = parse_arguments(arguments, {{"RUN"}, true}, settings);
  if (common.help) {
    print_help("prune", "RUN", settings);
    return 0;
  }
  if (paths.empty() || out.empty() || options.keep < 0) {
    throw UsageError(text("missing ", paths.empty() ? "argument RUN"
                                      : out.empty() ? "--out"
                                                    : "--keep"),
                     "see --help for an example");
  }
  common.apply();
  catch_interrupts();
  Run run = open_run(paths[0]);
  Progress progress(options.finetune);
  const PruneResult result = prune_run(run, out, options, watch(progress));
  if (common.json) {
    print(result.to_json());
  } else {
    print(prune_text(result));
  }
  return interrupted() ? 130 : 0;
}

}  // namespace headlab::cli
