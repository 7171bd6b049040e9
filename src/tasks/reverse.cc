// Tokens 0 ... symbols - 1 are the symbols, the token `symbols` is the separator; padding holds
// symbol 0 and counts for nothing: `lengths` says where it begins, and it has no targets. Read
// next: the opening of reverse.h, for the definition.
#include "headlab/tasks/reverse.h"

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab::inline HEADLAB_SCALAR {

Settings settings_of(ReverseOptions& o) {
  Settings s;
  s.integer("symbols", o.symbols, 1, 1 << 20, "number of symbols; the separator comes on top");
  s.integer("shortest", o.shortest, 1, 32768, "fewest symbols to reverse");
  s.integer("longest", o.longest, 1, 32768, "most symbols to reverse");
  return s;
}

ReverseTask::ReverseTask(const ReverseOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "reverse");
  require(options_.shortest <= options_.longest, "shortest ", options_.shortest,
          " must not exceed longest ", options_.longest);
}

std::string ReverseTask::spec() const {
  ReverseOptions options = options_;
  return spec_text("reverse", settings_of(options));
}

TaskShape ReverseTask::shape() const {
  return {Architecture::decoder, options_.symbols + 1, 2 * options_.longest, 1};
}

std::vector<Relation> ReverseTask::relations() const {
  return {{"mirror", "the symbol as far before the separator as the answer is behind it", false}};
}

Example ReverseTask::make(Key key, Index count, Split split) const {
  Example example;
  Batch& batch = example.batch;
  batch = Batch::make(count, 2 * options_.longest);
  example.gold.resize(1);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const Index n = random.between(options_.shortest, options_.longest);
    batch.lengths.push_back(static_cast<std::int32_t>(2 * n));
    for (Index t = 0; t < n; ++t) {
      batch.token(b, t) = static_cast<std::int32_t>(random.below(options_.symbols));
    }
    batch.token(b, n) = static_cast<std::int32_t>(options_.symbols);
    for (Index j = 0; j < n; ++j) {
      const Index mirror = n - 1 - j;
      batch.target(b, n + j) = batch.token(b, mirror);
      example.gold[0].add(b, n + j, static_cast<std::int32_t>(mirror));
      if (j + 1 < n) {
        batch.token(b, n + j + 1) = batch.token(b, mirror);
      }
    }
  }
  return example;
}

std::string ReverseTask::token_text(std::int32_t token) const {
  return token == options_.symbols ? "|" : letter_text(token, options_.symbols);
}

}  // namespace headlab::inline HEADLAB_SCALAR
