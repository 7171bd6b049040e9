// Sort, for a decoder: n distinct symbols | the same, ascending, with n from `shortest` to
// `longest`. From the separator on, each token predicts the next one; the last answer is
// predicted, not read, so a sequence has 2n tokens. Shorter ones are padded.
// Truth: `larger`: at position n + j the answer is the smallest symbol above the token there (at
// the separator: of all), wherever it stands before the separator. The query's token says what to
// look for, so one layer is enough. Recommended model, seeds 0-4: accuracy 1.000, mass .78 to .86.
// Trap: several heads are no sign of several jobs: four heads share this one (mass .68, .52, .45,
// .41) and answer no better than one. Read next: src/tasks/symbols.h.
#pragma once

#include "headlab/tasks/symbols.h"

namespace headlab {

extern const SymbolsDefinition kSort;
using SortTask = SymbolsTask<kSort>;

}  // namespace headlab
