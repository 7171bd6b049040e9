// `headlab attribute`: what each part of a model adds to the right answer's logit, on held-out
// examples. The run's model is only read; the result is kept beside it. Read next:
// heads/attribution.h.
#include "headlab/heads/attribution.h"

#include "cli/commands.h"

namespace headlab::cli {

Result attribute(Invocation& call) {
  Index examples = 512;
  Settings settings;
  settings.integer("examples", examples, 2, 1 << 24, "held-out examples");
  call.read(settings, call.out_setting());
  const Run run = open_run(call.positionals()[0]);
  const AttributionReport report = attribute_logits(run.model, *run.task, examples);
  return finding(call, run, finding_of(report), examples_text(*run.task, report.examples) + "\n",
                 "attribution.json");
}

}  // namespace headlab::cli
