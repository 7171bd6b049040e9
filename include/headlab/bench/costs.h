// What an op has to do: multiply-adds and other operations, and the bytes that it must at least
// move. Beside the time that it took, they say how far from the machine's limit it is. Read next:
// profile.h.
#pragma once

#include "headlab/tensor/watch.h"

namespace headlab {

struct Cost {
  double operations = 0;  // of matrix products, a multiply-add counting two; 0: bound by memory
  double bytes = 0;       // every array read or written once
};

/// The cost of an op, forward or backward, from the shapes of its output and inputs. Attention
/// counts all T x S scores, whether the mask hides them or not, and backward the five products that
/// the fused kernel runs. An op that is not in the table of src/bench/costs.cc reads its inputs and
/// writes its output.
Cost cost_of(const WorkEvent& event);

}  // namespace headlab
