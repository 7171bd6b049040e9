// `headlab eval`: loss and accuracy of a run. The held-out examples are fixed, so the numbers are
// the same every time. The shortest command on a run: flags, a call of the library, a result. Read
// next: heads.cc.
#include "cli/commands.h"
#include "headlab/report/evaluation_text.h"
#include "headlab/train/run.h"

namespace headlab::cli {

Result eval(Invocation& call) {
  Index examples = 512;
  Settings settings;
  settings.integer("examples", examples, 1, 1 << 24, "held-out sequences");
  call.read(settings);
  const Run run = open_run(call.positionals()[0]);
  const Evaluation held_out = evaluate(run.model, *run.task, {.examples = examples});
  return reproducible(call,
                      stamped({{"loss", held_out.loss},
                               {"accuracy", held_out.accuracy},
                               {"targets", held_out.targets},
                               {"examples", examples}}),
                      text(evaluation_text(held_out, {.counts = true}), "\n", examples,
                           " held-out sequences, the same every time\n"));
}

}  // namespace headlab::cli
