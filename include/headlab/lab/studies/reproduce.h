// Experiments of two papers, repeated on headlab runs. The published numbers are for other models
// (WMT, BERT) and are shown next to ours only to compare the shape of the results.
// michel: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?": which single
// heads matter, whether one head per layer is enough, how many heads can be removed by importance,
// from which training step on (for runs that kept weights), and what that saves.
// voita: Voita et al. 2019, "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy
// Lifting, the Rest Can Be Pruned": how many heads survive as a function of the penalty, their
// types, a comparison with the same heads trained from scratch, and the role of each head before
// and after. Read next: src/lab/studies/voita.cc.
#pragma once

#include <functional>
#include <span>

#include "headlab/lab/prune/curve.h"

namespace headlab {

struct PaperOptions {
  /// Settings for choosing heads and the row of a penalty, on as many examples as they are
  /// evaluated on; gates use the penalty of their row.
  PruneSettings settings{};
  TimingOptions timing{};
  std::vector<double> penalties = {0.01, 0.03, 0.1, 0.2, 0.4};
  Index finetune = 0;  // voita: training steps after the heads with closed gates are removed
  std::function<void(const std::string&)> progress{};
  Keeping keeping{};  // storage of each training and of the curve

  void tell(const Run& run, const std::string& what) const {
    if (progress) progress(run.path.string() + ": " + what);
  }
};

struct Paper {
  const char* name;
  /// Returns the jobs that can run in parallel: trainings, and for michel the curve.
  std::vector<Job> (*parts)(const std::vector<std::filesystem::path>& runs,
                            const PaperOptions& options);
  /// Returns the result for a run. Error for a model without heads. Throws Stopped.
  Json (*report)(const Run& run, const PaperOptions& options);
  /// Returns its tables, with the published numbers; for null, their columns alone.
  Result (*result)(const Json& report);
  /// Returns the results over several runs, for example of different seeds.
  Table (*over_runs)(std::span<const Json> reports);
};
std::span<const Paper> papers();

}  // namespace headlab
