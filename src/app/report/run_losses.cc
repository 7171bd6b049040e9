// The numbers of a run's log that the picture of losses shows. Lines of earlier versions lack some
// of them, and others are null because nothing was measured: these are NaN.
// Read next: figures.cc, losses_figure.
#include "headlab/app/report/figures.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

RunLosses losses_of(std::string name, const std::vector<Json>& log) {
  RunLosses losses{.name = std::move(name)};
  for (const Json& line : log) {
    const auto number = [&](const char* key) { return number_or_nan(line, key); };
    losses.steps.push_back(line.at("step").integer());
    losses.losses.push_back(number("loss"));
    losses.training.push_back(number("train_loss"));
    losses.accuracies.push_back(number("accuracy"));
    losses.training_accuracies.push_back(number("train_accuracy"));
    losses.weight_norms.push_back(number("weight_norm"));
  }
  return losses;
}

}  // namespace headlab
