// `headlab compare ARM ARM ...`: arms seed by seed, where chance could have made the difference.
// Writes no file.
// Read next: lab/compare.h, which says what an arm is.
#include "headlab/lab/compare.h"

#include "cli/commands.h"

namespace headlab::cli {

Result compare(Invocation& call) {
  CompareOptions options;
  Settings s;
  s.choice("measure", options.measure, {"loss", "accuracy"},
           "what is compared: losses by ratio, accuracies by difference");
  s.string("reference", options.reference,
           "the arm that all others are compared with, if not the "
           "first",
           "ARM");
  s.real("margin", options.margin, 0, 1000,
         "with less between them arms are equal (0: 1.25 times the loss, .005 of accuracy)");
  call.read(s, {},
            "\nan arm is a run, a folder of runs, RUN+RUN, SWEEP/GROUP, or SWEEP for each of\n"
            "its groups; with :METHOD@KEPT after it, what a pruning method left of each run\n"
            "(`headlab curve` first)\n");
  std::vector<Arm> arms;
  for (const std::string& name : call.positionals())
    for (Arm& arm : arms_of(name, options.measure)) arms.push_back(std::move(arm));
  return reproducible(call, compare_arms(arms, options));
}

}  // namespace headlab::cli
