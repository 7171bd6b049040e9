// Histogram: how often does this token occur in the sequence? An encoder; tokens are uniform among
// `symbols`, and the answer is a token of its own for each count from 1 to `length`. (A standard
// example for what transformers can compute: Weiss et al. 2021, "Thinking like transformers".)
// Truth: `equal`, the other positions that hold the same token; asked where there are any.
// Trap: many heads help and none is specialised. The count is read from how *much* attention falls
// on equal tokens, so heads share one job at low mass, and four do better than one.
// Five seeds: accuracy .998 to 1.000 with four heads, the best at mass .18 to .24; .62 to .76 with
// one.
// Read next: src/tasks/histogram.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct HistogramOptions {
  Index length = 16;
  Index symbols = 16;
};
Settings settings_of(HistogramOptions& options);

class HistogramTask : public Task {
 public:
  using Options = HistogramOptions;
  explicit HistogramTask(const HistogramOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"count"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  HistogramOptions options_;
};

}  // namespace headlab
