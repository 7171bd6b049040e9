// What copy, sort, reverse and reverse_cross share: n symbols, with n drawn from `shortest` to
// `longest`, and an answer of the same symbols in another order. Tokens 0 ... symbols - 1 are the
// symbols, and the token `symbols`, shown as |, asks for the answer: from it on, each token
// predicts the next one. Shorter sequences are padded. A decoder reads "symbols | answer"; the last
// answer is predicted and not read, so a sequence has 2n tokens. An encoder-decoder reads the
// symbols as its source, and "| answer" beside it. Read next: copy.h, the simplest.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct SymbolsOptions {
  Index symbols = 16;
  Index shortest = 4;
  Index longest = 10;
};
Settings settings_of(SymbolsOptions& options);

/// In what these tasks differ.
struct SymbolsDefinition {
  const char* name;
  bool distinct = false;       // no symbol occurs twice; else each is drawn by itself
  bool beside_source = false;  // an encoder-decoder
  /// The places of the symbols in the order of the answer. Place `order[j]` is the gold where
  /// answer j is asked.
  std::vector<std::int32_t> (*order)(std::span<const std::int32_t> symbols);
  const char* relation;  // its name and description
  const char* description;
  bool positional = false;
  Index needed_heads = 0;  // see Task
};

template <const SymbolsDefinition& definition>
class SymbolsTask : public Task {
 public:
  using Options = SymbolsOptions;
  /// Errors: shortest above longest; where symbols must be distinct, fewer of them than `longest`.
  explicit SymbolsTask(const SymbolsOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return definition.needed_heads; }
  std::vector<std::string> target_names() const override { return {"symbol"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  SymbolsOptions options_;
};

}  // namespace headlab
