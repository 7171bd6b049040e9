// From sums over queries to scores against gold: mass, nulls, lift, p, owners, baselines and the
// assignment of heads to relations. Private to this layer. Read next: against_gold.cc, and
// without_gold.h for the other half of a report.
#pragma once

#include "headlab/heads/scores.h"
#include "heads/evidence.h"

namespace headlab {

/// Fills chosen_on and relations of a head, for the first `relations` questions. Those on relations
/// of another kind of attention stay empty: no query counts.
void fill_relations(HeadScores& head, const Evidence& evidence, std::size_t h,
                    std::size_t relations);
/// Fills p of all heads on relation r.
void fill_p(HeadsReport& report, const Evidence& evidence, std::size_t r);
/// The relation's head among those of its kind: the largest mass on split A.
RelationWinner winner_of(const HeadsReport& report, const Evidence& evidence, std::size_t r,
                         const Relation& relation);
/// What the best head at initial values leaves of a winner: `evidence` is of that model.
void fill_untrained(RelationWinner& winner, double mass, const Evidence& evidence, std::size_t r);
/// Assigns heads to relations one to one, and fills the specialization.
void fill_assignment(HeadsReport& report, const Evidence& evidence);

}  // namespace headlab
