// Scores of heads over training. A run with head tracking scores all heads every few steps on a few
// held-out examples and appends the scores to heads.jsonl. When the run resumes, that file is
// truncated together with metrics.jsonl, so it does not depend on interruptions. Read next:
// scores.h for the scores.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

std::filesystem::path heads_log_file(const Run& run);  // heads.jsonl

/// Returns the callbacks with tracking added: appends a line to heads.jsonl after every
/// run.config.track_heads steps and after the last step. Returns them unchanged if that setting is
/// 0. `run` must outlive them.
RunCallbacks track_heads(const Run& run, RunCallbacks callbacks);

/// History of one relation over a training.
struct RelationHistory {
  std::string name;
  HeadId best;                  // its head at the last step, chosen on split A
  std::vector<double> lifts{};  // lift of this head on split B at each step; NaN if it has none
  /// Emergence step: the first step at which the lift reaches half of its last value; -1 if that
  /// last value is below kOwnerLift, because there is no role then.
  Index emergence_step = -1;
  /// Kind of class by which heads split the relation at the last step, "" if they do not share it;
  /// and the first step at which they split it in this way.
  std::string by{};
  Index parted = -1;
  std::optional<Index> queries{};  // scored at the last step; nothing if an older version wrote it
};

struct HeadsHistory {
  std::vector<std::string> attention;  // names of the attention layers, which `layer` indexes
  std::vector<Index> steps;
  std::vector<RelationHistory> relations;
};
/// Returns the emergence steps, and the lifts at each step.
Result result_of(const HeadsHistory& history);

/// Reads the file written by track_heads. Error that names the setting to use if the file is
/// missing.
HeadsHistory read_heads_history(const Run& run);

}  // namespace headlab
