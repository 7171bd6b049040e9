// Sequences of symbols with an answer that is made of the same symbols in another order: a task
// says which symbols and which order, this writes tokens, targets and gold, behind a separator (for
// a decoder) or beside a source (for an encoder-decoder). Read next: copy.cc, reverse_cross.cc.
#pragma once

#include <string_view>

#include "headlab/tasks/symbols.h"
#include "tasks/parts.h"

namespace headlab::inline HEADLAB_SCALAR {

/// Errors: a value out of range, shortest above longest.
void check_symbols(const SymbolsOptions& options, std::string_view name);

/// The shape of "symbols | answer", and that of an answer beside a source.
TaskShape decoder_shape(const SymbolsOptions& options);
TaskShape encoder_decoder_shape(const SymbolsOptions& options);

/// n symbols, drawn uniformly; or n distinct ones, for which there must be `longest` to draw from.
std::vector<std::int32_t> draw_symbols(const SymbolsOptions& options, Generator& random);
std::vector<std::int32_t> draw_distinct_symbols(const SymbolsOptions& options, Generator& random);
void check_distinct(const SymbolsOptions& options);

/// Writes sequence b, whose answer is symbols[order[0]], symbols[order[1]], ...: behind the
/// separator, or, where the batch has sources, from position 0 on. order[j] is the gold of
/// relation 0 where answer j is asked.
void write_answer(Example& example, Index b, const SymbolsOptions& options,
                  std::span<const std::int32_t> symbols, std::span<const std::int32_t> order);

/// "|", or the symbol's letter.
std::string symbol_text(std::int32_t token, const SymbolsOptions& options);

}  // namespace headlab::inline HEADLAB_SCALAR
