// Detection of overfitting from the evaluations in metrics.jsonl. A fluctuating held-out loss is
// not enough: the training loss must have fallen while the held-out loss rose, and the data must be
// finite, because a task that makes new sequences for every step cannot be memorised.
// Read next: run.cc, which keeps the best weights.
#include <algorithm>
#include <cmath>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

std::optional<Overfitting> overfitting_of(const Run& run) {
  constexpr double kLeastRise = 0.01;  // of the lowest held-out loss
  if (run.task == nullptr || run.task->different(Split::train) <= 0) return {};
  const auto held_out = [](const Json& line) { return number_or_nan(line, "loss"); };
  std::vector<Json> log = read_log(metrics_file(run), identity_of(run.config));
  std::erase_if(log, [&](const Json& line) { return std::isnan(held_out(line)); });
  if (log.size() < 2) return {};
  const Json &best = *std::ranges::min_element(log, {}, held_out), &last = log.back();
  const Overfitting found{.best_step = best.at("step").integer(),
                          .step = last.at("step").integer(),
                          .best_loss = held_out(best),
                          .loss = held_out(last),
                          .best_train_loss = number_or_nan(best, "train_loss"),
                          .train_loss = number_or_nan(last, "train_loss")};
  const bool rose = found.loss >= (1 + kLeastRise) * found.best_loss;
  if (!rose || !(found.train_loss < found.best_train_loss)) return {};
  return found;
}

std::string overfitting_text(const Run& run) {
  if (!run.other_task.empty()) return "";  // the logs describe the run's own task
  const std::optional<Overfitting> found = overfitting_of(run);
  if (!found) return "";
  const std::string best =
      is_there(best_file(run))
          ? text("; every command takes the weights of step ", found->best_step, ": `headlab eval ",
                 run.path.string(), "@best`")
          : "";
  return text("overfitted: the held-out loss was lowest at step ", found->best_step, " (",
              significant(found->best_loss), ") and is ", significant(found->loss), " at step ",
              found->step, ", while the training loss fell from ",
              significant(found->best_train_loss), " to ", significant(found->train_loss), best);
}

}  // namespace headlab
