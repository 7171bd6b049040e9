// `headlab patch`: activation patching of heads, their inputs, feed-forward networks and streams,
// in both directions, on pairs of held-out examples or on two inputs of the user. Read next:
// lab/heads/causes/node_patching.h.
#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct PatchFlags {
  Index examples = 64;
  PromptFlags prompt;
  std::string corrupted;
  bool paths = false;
  TaskFlag task;

  Flags settings() {
    Flags s;
    s.integer("examples", examples, 1, 1 << 24, "held-out pairs");
    task.add_to(s);
    s.boolean("paths", paths, "also patch paths between heads, and to the logits");
    prompt.add_to(s);
    s.string("corrupted", corrupted, "your own corrupted input, as long as the clean one");
    s.needs({"corrupted"}, {flag_given("input")});
    return s;
  }
};

/// Returns the two inputs of the user. Their tokens are checked before the model runs.
PatchPairs typed_pair(const Run& run, const PatchFlags& flags) {
  typed_example(run, "--input", flags.prompt.input);
  typed_example(run, "--corrupted", flags.corrupted);
  return own_pair(run.model, *run.task, flags.prompt.input, flags.corrupted, flags.prompt.words);
}

}  // namespace

Output patch(Invocation& call) {
  PatchFlags flags;
  call.read(flags.settings(), call.out_setting(), kPromptLines);
  const bool is_own = flags.prompt.wanted();
  if (is_own && flags.corrupted.empty()) {
    throw UsageError("cannot use --input: there is no corrupted input to compare with",
                     "add --corrupted with as many tokens");
  }
  const Run run = flags.task.open(call.positionals()[0]);
  const PatchPairs pairs =
      is_own ? typed_pair(run, flags) : held_out_pairs(*run.task, flags.examples);
  const Result found = patch_result(run.model, pairs, flags.paths);
  if (!is_own) {
    const std::string judged = text(examples_text(run, pairs.held_out), "\n", pairs.said, "\n");
    const bool wants_single = call.value("table") == kSinglePairs;
    if (!wants_single) call.check_table(found.tables);
    Output output = store_result(call, run, output_of(found, "\n" + judged), "patching.json");
    if (wants_single) output.tables.push_back(patched_pairs(run.model, *run.task, pairs));
    return output;
  }
  call.check_table(found.tables);
  Output output = output_of(found, "\n");
  output.text = pairs.said + "\n\n" + output.text;
  add_fact(output, "quantity", pairs.said);
  return store_result(call, run, std::move(output), "patching.json");
}

}  // namespace headlab::cli
