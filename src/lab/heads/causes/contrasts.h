// Quantities of pairs of sequences, such as logit differences between clean and corrupted answers:
// the measure of all patching. Private to heads.
// Read next: contrasts.cc.
#pragma once

#include <vector>

#include "headlab/core/model/batch.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Returns the positions at which both have a target and these differ. Errors: different shapes; no
/// such target.
std::vector<Contrast> contrasts_of(const Batch& clean, const Batch& corrupted);
/// Returns the quantities of the pairs, or those of the targets that differ if they name none.
/// Errors: the same.
std::vector<Contrast> contrasts_of(const PatchPairs& pairs);
/// Returns the mean quantity.
double mean_difference(const Tensor& logits, Index outputs, const std::vector<Contrast>& contrasts);
/// Returns the gradient of the mean quantity with respect to the logits, in their shape.
Tensor gradient_of_mean(const Tensor& logits, Index outputs,
                        const std::vector<Contrast>& contrasts);
/// Returns the quantities of each pair, summed over its contrasts. `rows`: T*K.
std::vector<double> differences_by_pair(const Tensor& logits, Index outputs, Index rows,
                                        const std::vector<Contrast>& contrasts);
/// Returns sum(part) / sum(whole) with its 95% interval over pairs, from the linearised ratio
/// (Cochran 1977, chapter 6); the ends are NaN for fewer than 30 pairs.
Interval ratio_interval(const std::vector<double>& part, const std::vector<double>& whole);

}  // namespace headlab
