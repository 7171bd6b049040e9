// The count of evaluations without a lower held-out loss, and the lines that it adds to the record
// of a run: the reason why a training ended, the accuracy on training examples, and the norm of the
// weights. Read next: run.cc, which appends the lines.
#include "lab/runs/early_stop.h"

#include <cmath>
#include <limits>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/runs/run_logs.h"

namespace headlab {

EarlyStop::EarlyStop(const Run& run)
    : patience_(run.config.patience),
      last_step_(run.config.train.steps),
      lowest_(std::numeric_limits<double>::infinity()) {
  if (patience_ == 0) return;
  for (const Json& line : read_log(metrics_file(run), identity_of(run.config))) {
    count(line.at("step").integer(), number_or_nan(line, "loss"));
    if (line.find("ended") != nullptr) waited_ = 0;
  }
}

void EarlyStop::count(Index step, double loss) {
  if (loss < lowest_) {
    lowest_ = loss;
    lowest_step_ = step;
    waited_ = 0;
  } else {
    ++waited_;
  }
}

std::string EarlyStop::after(const EvaluationRecord& record) {
  if (patience_ == 0) return "";
  count(record.last.step, record.held_out.loss);
  if (waited_ < patience_ || record.last.step >= last_step_) return "";
  return text("no lower held-out loss in ", waited_, waited_ == 1 ? " evaluation" : " evaluations",
              "; the lowest is ", significant(lowest_), " at step ", lowest_step_);
}

static Json line_of(const EvaluationRecord& record) {
  return stamped({{"step", record.last.step},
                  {"loss", record.held_out.loss},
                  {"accuracy", record.held_out.accuracy},
                  {"targets", record.held_out.targets},
                  {"train_loss", record.train_loss},
                  {"lr", record.last.lr},
                  {"gradient_norm", record.last.gradient_norm},
                  {"seconds", record.last.seconds},
                  {"tokens_per_s", record.last.tokens_per_s}});
}

Json metrics_line(const Run& run, const EvaluationRecord& record, const std::string& ended) {
  const EvaluateOptions options{.examples = run.config.train.eval_examples, .split = Split::train};
  double squares = 0;
  run.model.visit([&](const std::string&, const Tensor& parameter) {
    for (const Scalar value : parameter.values()) squares += static_cast<double>(value) * value;
  });
  Json line = line_of(record);
  line["train_accuracy"] = evaluate(run.model, *run.task, options).accuracy;
  line["weight_norm"] = std::sqrt(squares);
  if (!ended.empty()) line["ended"] = ended;
  return line;
}

std::string ended_text(const Run& run) {
  const std::vector<Json> log = read_log(metrics_file(run), identity_of(run.config));
  const Json* ended = log.empty() ? nullptr : log.back().find("ended");
  return ended == nullptr ? "" : ended->string();
}

}  // namespace headlab
