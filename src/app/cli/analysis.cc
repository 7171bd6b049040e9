// Commands of the table of analyses, each of which needs only held-out examples. The run's model is
// only read; the result is stored in the run's folder.
// Read next: lab/heads/causes/analyses.h.

#include <algorithm>

#include "app/cli/commands.h"

namespace headlab::cli {

/// Returns the analysis of a user's own input, which is stored only with --out.
static Output analysis_of_prompt(const Invocation& call, const Analysis& row, const Run& run,
                                 const PromptFlags& flags) {
  const Batch prompt = typed_example(run, "--input", flags.input).batch;
  const NamedAnswer asked = find_answer(run.model, *run.task, prompt, flags.words);
  const Result found = row.of_prompt(run, prompt, asked);
  call.check_table(found.tables);
  Output output = output_of(found, "\n");
  output.text = text("your input; the quantity is the ", asked.said, "\n\n") + output.text;
  add_fact(output, "quantity", asked.said);
  return store_result(call, run, std::move(output), "");
}

Output analysis(Invocation& call) {
  const Analysis& row =
      *std::ranges::find(analyses(), std::string(call.command().name), &Analysis::name);
  Index examples = row.examples;
  TaskFlag task;
  PromptFlags prompt;
  const bool takes_prompts = row.of_prompt != nullptr;
  Flags settings;
  settings.integer("examples", examples, 2, 1 << 24, "held-out examples");
  if (row.takes_task) task.add_to(settings);
  if (takes_prompts) prompt.add_to(settings);
  call.read(settings, call.out_setting(), takes_prompts ? kPromptLines : "");
  const Run run = task.open(call.positionals()[0]);
  if (prompt.wanted()) return analysis_of_prompt(call, row, run, prompt);
  const Result found = row.find(run, examples);
  const std::string judged = examples_text(run, at_most_different(*run.task, examples)) + "\n";
  const bool wants_single =
      row.single_shape != nullptr && call.value("table") == row.single_shape().tables[0].name;
  if (!wants_single) return store_result(call, run, found, judged, row.file);
  Output output = store_result(call, run, output_of(found, "\n" + judged), row.file);
  output.tables.push_back(row.find_single(run, examples));
  return output;
}

}  // namespace headlab::cli
