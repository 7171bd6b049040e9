// What a head of a trained model computes on one input, step by step: the steps of
// lessons.h with the model's own queries, keys and values. The weights equal those of the model's
// fused kernel up to rounding; largest_difference says how large that is.
// Read next: lessons.h, activations.h.
#pragma once

#include "headlab/heads/activations.h"
#include "headlab/heads/lessons.h"

namespace headlab {

/// The steps of a head on sequence b, without padding. Error if the model has no such head.
HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b = 0);
/// The largest difference of these weights from the model's own pattern.
double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b = 0);

}  // namespace headlab
