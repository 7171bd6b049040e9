// The answer is that of `reverse`, but beside its source, so that cross-attention has to find it.
// Nothing else differs: symbols, lengths and draws are the same.
// Read next: the opening of reverse_cross.h, for the definition; symbols.h.
#include "headlab/tasks/reverse_cross.h"

#include "tasks/symbols.h"

namespace headlab {

// Positional: the key follows from positions alone. Wherever n and j are the same, so is the gold,
// and no exchange of gold among examples could tell chance from skill.
const SymbolsDefinition kReverseCross{
    .name = "reverse_cross",
    .beside_source = true,
    .order = last_first,
    .relation = "mirror",
    .description =
        "the symbol as far before the end of the source as the answer is behind the start",
    .positional = true};
template class SymbolsTask<kReverseCross>;

}  // namespace headlab
