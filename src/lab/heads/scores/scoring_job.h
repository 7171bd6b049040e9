// The scored queries of a report: prepared before the model runs, read when sums become scores.
// Private to this layer. Used by scores.cc (the report) and labels.cc (words for a head). The
// queries themselves are found in scored_queries.cc.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "headlab/lab/heads/scores/scores.h"
#include "lab/heads/scores/head_sums.h"

namespace headlab {

/// Examples with the scored queries: first the relations, then, for each kind of attention of the
/// model, the keys of the rows of score_table().
struct ScoringJob {
  Example example;
  std::vector<Relation> relations;
  const HeadedModel& model;
  bool causal = model.shape().architecture != Architecture::encoder;
  std::map<AttentionKind, std::size_t> patterns{};  // of score_table(): the first in `scored`
  std::deque<GroundTruth> truth{};                  // a deque: `scored` points to its elements
  std::vector<ScoredQueries> scored{};

  /// Adds the queries of all relations, with permutations of their ground-truth keys.
  void add_relations(Index permutations);
  ScoredQueries scored_queries(std::size_t r, Index permutations) const;
  /// Adds, for each kind of attention, the queries of the rows of score_table().
  void add_patterns(const Task& task);
};

}  // namespace headlab
