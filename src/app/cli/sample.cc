// `headlab sample`: continues a text or the tokens of any task; an encoder-decoder answers a
// source. Draws are keyed by a seed, so the same command gives the same text. Without a prompt it
// begins with a held-out token. Read next: headlab/lab/runs/generation.h.
#include <algorithm>

#include "app/cli/advice.h"
#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/generation.h"

namespace headlab::cli {
namespace {

struct SampleFlags {
  std::string prompt, source, stop;
  std::int64_t seed = 0;
  GenerationOptions options;

  Flags settings() {
    Flags s;
    s.string("prompt", prompt, "text or tokens to continue (default: a held-out token)");
    s.string("source", source, "source of an encoder-decoder (default: a held-out one)");
    s.integer("tokens", options.tokens, 1, 1 << 20,
              "tokens to add (encoder-decoders: as many as fit)");
    s.string("stop", stop, "stop after this token", "TOKEN");
    s.group("how");
    s.real("temperature", options.temperature, 0, 100,
           "sampling temperature (0: the most likely token)");
    s.integer("top_k", options.top_k, 0, 1 << 24, "sample from the k most likely tokens (0: all)");
    s.real("top_p", options.top_p, 1e-6, 1,
           "sample from the fewest tokens with this total probability");
    s.integer("seed", seed, 0, kMostExact, "random seed for sampling");
    s.excludes({"top_k", "top_p", "seed"}, {has_value("temperature", {"0"})});
    s.excludes({"temperature", "top_p", "seed"}, {has_value("top_k", {"1"})});
    return s;
  }
};

/// Returns the token after which to stop.
std::int32_t stop_token(const Task& task, const std::string& name) {
  const std::vector<std::int32_t> stop = task.encode(name);
  if (stop.size() == 1) return stop[0];
  throw UsageError(text("cannot use --stop '", name, "': expected one token, got ", stop.size()),
                   "name a single token");
}

/// Returns a note if the task has no answer at some positions; "" otherwise.
std::string note_on(const Task& task) {
  const Batch held_out = held_out_examples(task, 1).batch;
  const Index positions = held_out.length * held_out.targets_per_position;
  if (held_out.target_count() == positions) return "";
  return "note: this task answers only some positions; tokens at other positions mean nothing";
}

}  // namespace

Output sample(Invocation& call) {
  SampleFlags flags;
  GenerationOptions& options = flags.options;
  call.read(flags.settings());
  const Run run = open_run(call.positionals()[0]);
  const TransformerConfig& config = run.model.config();
  const Batch first = run.task->make_batch(streams::prompts(), 1, Split::validation);
  const std::vector<std::int32_t> begin = flags.prompt.empty()
                                              ? std::vector{first.token(0, 0)}
                                              : typed_tokens(*run.task, "--prompt", flags.prompt);
  if (config.has_source()) {
    options.source.assign(first.source.begin(), first.source.begin() + first.source_length_of(0));
    if (!flags.source.empty()) {
      options.source = typed_tokens(*run.task, "--source", flags.source);
    }
    if (!call.given("tokens")) {
      options.tokens = std::max<Index>(1, config.length - std::ssize(begin));
    }
  } else if (call.given("source")) {
    throw UsageError("cannot use --source: the model is no encoder-decoder", "use --prompt");
  }
  if (!flags.stop.empty()) options.stop = stop_token(*run.task, flags.stop);
  options.key = streams::seeded(flags.seed).fold("sample");
  const std::string out = run.task->decode(generate(run.model, begin, options));
  Output output{.json = stamped({{"text", out}, {"seed", flags.seed}, {"command", call.again()}}),
                .text = out + "\n",
                .note = note_on(*run.task),
                .quotes_data = true};
  if (config.has_source()) {
    const std::string source = run.task->decode(options.source);
    output.json["source"] = source;
    output.text = text("source: ", source, "\nanswer: ", out, "\n");
  }
  return output;
}

}  // namespace headlab::cli
