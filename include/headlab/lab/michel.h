// The experiments of Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?", on
// a model of ours: which single heads matter, whether one head for each layer is enough, how far
// the heads go by importance, from when on in training they can go, and what that saves. The
// published numbers are those of other models (WMT, BERT) and stand beside ours for their shape
// alone. Read next: voita.h, report/reproduce_text.h.
#pragma once

#include "headlab/heads/ablation.h"
#include "headlab/prune/curve.h"
#include "headlab/prune/timing.h"

namespace headlab {

/// One attention module with a single head left, all other modules whole: the change of the
/// held-out loss when the head is chosen on the held-out examples themselves, and on training
/// examples.
struct OneHeadLeft {
  std::string module;
  HeadId in_sample, out_of_sample;
  double change_in_sample = 0, change_out_of_sample = 0;
};

/// A model that has trained for `step` steps, pruned by importance.
struct PrunedAtStep {
  Index step = 0;
  std::vector<Judged> by_share;  // one for each of MichelReport::shares
};

struct MichelOptions {
  Index examples = 512;  // on which heads are chosen, and others on which they are judged
  Index stages = 5;      // points in training at which prunability is measured
  /// Whether to measure that at all: it trains the model once more from its start.
  bool retrain = true;
  TimingOptions timing{};
  std::function<void(const std::string&)> progress{};
};

struct MichelReport {
  AblationReport ablation;
  std::vector<OneHeadLeft> one_head;
  Curve curve;                                           // importance beside single ablation
  std::vector<double> shares = {0, 0.2, 0.4, 0.6, 0.8};  // of heads that go, rounded down
  std::vector<PrunedAtStep> by_step;
  std::vector<PruneTiming> timing;  // half of the heads removed, by importance
};
Json to_json(const MichelReport& report);

/// Error for a model without heads.
MichelReport reproduce_michel(const Run& run, const MichelOptions& options = {});

}  // namespace headlab
