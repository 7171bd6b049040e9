// How much memory a training step needs, before anything is made: a batch that no machine holds is
// refused in words, and not by the system after half an hour of swapping. An estimate from below,
// so that nothing that would work is refused. Read next: run.h, which asks.
#pragma once

#include "headlab/model/config.h"
#include "headlab/train/config.h"

namespace headlab {

/// Bytes that a step holds at least: tokens and targets of the batch, and of one micro-batch what
/// the backward pass needs (the inputs of the layer norms, of attention and of the feed-forward
/// network, and the logits).
double step_bytes(const TransformerConfig& model, const TrainConfig& train);

/// Error if that is more than `available` bytes; 0: the memory of this machine, if the system tells
/// it.
void require_memory(const TransformerConfig& model, const TrainConfig& train, double available = 0);

}  // namespace headlab
