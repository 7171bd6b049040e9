// `headlab patch`: which activations of a clean input bring its answer back into the pass over a
// corrupted one. Of the held-out examples the first half are clean, the second half corrupted. The
// run's model is only read. Read next: heads/patching.h.
#include "headlab/heads/patching.h"

#include "cli/commands.h"
#include "headlab/heads/ablation.h"

namespace headlab::cli {

Result patch(Invocation& call) {
  Index n = 64;
  Settings settings;
  settings.integer("examples", n, 2, 1 << 24,
                   "held-out examples as clean inputs; as many others are the corrupted ones");
  call.read(settings, call.out_setting());
  const Run run = open_run(call.positionals()[0]);
  const Batch all = held_out_examples(*run.task, 2 * n).batch;
  n = std::min(n, all.size / 2);
  const PatchReport report = patch_activations(run.model, all.rows(0, n), all.rows(n, 2 * n));
  return finding(call, run, finding_of(report),
                 text(n, " pairs of held-out examples, the same every time; ", report.targets,
                      " targets that differ\n"),
                 "patching.json");
}

}  // namespace headlab::cli
