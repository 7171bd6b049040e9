// Padding holds symbol 0 and counts for nothing: `lengths` says where it begins, and it has no
// targets. The last answer is predicted and not read, so that n symbols and their answer take 2n
// positions of a decoder, or n beside a source. Read next: copy.cc.
#include "headlab/tasks/symbols.h"

#include <algorithm>
#include <numeric>

#include "tasks/symbols.h"

namespace headlab {

Settings settings_of(SymbolsOptions& o) {
  Settings s;
  s.integer("symbols", o.symbols, 1, 1 << 20, "number of symbols; the separator comes on top");
  s.integer("shortest", o.shortest, 1, 32768, "fewest symbols in a sequence");
  s.integer("longest", o.longest, 1, 32768, "most symbols in a sequence");
  return s;
}

void check_symbols(const SymbolsOptions& options, const SymbolsDefinition& definition) {
  SymbolsOptions checked = options;
  check_ranges(settings_of(checked), definition.name);
  require(options.shortest <= options.longest, "shortest ", options.shortest,
          " must not exceed longest ", options.longest);
  require(!definition.distinct || options.longest <= options.symbols, options.longest,
          " distinct symbols need symbols ", options.longest, " or more, got ", options.symbols);
}

TaskShape symbols_shape(const SymbolsOptions& options, const SymbolsDefinition& definition) {
  TaskShape shape{.vocab = options.symbols + 1, .length = 2 * options.longest};
  if (definition.beside_source) {
    shape.architecture = Architecture::encoder_decoder;
    shape.length = shape.source_length = options.longest;
  }
  return shape;
}

std::vector<std::int32_t> draw_symbols(const SymbolsOptions& options,
                                       const SymbolsDefinition& definition, Generator& random) {
  const Index n = random.between(options.shortest, options.longest);
  std::vector<std::int32_t> symbols;
  if (definition.distinct) {
    symbols = draw_distinct(options.symbols, n, random);
    symbols.resize(n);
  } else {
    symbols.resize(n);
    fill_uniform(symbols, options.symbols, random);
  }
  return symbols;
}

std::vector<std::int32_t> last_first(std::span<const std::int32_t> symbols) {
  std::vector<std::int32_t> order(symbols.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

void write_answer(Example& example, Index b, const SymbolsOptions& options,
                  std::span<const std::int32_t> symbols, std::span<const std::int32_t> order) {
  Batch& batch = example.batch;
  const auto n = static_cast<Index>(symbols.size());
  const bool apart = batch.source_length > 0;
  const Index separator = apart ? 0 : n;
  std::copy(symbols.begin(), symbols.end(), apart ? &batch.source_token(b, 0) : &batch.token(b, 0));
  if (apart) batch.source_lengths.push_back(id(n));
  batch.lengths.push_back(id(separator + n));
  batch.token(b, separator) = id(options.symbols);
  for (Index j = 0; j < n; ++j) {
    const std::int32_t key = order[j];
    const std::int32_t answer = symbols[key];
    batch.target(b, separator + j) = answer;
    if (j + 1 < n) batch.token(b, separator + j + 1) = answer;
    example.gold[0].add(b, separator + j, key);
  }
}

std::string symbol_text(std::int32_t token, const SymbolsOptions& options) {
  return token == options.symbols ? "|" : letter_text(token, options.symbols);
}

}  // namespace headlab
