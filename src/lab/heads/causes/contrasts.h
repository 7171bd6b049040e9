// Logit differences between clean and corrupted answers, by pair of sequences: the measure of all
// patching. Private to heads.
// Read next: contrasts.cc.
#pragma once

#include <vector>

#include "headlab/core/model/batch.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Two columns of a row of logits [B*T*K, V] whose difference is evaluated.
struct Contrast {
  Index row, clean, corrupted;
};

/// Returns the positions at which both have a target and these differ. Errors: different shapes; no
/// such target.
std::vector<Contrast> contrasts_of(const Batch& clean, const Batch& corrupted);
/// Returns the mean logit difference.
double mean_difference(const Tensor& logits, Index outputs, const std::vector<Contrast>& contrasts);
/// Returns the logit differences of each pair, summed over its contrasts. `rows`: T*K.
std::vector<double> differences_by_pair(const Tensor& logits, Index outputs, Index rows,
                                        const std::vector<Contrast>& contrasts);
/// Returns sum(part) / sum(whole) with its 95% interval over pairs, from the linearised ratio
/// (Cochran 1977, chapter 6); the ends are NaN for fewer than 30 pairs.
Interval ratio_interval(const std::vector<double>& part, const std::vector<double>& whole);

}  // namespace headlab
