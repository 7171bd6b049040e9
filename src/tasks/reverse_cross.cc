// The answer is that of `reverse`, but beside its source, so that cross-attention has to find it.
// Nothing else differs: symbols, lengths and draws are the same.
// Read next: the opening of reverse_cross.h, for the definition; symbols.h.
#include "headlab/tasks/reverse_cross.h"

#include <numeric>

#include "tasks/symbols.h"

namespace headlab::inline HEADLAB_SCALAR {

ReverseCrossTask::ReverseCrossTask(const SymbolsOptions& options) : options_(options) {
  check_symbols(options_, "reverse_cross");
}

std::string ReverseCrossTask::spec() const { return spec_text("reverse_cross", options_); }

TaskShape ReverseCrossTask::shape() const { return encoder_decoder_shape(options_); }

std::vector<Relation> ReverseCrossTask::relations() const {
  // The key follows from positions alone: wherever n and j are the same, so is the gold, and no
  // exchange of gold among examples could tell chance from skill.
  return {{"mirror",
           "the symbol as far before the end of the source as the answer is behind the start", true,
           AttentionKind::cross}};
}

Example ReverseCrossTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const std::vector<std::int32_t> symbols = draw_symbols(options_, random);
    std::vector<std::int32_t> order(symbols.size());
    std::iota(order.rbegin(), order.rend(), 0);
    write_answer(example, b, options_, symbols, order);
  };
  return make_sequences(*this, key, count, split, write);
}

std::string ReverseCrossTask::token_text(std::int32_t token) const {
  return symbol_text(token, options_);
}

}  // namespace headlab::inline HEADLAB_SCALAR
