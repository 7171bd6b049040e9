// What a head of a trained model computes on one input, step by step, and what it adds through W_O:
// the steps of lessons.h with the model's own queries, keys and values. The weights equal those of
// the model's fused kernel up to rounding; largest_difference says how large that is.
// Read next: lessons.h, activations.h.
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
  double written = 0;  // |z_h W_O,h|: how much the module's output changes without the head
  double share = 0;    // of the sum of all heads' `written` in the module
  double weights = 0;  // |W_O,h|
};
/// How much the columns of W_O [H Dv, C] mix heads: for each column, the largest share of its sum
/// of squares that lies in the rows of one of the `heads` heads; the mean over columns. 1: each
/// column reads a single head; 1 / H: all alike. 0 without heads.
double largest_share(const Matrix& W_O, Index heads);
/// All heads of the model on sequence b.
std::vector<HeadWrite> writes_of(const Transformer& model, const Activations& activations,
                                 const Batch& batch, Index b = 0);
/// Cosines of what the heads of a module write, [H, H].
Matrix cosines_of_writes(const Transformer& model, const Activations& activations,
                         const Batch& batch, Index module, Index b = 0);

Json to_json(const HeadWrite& write);

}  // namespace headlab
