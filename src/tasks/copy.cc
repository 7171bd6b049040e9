// The order of the answer is that of the symbols. What a sequence looks like is written in one
// place for all tasks of symbols.
// Read next: the opening of copy.h, for the definition; symbols.h.
#include "headlab/tasks/copy.h"

#include <numeric>

#include "tasks/symbols.h"

namespace headlab::inline HEADLAB_SCALAR {

CopyTask::CopyTask(const SymbolsOptions& options) : options_(options) {
  check_symbols(options_, "copy");
  check_distinct(options_);
}

std::string CopyTask::spec() const { return spec_text("copy", options_); }

TaskShape CopyTask::shape() const { return decoder_shape(options_); }

std::vector<Relation> CopyTask::relations() const {
  return {
      {"original", "the symbol as far behind the beginning as the answer is behind the separator"}};
}

Example CopyTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const auto symbols = draw_distinct_symbols(options_, random);
    std::vector<std::int32_t> order(symbols.size());
    std::iota(order.begin(), order.end(), 0);
    write_answer(example, b, options_, symbols, order);
  };
  return make_sequences(*this, key, count, split, write);
}

std::string CopyTask::token_text(std::int32_t token) const { return symbol_text(token, options_); }

}  // namespace headlab::inline HEADLAB_SCALAR
