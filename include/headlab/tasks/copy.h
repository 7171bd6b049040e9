// Copy, for a decoder: n distinct symbols | the same, in the same order, with n from `shortest` to
// `longest`. From the separator on, each token predicts the next one; the last answer is
// predicted, not read, so a sequence has 2n tokens. Shorter ones are padded.
// Truth: `original`: at position n + j (the separator is n) the answer stands at position j. No
// offset finds it, because n varies. Recommended model, seeds 0-4: accuracy 1.000, mass .993 to
// .997; one layer: .57.
// Trap: no counting is needed: the answer is also what followed the same token before, so the head
// that does it is an induction head. If symbols may repeat, that rule misleads it: mass .95 to
// .98.
// Read next: src/tasks/symbols.h.
#pragma once

#include "headlab/tasks/symbols.h"

namespace headlab {

extern const SymbolsDefinition kCopy;
using CopyTask = SymbolsTask<kCopy>;

}  // namespace headlab
