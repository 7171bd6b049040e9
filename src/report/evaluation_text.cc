// Evaluations as tables. Losses have four significant digits
// and accuracies four decimals, as everywhere in what the
// program prints. Read next: table.h.
#include "headlab/report/evaluation_text.h"

#include "headlab/report/table.h"

namespace headlab {

std::string evaluation_text(const Evaluation& evaluation, const EvaluationTextOptions& options) {
  std::vector<std::string> header = {"target", options.loss_heading, "accuracy"};
  if (options.counts) header.emplace_back("targets");
  Table table(header);
  const auto add = [&](const TargetScore& score) {
    std::vector<std::string> row = {score.name, significant(score.loss), fixed(score.accuracy, 4)};
    if (options.counts) row.push_back(grouped(score.count));
    table.add(std::move(row));
  };
  for (const TargetScore& target : evaluation.targets) add(target);
  if (evaluation.targets.size() > 1)
    add({"all", evaluation.loss, evaluation.accuracy, evaluation.count});
  return table.text();
}

}  // namespace headlab
