// The experiments of two papers on a model of ours. Their published numbers are those of other
// models (WMT, BERT) and stand beside ours for their shape alone.
// michel: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?": which single
// heads matter, whether one head for each layer is enough, how far the heads go by importance, from
// when on in training they can go (of runs that kept weights on the way), and what that saves.
// voita: Voita et al. 2019, "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy
// Lifting, the Rest Can Be Pruned": how many heads survive as a function of the penalty, of which
// type they are, how the pruned model compares with one that had these heads from the start, and
// who does which job before and after. Read next: src/lab/studies/voita.cc.
#pragma once

#include <functional>
#include <span>

#include "headlab/prune/curve.h"

namespace headlab {

struct PaperOptions {
  /// How heads and the row of a penalty are chosen, on as many examples as they are judged on; of
  /// gates the penalty is that of the row.
  PruneSettings settings{};
  TimingOptions timing{};
  std::vector<double> penalties = {0.01, 0.03, 0.1, 0.2, 0.4};
  Index finetune = 0;  // voita: steps after the heads with closed gates are removed
  std::function<void(const std::string&)> progress{};
  Keeping keeping{};  // of each training and of the curve

  void tell(const Run& run, const std::string& what) const {
    if (progress) progress(run.path.string() + ": " + what);
  }
};

struct Paper {
  const char* name;
  /// All that can be made side by side: trainings, and of michel the curve.
  std::vector<Cell> (*cells)(const std::vector<std::filesystem::path>& runs,
                             const PaperOptions& options);
  /// What was found of a run. Error for a model without heads. Throws Stopped.
  Json (*report)(const Run& run, const PaperOptions& options);
  /// Its tables, with the published numbers; of null their columns alone.
  Finding (*finding)(const Json& report);
  /// The same over several runs, of different seeds for instance.
  Table (*over_runs)(std::span<const Json> reports);
};
std::span<const Paper> papers();

}  // namespace headlab
