// Pruning as text for a terminal: what it did to one model and what it saved, the curves of all
// methods, and the experiments of Michel et al. and Voita et al., ours first and theirs below each.
// The published models are others (translation, BERT): compare shapes, not values. Pure functions
// of the results. Read next: prune/curve.h, lab/reproduce.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/reproduce.h"
#include "headlab/prune/curve.h"

namespace headlab {

/// Loss of each method for each number of heads kept (and after fine-tuning, if there was any),
/// then area, regret, rank correlation, knee and cost of each method.
std::string curve_text(const Curve& curve);
/// Losses, area and regret as means with 95% intervals over the runs, and the knee of each run.
std::string curve_text(const CurveOverRuns& curve);

std::string michel_text(const MichelReport& report);
std::string voita_text(const VoitaReport& report);
/// The same over several runs.
std::string penalties_text(const std::vector<PenaltyOverRuns>& rows, std::size_t runs);
std::string shares_text(const std::vector<ShareOverRuns>& rows, std::size_t runs);

}  // namespace headlab
