// The logs of a run: files NAME.jsonl with a line for each recorded step. The state counts their
// lines when it is saved, so that a log which ends early is noticed. Private to src/lab/runs.
// Read next: run_logs.cc.
#pragma once

#include <map>
#include <string>

#include "headlab/core/base/safetensors.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

/// Writes the number of lines of each log into the metadata of a state; lines that were lost before
/// count, so that they stay known.
void count_logs(const Run& run, TensorFile& state);
/// Returns the logs with fewer lines up to the run's step than `state` counted, and how many they
/// lack. A state of an earlier version counted none.
std::map<std::string, Index> lost_lines(const Run& run, const TensorFile& state);
/// Deletes the lines of the logs that come after `step`: the run goes on from there. Error that
/// names a damaged line, a line of another run, or a log that is a symbolic link.
void cut_logs(const Run& run, Index step);

/// Returns the line of metrics.jsonl for an evaluation: step, loss, accuracy, targets, train_loss,
/// lr, gradient_norm, seconds, tokens_per_s, `train_accuracy`, the share of correct targets on
/// eval_examples training sequences, `weight_norm`, the square root of the sum of all squared
/// parameters, and `ended`, the reason if the training ended here before its last step.
Json metrics_line(const Run& run, const EvaluationRecord& record, const std::string& ended);

}  // namespace headlab
