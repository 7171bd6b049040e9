// The order of the answer is found by sorting the positions of the symbols. What a sequence looks
// like is written in one place for all tasks of symbols. Read next: the opening of sort.h, for the
// definition; symbols.h.
#include "headlab/tasks/sort.h"

#include <algorithm>
#include <numeric>

#include "tasks/symbols.h"

namespace headlab::inline HEADLAB_SCALAR {

SortTask::SortTask(const SymbolsOptions& options) : options_(options) {
  check_symbols(options_, "sort");
  check_distinct(options_);
}

std::string SortTask::spec() const { return spec_text("sort", options_); }

TaskShape SortTask::shape() const { return decoder_shape(options_); }

std::vector<Relation> SortTask::relations() const {
  return {
      {"larger", "the smallest symbol above this one; behind the separator, the smallest of all"}};
}

Example SortTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const auto symbols = draw_distinct_symbols(options_, random);
    std::vector<std::int32_t> order(symbols.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&symbols](std::int32_t i, std::int32_t j) {
      return symbols[static_cast<std::size_t>(i)] < symbols[static_cast<std::size_t>(j)];
    });
    write_answer(example, b, options_, symbols, order);
  };
  return make_sequences(*this, key, count, split, write);
}

std::string SortTask::token_text(std::int32_t token) const { return symbol_text(token, options_); }

}  // namespace headlab::inline HEADLAB_SCALAR
