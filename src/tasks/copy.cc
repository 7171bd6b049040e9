// The order of the answer is that of the symbols.
// Read next: the opening of copy.h, for the definition; symbols.h, for what a sequence looks like
// and how it is written.
#include "headlab/tasks/copy.h"

#include <numeric>

#include "tasks/symbols.h"

namespace headlab {
namespace {

std::vector<std::int32_t> as_they_stand(std::span<const std::int32_t> symbols) {
  std::vector<std::int32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

const SymbolsDefinition kCopy{
    .name = "copy",
    .distinct = true,
    .order = as_they_stand,
    .relation = "original",
    .description = "the symbol as far behind the beginning as the answer is behind the separator",
    .needed_heads = 2};  // one in each of two layers
template class SymbolsTask<kCopy>;

}  // namespace headlab
