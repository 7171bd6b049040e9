// Two controls, in which no head may be reported as specialised. Tokens are uniform; in
// `memoryless` the target is a function of the token itself (the alphabet read backwards), so that
// no head is needed, and in `random` it is drawn by chance, so that there is nothing to learn.
// Truth: the relations of the flagship that a head *could* be credited with: `previous`, and
// `same`, the last earlier token of the same class (the token's number modulo `classes`).
// Trap: a trained head is not uniform, whatever it was trained on. Of 200 heads of `memoryless` (50
// seeds) 82 in 100 differ from chance on `same` at p < .01, at a mass of .04, which is below chance
// (.32 for the best null): significant is not specialised. No head of either control is an owner.
// Read next: src/tasks/control.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct ControlOptions {
  Index length = 16;
  Index vocab = 16;
  Index classes = 4;
};
Settings settings_of(ControlOptions& options);

enum class ControlKind { memoryless, random };

template <ControlKind kind>
class ControlTask : public Task {
 public:
  using Options = ControlOptions;
  /// Error: more classes than tokens.
  explicit ControlTask(const ControlOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"label"}; }
  Example make(Key key, Index count, Split split) const override;
  Batch make_batch(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  ControlOptions options_;
};

using MemorylessTask = ControlTask<ControlKind::memoryless>;
using RandomTask = ControlTask<ControlKind::random>;

}  // namespace headlab
