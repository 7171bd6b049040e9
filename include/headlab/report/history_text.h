// The development of heads over a training as text: when each role was born, and how its lift
// grew, thinned out to what a terminal holds. A pure function of the history. Read next:
// heads/tracking.h, which keeps it.
#pragma once

#include <span>
#include <string>

#include "headlab/heads/tracking.h"

namespace headlab {

/// One character for each value, from a low block at 0 to a full one at 1; a blank for NaN. Values
/// outside are drawn as 0 or 1; of more than `width` values, evenly spaced ones, the last included.
std::string sparkline(std::span<const double> values, std::size_t width);

/// A line for each relation (its head, the step of its birth, its lift and how that grew), then the
/// lifts at a dozen steps.
std::string history_text(const HeadsHistory& history);

}  // namespace headlab
