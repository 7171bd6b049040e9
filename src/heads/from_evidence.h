// From sums over queries to a report: against the gold of relations (against_gold.cc: mass, nulls,
// lift, p, owners, baselines, the assignment), and without any (without_gold.cc: offsets, labels,
// the map). Private to this layer. Read next: scores.cc, which calls these in order.
#pragma once

#include "headlab/heads/scores.h"
#include "heads/evidence.h"

namespace headlab {

/// The scores of a head on the first `relations` questions, on one split. Those on relations of
/// another kind of attention stay empty: no query counts.
std::vector<RelationScore> relation_scores(const HeadEvidence& head, const Evidence& evidence,
                                           std::size_t relations, std::size_t split);
/// Fills p of all heads on relation r.
void fill_p(HeadsReport& report, const Evidence& evidence, std::size_t r);
/// The relation's head among those of its kind: the largest mass on split A.
RelationWinner winner_of(const HeadsReport& report, const Evidence& evidence, std::size_t r,
                         const Relation& relation);
/// Fills what the best head at initial values leaves of a winner with this mass: `evidence` is of
/// that model.
void fill_untrained(RelationWinner& winner, double mass, const Evidence& evidence, std::size_t r);
/// Assigns heads to relations one to one, and fills the specialization.
void fill_assignment(HeadsReport& report, const Evidence& evidence);

/// The mean attention on the keys that a question asks for, on split B; NaN where it never asks.
double pattern_mass(const HeadEvidence& head, const Evidence& evidence, std::size_t question);
/// Where the largest weights lie, the commonest offset first.
std::vector<HeadScores::Offset> offsets_of(const HeadEvidence& head);
/// The labels of a head whose relations are scored. The questions of the rows of score_table() that
/// ask for keys begin, for its kind of attention, at `patterns`.
std::vector<std::string> labels_of(const HeadScores& scores, const HeadEvidence& head,
                                   const Evidence& evidence, std::span<const Relation> relations,
                                   std::size_t patterns);
/// Fills the distances between heads and their places on the map, one for each kind of attention.
void fill_map(HeadsReport& report, const Evidence& evidence);

}  // namespace headlab
