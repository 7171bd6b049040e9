// Copy, for a decoder: s1 ... sn | s1 ... sn, with n from `shortest` to `longest` and symbols drawn
// uniformly, repetitions allowed. From the separator on, each token predicts the next one; the last
// answer is predicted, not read, so a sequence has 2n tokens. Shorter ones are padded.
// Truth: `original`: at position n + j (the separator is n) the answer stands at position j. No
// offset finds it, because n varies.
// Trap: TRAP
// Read next: src/tasks/symbols.h.
#pragma once

#include "headlab/tasks/symbols.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

class CopyTask : public Task {
 public:
  using Options = SymbolsOptions;
  /// Errors: shortest above longest.
  explicit CopyTask(const SymbolsOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"symbol"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  SymbolsOptions options_;
};

}  // namespace headlab::inline HEADLAB_SCALAR
