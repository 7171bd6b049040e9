// Losses of examples, which experiments on heads compare: each is a sum over the targets of one
// example, kept in double, so that differences can be paired (paired.h). Private to this layer.
// Read next: ablation.cc, gold_edges.cc.
#pragma once

#include <vector>

#include "headlab/model/transformer.h"
#include "headlab/train/evaluate.h"

namespace headlab {

/// The number of targets of each example.
inline std::vector<double> targets_by_example(const Batch& examples) {
  std::vector<double> targets;
  for (Index b = 0; b < examples.size; ++b)
    targets.push_back(static_cast<double>(examples.rows(b, b + 1).target_count()));
  return targets;
}

/// Adds `share` times the losses of a part of the examples, of which these are the logits, to
/// sums[first], sums[first + 1] ...
inline void add_losses(const Tensor& logits, const Batch& part, Index first, double share,
                       std::vector<double>& sums) {
  const Tensor losses = target_losses(logits, part);  // [B, T, K], 0 where there is no target
  const Index each = losses.shape().count(1, 3);
  for (Index i = 0; i < losses.count(); ++i)
    sums[first + i / each] += share * static_cast<double>(losses.data()[i]);
}

}  // namespace headlab
