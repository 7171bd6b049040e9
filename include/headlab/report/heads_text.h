// What heads do, as text for a terminal: scores against gold, what patterns look like without any,
// a map on which heads lie near whose patterns do, and how roles grew over a training. Pure
// functions of the results, so that a test or another program can show them too. Which scores there
// are says score_table(). Read next: table.h.
#pragma once

#include <span>
#include <string>

#include "headlab/heads/scores.h"
#include "headlab/heads/tracking.h"

namespace headlab {

/// A line for each head: the scores of score_table() that every report has, and for each relation
/// mass, top-1 and lift, with a star where the head does it; then a line for each relation: who
/// does it, with the mass of the best head before training; where the task names candidates,
/// baselines. Lines are at most 100 columns wide: relations beyond that follow below, with the
/// heads again. Of more than 16 relations the 16 with an owner or the largest lift are shown, one
/// line each, unless `all` are asked for.
std::string heads_text(const HeadsReport& report, bool all = false);
/// A line for each head: its distance from each pattern that has a key here, nearest to `first` at
/// the top, and what it is most like; last uniform attention, for comparison.
std::string likeness_text(const LikenessReport& report, std::string_view first);

/// A line for each head: mean attention by what the tokens say (previous, same, induction ...);
/// then entropy, focus, confidence, distance, effective rank, the commonest offset and labels.
std::string scores_text(const HeadsReport& report);

/// The plane of each kind of attention with its heads at their places, and for each head the
/// nearest other one.
std::string map_text(const HeadsReport& report);

/// One character for each value, from a low block at 0 to a full one at 1; a blank for NaN. Values
/// outside are drawn as 0 or 1; of more than `width` values, evenly spaced ones, the last included.
std::string sparkline(std::span<const double> values, std::size_t width);

/// A line for each relation (its head, the step of its birth, its lift and how that grew), then the
/// lifts at a dozen steps.
std::string history_text(const HeadsHistory& history);

}  // namespace headlab
