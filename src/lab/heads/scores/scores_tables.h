// The parts of a report of heads as a result: its tables, and the facts next to them. Private to
// this folder.
// Read next: scores_tables.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/scores/scores.h"

namespace headlab {

/// Returns every head with its scores. Scores on relations are hidden unless `relations_fit` on a
/// screen.
Table heads_table(const HeadsReport& report, const HeadsShown& shown, bool relations_fit);
/// Conclusion about a relation, and the guard that refused to conclude more ("": none).
struct RelationConclusion {
  std::string text;
  Tone tone;
  std::string guard{};
};
/// Returns every relation with its best head. conclusions: one for each relation.
Table relations_table(const HeadsReport& report, const std::vector<RelationConclusion>& conclusions,
                      const HeadsShown& shown);
/// Returns the facts of heads.json: the shared relations with all their classes, and the distances.
Json about_of(const HeadsReport& report);
/// Returns the relations that several heads share; their rows are those of about_of.
Table divisions_table(const HeadsReport& report, bool shown);
/// Returns mass and cost of each head of a shared relation, for each class of queries.
Table classes_table(const HeadsReport& report);

}  // namespace headlab
