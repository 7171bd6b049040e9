// The table of analyses. For `patch`, the first half of the held-out examples is clean and the
// second half corrupted.
// Read next: attribution.cc, patching.cc.
#include "headlab/heads/analyses.h"

#include <algorithm>

#include "headlab/base/error.h"

#include "headlab/heads/attribution.h"
#include "headlab/heads/lens.h"
#include "headlab/heads/patching.h"
#include "headlab/heads/transfer.h"
#include "headlab/train/evaluate.h"

namespace headlab {
namespace {

Finding attribute(const Run& run, Index examples) {
  return finding_of(attribute_logits(run.model, *run.task, examples));
}

Table attribute_examples(const Run& run, Index examples) {
  return attributed_examples(run.model, *run.task, examples);
}

Finding lens(const Run& run, Index examples) {
  return finding_of(read_lens(run.model, *run.task, examples));
}

Finding patch(const Run& run, Index examples) {
  const Batch all = held_out_examples(*run.task, 2 * examples).batch;
  const Index n = std::min(examples, all.size / 2);
  if (n == 0) {
    throw Error(text("patch needs two different sequences, and the task has ", all.size,
                     " held-out example"),
                "use a task with more held-out data");
  }
  return finding_of(patch_activations(run.model, all.rows(0, n), all.rows(n, 2 * n)));
}

Finding transfer(const Run& run, Index examples) {
  return finding_of(find_transfer(run, examples));
}

template <class Report>
Finding shape_of() {
  return finding_of(Report());
}

}  // namespace

const std::vector<Analysis>& analyses() {
  static const std::vector<Analysis> all = {
      {"patch", "patching.json", "what brings an answer back", 64, patch, shape_of<PatchReport>},
      {"attribute", "attribution.json",
       "what each part of a model adds to the right answer's logit", 512, attribute,
       [] { return finding_of(AttributionReport{.targets = {"TARGET"}, .logits = {0}}); },
       "examples", attribute_examples},
      {"lens", "lens.json", "what the model would answer after each sublayer (logit lens)", 512,
       lens, shape_of<LensReport>},
      {"transfer", "transfer.json", "which heads kept their role after `train --from`", 512,
       transfer, shape_of<TransferReport>},
  };
  return all;
}

}  // namespace headlab
