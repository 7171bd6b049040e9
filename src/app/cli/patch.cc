// `headlab patch`: activation patching of heads, their inputs, feed-forward networks and streams,
// in both directions, on pairs of held-out examples or on two inputs of the user. Read next:
// lab/heads/causes/node_patching.h.
#include "app/cli/advice.h"
#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct PatchFlags {
  Index examples = 64;
  std::string input, corrupted;
  bool paths = false;
  TaskFlag task;

  Flags settings() {
    Flags s;
    s.integer("examples", examples, 1, 1 << 24, "held-out pairs");
    s.string("input", input, "your clean input: tokens, or the characters of a text");
    s.string("corrupted", corrupted, "your own corrupted input, as long as the clean one");
    task.add_to(s);
    s.boolean("paths", paths, "also patch paths between heads, and to the logits");
    s.needs({"corrupted"}, {flag_given("input")});
    s.excludes({"examples"}, {flag_given("input")});
    return s;
  }
};

}  // namespace

Output patch(Invocation& call) {
  PatchFlags flags;
  call.read(flags.settings(), call.out_setting());
  if (!flags.input.empty() && flags.corrupted.empty()) {
    throw UsageError("cannot use --input: there is no corrupted input to compare with",
                     "add --corrupted with as many tokens");
  }
  const Run run = flags.task.open(call.positionals()[0]);
  const bool is_own = !flags.input.empty();
  if (is_own) {
    typed_tokens(*run.task, "--input", flags.input);
    typed_tokens(*run.task, "--corrupted", flags.corrupted);
  }
  const PatchPairs pairs = is_own ? own_pair(run.model, *run.task, flags.input, flags.corrupted)
                                  : held_out_pairs(*run.task, flags.examples);
  const Result found = patch_result(run.model, pairs.clean, pairs.corrupted, flags.paths);
  const std::string judged =
      is_own ? pairs.said : text(examples_text(run, 2 * pairs.clean.size), "\n", pairs.said);
  return store_result(call, run, found, judged + "\n", "patching.json");
}

}  // namespace headlab::cli
