// `headlab sample`: continues a text, or the tokens of any task. Draws are keyed by a seed, so the
// same command gives the same text; without a prompt it begins with a held-out character. Read
// next: model/generation.h.
#include "cli/commands.h"
#include "headlab/model/generation.h"
#include "headlab/train/streams.h"

namespace headlab::cli {

Result sample(Invocation& call) {
  std::string prompt;
  std::int64_t seed = 0;
  GenerationOptions options;
  Flags settings;
  settings.string("prompt", prompt,
                  "the text to continue, or tokens apart by blanks (default: a held-out token)");
  settings.integer("tokens", options.tokens, 1, 1 << 20, "tokens to add");
  settings.real("temperature", options.temperature, 0, 100, "0: always the likeliest");
  settings.integer("top_k", options.top_k, 0, 1 << 24, "draw among the k likeliest (0: all)");
  settings.integer("seed", seed, 0, kMostExact, "of the draws");
  settings.only({"top_k", "seed"}, {"!temperature=0"});
  settings.only({"temperature", "seed"}, {"!top_k=1"});
  call.read(settings);
  const Run run = open_run(call.positionals()[0]);
  const std::vector<std::int32_t> begin =
      prompt.empty()
          ? std::vector{run.task->make_batch(streams::prompts(), 1, Split::validation).token(0, 0)}
          : run.task->encode(prompt);
  options.key = streams::seeded(seed).fold("sample");
  const std::string out = run.task->decode(generate(run.model, begin, options));
  const Batch held_out = held_out_examples(*run.task, 1).batch;
  const bool everywhere =
      held_out.target_count() == held_out.length * held_out.targets_per_position;
  return {.json = stamped({{"text", out}, {"seed", seed}, {"command", call.again()}}),
          .text = out + "\n",
          .note = everywhere ? ""
                             : "note: this task answers only some positions; what stands at others "
                               "means nothing"};
}

}  // namespace headlab::cli
