// Induction: continue what has been seen before. A sequence is
//   start (1 to `start` other tokens) | segment | gap (0 to `gap` other tokens) | segment | others
// where the segment has `shortest` to `longest` distinct tokens, and "other" tokens are those that
// are not in it. There is a target only where the next token is determined: at every token of the
// repeat but the last. (The first token of the repeat itself follows from nothing.)
// Truth: at a repeated token, `induction` is the position after its first occurrence, which holds
// the answer. To be found there, that position must know what came before it: `previous`, asked at
// the tokens of the first segment but its first.
// Trap: with a fixed distance between the two segments one layer can answer by offset alone, and
// detectors cannot tell that from induction; so start, gap and length vary.
// Five seeds: accuracy 1.000, mass .98 (induction) and .74 to .82 (previous).
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct InductionOptions {
  Index length = 40;
  Index vocab = 32;
  Index shortest = 6;
  Index longest = 12;
  Index start = 4;
  Index gap = 7;
};
Settings settings_of(InductionOptions& options);

class InductionTask : public Task {
 public:
  using Options = InductionOptions;
  /// Errors: a length or a vocabulary too small for the longest segment; shortest above longest.
  explicit InductionTask(const InductionOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const override { return {"next"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  InductionOptions options_;
};

}  // namespace headlab
