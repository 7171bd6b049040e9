// The order of the answer is found by sorting the places of the symbols.
// Read next: the opening of sort.h, for the definition; symbols.h, for what a sequence looks like
// and how it is written.
#include "headlab/tasks/sort.h"

#include <algorithm>
#include <numeric>

#include "tasks/symbols.h"

namespace headlab {
namespace {

std::vector<std::int32_t> ascending(std::span<const std::int32_t> symbols) {
  std::vector<std::int32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&symbols](std::int32_t i, std::int32_t j) { return symbols[i] < symbols[j]; });
  return order;
}

}  // namespace

const SymbolsDefinition kSort{
    .name = "sort",
    .distinct = true,
    .order = ascending,
    .relation = "larger",
    .description = "the smallest symbol above this one; behind the separator, the smallest of all",
    .needed_heads = 1};
template class SymbolsTask<kSort>;

}  // namespace headlab
