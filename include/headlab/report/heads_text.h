// What heads do, as text for a terminal. A pure function of the report, so that a test or another
// program can show it too. Which scores there are says score_table().
// Read next: table.h, and scores_text.h for what needs no gold.
#pragma once

#include <string>

#include "headlab/heads/scores.h"

namespace headlab {

/// A line for each head: the scores of score_table() that every report has, and for each relation
/// mass, top-1 and lift, with a star where the head does it; then a line for each relation: who
/// does it, with the mass of the best head before training; where the task names candidates,
/// baselines. Lines are at most 100 columns wide: relations beyond that follow below, with the
/// heads again.
std::string heads_text(const HeadsReport& report);

}  // namespace headlab
