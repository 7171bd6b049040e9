// The half of a report that needs no gold: what the patterns look like, labels, and how heads
// compare with each other. Private to this layer. Read next: without_gold.cc.
// The other half: against_gold.h.
#pragma once

#include "headlab/heads/scores.h"
#include "heads/evidence.h"

namespace headlab {

/// Fills entropy and focus.
void fill_entropy(HeadScores& head, const HeadEvidence& evidence);
/// Fills the rest of what needs no gold. The questions of pattern_scores() for this head's kind of
/// attention begin at `patterns`; relations[r] belongs to question r.
void fill_patterns(HeadScores& head, const Evidence& evidence, std::size_t h, std::size_t patterns);
/// Adds the labels of a head whose scores are all there.
void fill_labels(HeadScores& head, const Evidence& evidence, std::size_t h, std::size_t patterns,
                 const std::vector<Relation>& relations);
/// Fills the distances between heads and their places on the map, one for each kind of attention.
void fill_map(HeadsReport& report, const Evidence& evidence);

}  // namespace headlab
