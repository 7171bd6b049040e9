// Whether a model fits a task, models for longer sequences, and runs on another task than their
// own. The parameters of a model without learned positions do not depend on the length of
// sequences, so such a model also processes longer ones (Press et al. 2022, "Train Short, Test
// Long"). Read next: run.h.
#pragma once

#include <string>

#include "headlab/lab/runs/run.h"

namespace headlab {

/// Throws an Error unless a model of the shape `has` can process the sequences of the task to which
/// `config` is fitted.
void require_serves(const TaskShape& has, const RunConfig& config);

/// Returns a copy of the model that processes sequences and sources as long as those of `task`, or
/// as long as before if these are longer. Error if it needs more positions than the model has
/// learned.
Transformer with_length(const Transformer& model, const TaskShape& task);

/// Gives a run another task for analyses, such as "relations:length=32" or
/// "file:held_out=mine.jsonl". Parameters that `spec` does not name are those of the run's own task
/// if that task has the same name. The model is replaced by a longer one if necessary; run.config
/// stays that of the run. Nothing changes if the result is the run's own task. Errors: a task for
/// another architecture or with other targets, tokens or answers; those of with_length and
/// make_task.
void use_task(Run& run, const std::string& spec);

}  // namespace headlab
