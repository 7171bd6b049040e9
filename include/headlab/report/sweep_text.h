// A sweep as text: a line for each group of seeds, who does what in it, and whether several heads
// beat one, with the condition on which they do. A pure function of the report. Read next:
// lab/sweep_report.h.
#pragma once

#include <string>

#include "headlab/lab/sweep_report.h"

namespace headlab {

/// "0.9462 ± 0.031", the half width with two digits; the mean alone where there is no interval.
std::string interval_text(const Interval& interval);

/// The tables, the comparisons in sentences, and what is missing.
std::string sweep_text(const SweepReport& report);

}  // namespace headlab
