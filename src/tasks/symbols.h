// The tasks of symbols: what follows from a definition (a struct of headlab/tasks/symbols.h). Each
// task instantiates the template in its own file, beside its definition.
// Read next: copy.cc, reverse_cross.cc.
#pragma once

#include "headlab/tasks/symbols.h"
#include "tasks/parts.h"

namespace headlab {

/// What the constructor checks.
void check_symbols(const SymbolsOptions& options, const SymbolsDefinition& definition);

TaskShape symbols_shape(const SymbolsOptions& options, const SymbolsDefinition& definition);

/// n symbols.
std::vector<std::int32_t> draw_symbols(const SymbolsOptions& options,
                                       const SymbolsDefinition& definition, Generator& random);

/// Writes sequence b: tokens, targets and gold.
void write_answer(Example& example, Index b, const SymbolsOptions& options,
                  std::span<const std::int32_t> symbols, std::span<const std::int32_t> order);

/// "|", or the symbol's letter.
std::string symbol_text(std::int32_t token, const SymbolsOptions& options);

/// The order that begins with the last symbol.
std::vector<std::int32_t> last_first(std::span<const std::int32_t> symbols);

template <const SymbolsDefinition& definition>
SymbolsTask<definition>::SymbolsTask(const SymbolsOptions& options) : options_(options) {
  check_symbols(options_, definition);
}

template <const SymbolsDefinition& definition>
std::string SymbolsTask<definition>::spec() const {
  return spec_text(definition.name, options_);
}

template <const SymbolsDefinition& definition>
TaskShape SymbolsTask<definition>::shape() const {
  return symbols_shape(options_, definition);
}

template <const SymbolsDefinition& definition>
std::vector<Relation> SymbolsTask<definition>::relations() const {
  return {{definition.relation, definition.description, definition.positional,
           definition.beside_source ? AttentionKind::cross : AttentionKind::self}};
}

template <const SymbolsDefinition& definition>
Example SymbolsTask<definition>::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const auto symbols = draw_symbols(options_, definition, random);
    write_answer(example, b, options_, symbols, definition.order(symbols));
  };
  return make_sequences(*this, key, count, split, write);
}

template <const SymbolsDefinition& definition>
std::string SymbolsTask<definition>::token_text(std::int32_t token) const {
  return symbol_text(token, options_);
}

}  // namespace headlab
