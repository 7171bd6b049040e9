// The order of the answer is that of the symbols, from the last to the first.
// Read next: the opening of reverse.h, for the definition; symbols.h, for what a sequence looks
// like.
#include "headlab/tasks/reverse.h"

#include "tasks/symbols.h"

namespace headlab {

const SymbolsDefinition kReverse{
    .name = "reverse",
    .order = last_first,
    .relation = "mirror",
    .description = "the symbol as far before the separator as the answer is behind it",
    .needed_heads = 2};  // one in each of two layers
template class SymbolsTask<kReverse>;

}  // namespace headlab
