// `headlab patch`: activation patching of heads, their inputs, feed-forward networks and streams,
// in both directions, on pairs of held-out examples or on two inputs of the user. Read next:
// lab/heads/causes/node_patching.h.
#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct PatchFlags {
  Index examples = 64;
  std::string input, corrupted;
  bool paths = false;

  Flags settings() {
    Flags s;
    s.integer("examples", examples, 1, 1 << 24, "held-out pairs");
    s.string("input", input, "your clean input: tokens, or the characters of a text");
    s.string("corrupted", corrupted, "your own corrupted input, as long as the clean one");
    s.boolean("paths", paths, "also patch paths between heads, and to the logits");
    s.needs({"corrupted"}, {flag_given("input")});
    s.excludes({"examples"}, {flag_given("input")});
    return s;
  }
};

/// Returns the first half of the held-out examples as clean, the second half as corrupted.
std::pair<Batch, Batch> held_out_pair(const Run& run, Index examples) {
  const Batch all = held_out_examples(*run.task, 2 * examples).batch;
  const Index n = std::min(examples, all.size / 2);
  if (n == 0) {
    throw Error(text("cannot patch: it needs two different sequences, and the task has ", all.size,
                     " held-out example"),
                "use a task with more held-out data");
  }
  return {all.rows(0, n), all.rows(n, 2 * n)};
}

}  // namespace

Output patch(Invocation& call) {
  PatchFlags flags;
  call.read(flags.settings(), call.out_setting());
  if (!flags.input.empty() && flags.corrupted.empty()) {
    throw UsageError("cannot use --input: there is no corrupted input to compare with",
                     "add --corrupted with as many tokens");
  }
  const Run run = open_run(call.positionals()[0]);
  const auto [clean, corrupted] =
      flags.input.empty() ? held_out_pair(run, flags.examples)
                          : own_pair(run.model, *run.task, flags.input, flags.corrupted);
  const Result found = patch_result(run.model, clean, corrupted, flags.paths);
  const std::string judged =
      flags.input.empty() ? examples_text(*run.task, 2 * clean.size) : "your inputs";
  return store_result(call, run, found, judged + "\n", "patching.json");
}

}  // namespace headlab::cli
