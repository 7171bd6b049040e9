// What heads look like without any gold, as text for a terminal: pattern scores, labels, and a map
// on which heads lie near whose patterns do. Pure functions of the report. Read next: heads_text.h
// for the scores against gold.
#pragma once

#include <string>

#include "headlab/heads/scores.h"

namespace headlab {

/// A line for each head: mean attention by what the tokens say (previous, same, induction ...);
/// then entropy, focus, confidence, distance, effective rank, the commonest offset and labels.
std::string scores_text(const HeadsReport& report);

/// The plane of each kind of attention with its heads at their places, and for each head the
/// nearest other one.
std::string map_text(const HeadsReport& report);

}  // namespace headlab
