// The tables of a report of heads. Each column comes with the function that computes its cells from
// the report, so that a column and its cells cannot get out of step.
// Read next: scores_tables.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/scores/scores.h"

namespace headlab {

/// Returns every head with its scores. Scores on relations are hidden unless `relations_fit` on a
/// screen.
Table heads_table(const HeadsReport& report, const HeadsShown& shown, bool relations_fit);
/// Returns every relation with its best head. conclusions: one for each relation.
Table relations_table(const HeadsReport& report, const std::vector<std::string>& conclusions,
                      const HeadsShown& shown);
/// Returns the relations that several heads share.
Table divisions_table(const HeadsReport& report, bool shown);
/// Returns mass and cost of each head of a shared relation, for each class of queries.
Table classes_table(const HeadsReport& report);

}  // namespace headlab
