// `headlab eval` and `headlab sample`: commands that look at a run and change nothing. Both print
// what is the same every time: held-out examples are fixed, and draws are keyed by a seed. Read
// next: prune.cc.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/version.h"
#include "headlab/model/generation.h"
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

struct SampleFlags {
  std::string prompt;
  std::int64_t seed = 0;
  GenerationOptions options;

  Settings settings() {
    Settings s;
    s.text("prompt", prompt, "the text to continue (default: a character of the held-out text)");
    s.integer("tokens", options.tokens, 1, 1 << 20, "characters to add");
    s.real("temperature", options.temperature, 0, 100, "0: always the likeliest");
    s.integer("top_k", options.top_k, 0, 1 << 24, "draw among the k likeliest (0: all)");
    s.integer("seed", seed, 0, std::int64_t{1} << 53, "of the draws");
    return s;
  }
};

/// The tokens to continue from.
std::vector<std::int32_t> prompt_of(const Run& run, const std::string& prompt) {
  if (!prompt.empty()) return run.task->encode(prompt);
  return {run.task->make_batch(Key{}.fold("sample"), 1, Split::validation).token(0, 0)};
}

}  // namespace

int eval_command(Arguments arguments) {
  CommonFlags common;
  Index examples = 512;
  Settings settings;
  settings.integer("examples", examples, 1, 1 << 24, "held-out sequences");
  settings.add(common.settings());
  if (wants_help(arguments)) return print_help("eval", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("eval", {"RUN"}), settings);
  common.apply();
  const Run run = open_run(paths[0]);
  const Evaluation evaluation = evaluate(run.model, *run.task, {.examples = examples});
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    evaluation.write_to(json);
    json["examples"] = examples;
    json["command"] = again("eval", arguments);
    print(json);
  } else {
    print(evaluation_text(evaluation));
    print(text("\n", examples, " held-out sequences, the same every time\nagain: ",
               again("eval", arguments), "\n"));
  }
  return 0;
}

int sample_command(Arguments arguments) {
  CommonFlags common;
  SampleFlags flags;
  Settings settings = flags.settings();
  settings.add(common.settings());
  if (wants_help(arguments)) return print_help("sample", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("sample", {"RUN"}), settings);
  common.apply();
  const Run run = open_run(paths[0]);
  flags.options.key = Key{static_cast<std::uint64_t>(flags.seed)}.fold("sample");
  const std::string out =
      run.task->decode(generate(run.model, prompt_of(run, flags.prompt), flags.options));
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    json["text"] = out;
    json["seed"] = flags.seed;
    json["command"] = again("sample", arguments);
    print(json);
  } else {
    print(out + "\n");
  }
  return 0;
}

}  // namespace headlab::cli
