// Brackets: balanced brackets of `types` kinds, at most `depth` of them open at once (Dyck-k, of
// bounded depth: Hewitt et al. 2020, "RNNs can generate bounded hierarchical languages with optimal
// memory"). Wherever a bracket is open, the target is the closing bracket that the innermost one
// needs. An opening or a closing bracket follows with equal chances where both are possible.
// Truth: `opener`, the innermost bracket that is still open, asked where it stands 2 or more back.
// Trap: if all distances counted, one fixed offset alone would find 63 openers in 100, which are
// the token itself; and one layer is right 97 times in 100 without finding the others.
// Five seeds: accuracy 1.000, mass .63 to .80, top-1 .84 to .94. One layer: mass .14.
// Read next: src/tasks/brackets.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct BracketsOptions {
  Index length = 16;
  Index types = 4;
  Index depth = 4;
};
Settings settings_of(BracketsOptions& options);

class BracketsTask : public Task {
 public:
  using Options = BracketsOptions;
  /// Errors: an odd length; depth 1, or a depth that the length has no room for.
  explicit BracketsTask(const BracketsOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const override { return {"closer"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  BracketsOptions options_;
};

}  // namespace headlab
