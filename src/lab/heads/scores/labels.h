// Words for a head: the pattern that it resembles, the offsets at which it attends, and its labels.
// Private to this layer. Labels follow Voita et al. 2019 (positional, syntactic, rare), with the
// thresholds in labels.cc. Used by scores.cc.
#pragma once

#include <string>
#include <vector>

#include "lab/heads/scores/scoring_job.h"

namespace headlab {

/// Returns the pattern whose keys have most of the head's attention; "" if none has half of it.
/// `values` are those of the rows of score_table().
std::string like_of(const std::vector<double>& values);

/// Returns the offsets of the largest weights, the most frequent first.
std::vector<HeadScores::Offset> offsets_of(const HeadSums& head);

/// Returns the labels of a head, each with the number of queries on which it is based. `pattern` is
/// the first set of queries in `job.scored` that belongs to a row of score_table().
std::vector<std::string> labels_of(const HeadScores& scores, const HeadSums& head,
                                   const ScoringJob& job, std::size_t pattern);

}  // namespace headlab
