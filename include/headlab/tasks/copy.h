// Copy, for a decoder: n distinct symbols | the same, in the same order, with n from `shortest` to
// `longest`. From the separator on, each token predicts the next one; the last answer is
// predicted, not read, so a sequence has 2n tokens. Shorter ones are padded.
// Truth: `original`: at position n + j (the separator is n) the answer stands at position j. No
// offset finds it, because n varies. Recommended model, seeds 0-4: accuracy 1.000, mass .993 to
// .997; one layer: .57.
// Trap: no counting is needed: the answer is also what followed the same token before, so the head
// that does it is an induction head. If symbols may repeat, that rule misleads it: mass .95 to
// .98.
// Read next: src/tasks/symbols.h.
#pragma once

#include "headlab/tasks/symbols.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

class CopyTask : public Task {
 public:
  using Options = SymbolsOptions;
  /// Errors: shortest above longest; fewer symbols than `longest`, as they must be distinct.
  explicit CopyTask(const SymbolsOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const override { return {"symbol"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  SymbolsOptions options_;
};

}  // namespace headlab::inline HEADLAB_SCALAR
