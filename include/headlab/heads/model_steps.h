// What a head of a trained model computes on one input, step by step, and what it adds through W_O:
// the steps of lessons.h with the model's own queries, keys and values. The weights that come out
// are those of the model's fused kernel but for rounding, and how far apart they are is said. Read
// next: lessons.h, activations.h.
#pragma once

#include <vector>

#include "headlab/heads/activations.h"
#include "headlab/heads/lessons.h"

namespace headlab {

/// The steps of a head on sequence b, without padding. Error if the model has no such head.
HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b = 0);
/// The largest difference of these weights from the model's own pattern.
double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b = 0);

/// The rows [Dv, C] of W_O that a head of a module writes through.
Matrix output_rows(const Transformer& model, const HeadId& head);

/// What one head adds to the stream on one input, and which part of W_O is its own.
struct HeadWrite {
  HeadId head;
  double output = 0;   // |z_h|, over all queries
  double written = 0;  // |z_h W_O,h|: by so much the module's output changes without the head
  double share = 0;    // of the sum of all heads' `written` in the module
  double weights = 0;  // |W_O,h|
};
/// Of a module's W_O [H Dv, C]: what a column takes from the head that it takes most from, as a
/// share of its squares, averaged over columns. 1: columns still belong to heads; 1 / H: mixed
/// evenly. Blocks of rows belong to `heads` heads. 0 without heads.
double largest_share(const Matrix& W_O, Index heads);
/// All heads of the model on sequence b.
std::vector<HeadWrite> writes_of(const Transformer& model, const Activations& activations,
                                 const Batch& batch, Index b = 0);
/// Cosines of what the heads of a module write, [H, H].
Matrix cosines_of_writes(const Transformer& model, const Activations& activations,
                         const Batch& batch, Index module, Index b = 0);

Json to_json(const HeadWrite& write);

}  // namespace headlab
