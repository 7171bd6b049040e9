// What heads do over training. A run that tracks its heads scores all of them every few steps on a
// few held-out examples and appends the scores to heads.jsonl; that file is cut back with
// metrics.jsonl when the run resumes, so it is the same however often the run was stopped.
// Read next: scores.h for what is scored.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/heads/edits.h"
#include "headlab/train/run.h"

namespace headlab {

std::filesystem::path heads_log_file(const Run& run);  // heads.jsonl

/// The callbacks with tracking on top: after every run.config.track_heads steps, and after
/// the last, a line of heads.jsonl; unchanged where that setting is 0. `run` must outlive them.
RunCallbacks track_heads(const Run& run, RunCallbacks callbacks);

/// One relation over a training.
struct RelationHistory {
  std::string name;
  HeadId best;                  // the head for it at the last step, chosen on split A
  std::vector<double> lifts{};  // of this head on split B at each step; NaN where it has none
  /// The first step at which the lift reaches half of its last value; -1 if that last value is
  /// below kOwnerLift: then there is no such role.
  Index born = -1;
  /// By what heads that share it divide it at the last step, "" if they do not; and the first step
  /// at which they divide it by that.
  std::string by{};
  Index parted = -1;
};

struct HeadsHistory {
  std::vector<std::string> attention;  // names of the attention modules: what `layer` counts
  std::vector<Index> steps;
  std::vector<RelationHistory> relations;
};
/// Births, and the lifts at each step.
Finding finding_of(const HeadsHistory& history);

/// Reads what track_heads wrote. Error if there is nothing, with the setting that makes it.
HeadsHistory read_heads_history(const Run& run);

}  // namespace headlab
