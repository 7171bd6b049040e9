// A sweep as text: a line for each group of seeds, who does what in it, and whether several heads
// beat one, with the condition on which they do. A pure function of the report. Read next:
// lab/sweep_report.h.
#pragma once

#include <string>

#include "headlab/lab/sweep_report.h"

namespace headlab {

/// The tables, the comparisons in sentences, and what is missing.
std::string sweep_text(const SweepReport& report);

}  // namespace headlab
