// The order of the answer is that of the symbols, from the last to the first. What a sequence looks
// like is written in one place for all tasks of symbols. Read next: the opening of reverse.h, for
// the definition; symbols.h.
#include "headlab/tasks/reverse.h"

#include <numeric>

#include "tasks/symbols.h"

namespace headlab::inline HEADLAB_SCALAR {

ReverseTask::ReverseTask(const SymbolsOptions& options) : options_(options) {
  check_symbols(options_, "reverse");
}

std::string ReverseTask::spec() const { return spec_text("reverse", options_); }

TaskShape ReverseTask::shape() const { return decoder_shape(options_); }

std::vector<Relation> ReverseTask::relations() const {
  return {{"mirror", "the symbol as far before the separator as the answer is behind it"}};
}

Example ReverseTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const std::vector<std::int32_t> symbols = draw_symbols(options_, random);
    std::vector<std::int32_t> order(symbols.size());
    std::iota(order.rbegin(), order.rend(), 0);
    write_answer(example, b, options_, symbols, order);
  };
  return make_sequences(*this, key, count, split, write);
}

std::string ReverseTask::token_text(std::int32_t token) const {
  return symbol_text(token, options_);
}

}  // namespace headlab::inline HEADLAB_SCALAR
