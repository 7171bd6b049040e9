// A pruning curve as tables: loss against heads kept, a row for each method, then how the methods
// compare. The lowest loss of each column is marked.
// Read next: src/report/curve_text.cc.
#pragma once

#include <string>

#include "headlab/prune/curve.h"

namespace headlab {

/// Loss of each method for each number of heads kept (and after fine-tuning, if there was any),
/// then area, regret, rank correlation, knee and cost of each method.
std::string curve_text(const Curve& curve);
/// Losses, area and regret as means with 95% intervals over the runs, and the knee of each run.
std::string curve_text(const CurveOverRuns& curve);

}  // namespace headlab
