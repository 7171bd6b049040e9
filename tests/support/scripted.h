// A task whose ground truth is written down by a test, for tests of what heads are said to do.
// Read next: tests/heads/scores_test.cc.
#pragma once

#include "headlab/core/tasks/task.h"

namespace headlab {

/// Sequences of 8 tokens; ground truth is a function of (sequence, query), and a key below 0 means
/// that there is none. All tokens are 0.
class Scripted : public Task {
 public:
  using Script = Index (*)(Index b, Index t);
  explicit Scripted(Script script, bool positional = false)
      : script_(script), positional_(positional) {}
  std::string spec() const override { return "scripted"; }
  TaskShape shape() const override { return {Architecture::decoder, 4, 8, 1}; }
  std::vector<Relation> relations() const override { return {{"scripted", "", positional_}}; }
  std::vector<std::string> target_names() const override { return {"none"}; }
  std::string token_text(std::int32_t) const override { return "."; }
  Example make(Key, Index count, Split) const override {
    Example example{Batch::make(count, 8), std::vector<GroundTruth>(1), {}};
    for (Index b = 0; b < count; ++b) {
      for (Index t = 0; t < 8; ++t)
        if (const Index key = script_(b, t); key >= 0)
          example.truth[0].add(b, t, static_cast<std::int32_t>(key));
    }
    return example;
  }

 private:
  Script script_;
  bool positional_;
};

}  // namespace headlab
