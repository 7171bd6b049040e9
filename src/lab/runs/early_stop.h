// Early stopping: ends a training when the held-out loss has not fallen for a number of
// evaluations. The count follows from metrics.jsonl alone, so a run that is killed and resumed ends
// at the same step. Private to src/lab/runs. Read next: early_stop.cc.
#pragma once

#include <string>

#include "headlab/lab/runs/run.h"

namespace headlab {

class EarlyStop {
 public:
  /// Reads the evaluations of the run so far. An evaluation that ended the training starts the
  /// count again: a run that is resumed after it gets `patience` further evaluations.
  explicit EarlyStop(const Run& run);

  /// Counts an evaluation. Returns the reason if it ends the training; "" otherwise, always if
  /// run.config.patience is 0 or if it is the last planned step.
  std::string after(const EvaluationRecord& record);

 private:
  void count(Index step, double loss);

  Index patience_;
  Index last_step_;
  Index waited_ = 0;  // number of evaluations since the lowest loss
  Index lowest_step_ = 0;
  double lowest_;
};

}  // namespace headlab
