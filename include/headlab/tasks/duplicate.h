// Duplicate: has this token occurred before? Tokens are uniform among `symbols`; at every position
// the answer is one of two tokens more, yes and no.
// Truth: `earlier`, the set of all earlier positions with the same token; where there is none, the
// answer is no and the query is not eligible.
// Trap: a head can find the duplicate and the model still not know it, because a softmax always
// looks somewhere: whether what it found is the same token is for the feed-forward network to say.
// And no is right 74 times in 100, so that accuracy alone flatters.
// Five seeds: accuracy 1.000, mass .89 to .96. Without feed-forward network .80 to .82. With
// learned positions two seeds of five never find the head. Read next: src/tasks/duplicate.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct DuplicateOptions {
  Index length = 16;
  Index symbols = 24;
};
Settings settings_of(DuplicateOptions& options);

class DuplicateTask : public Task {
 public:
  using Options = DuplicateOptions;
  explicit DuplicateTask(const DuplicateOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return 1; }
  std::vector<std::string> target_names() const override { return {"seen"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  DuplicateOptions options_;
};

}  // namespace headlab
