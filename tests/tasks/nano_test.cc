// The task of examples/nano.cc is the task `relations` of the library: the same tokens have the
// same targets and the same ground-truth keys. Read next: examples/nano.cc.
#include "support/nano.h"

#include <gtest/gtest.h>

#include "headlab/core/base/error.h"
#include "headlab/core/tasks/table.h"

namespace headlab { namespace {

TEST(Nano, HasTargetsAndKeysOfRelations) {
  const auto task = make_task(text("relations:length=", nano::T, ",vocab=", nano::V, ",classes=4"));
  const nano::Batch batch = nano::make_batch(20);
  const int each = nano::T * nano::R;
  for (int b = 0; b < 20; ++b) {
    const std::span<const int> tokens = std::span(batch.tokens).subspan(b * nano::T, nano::T);
    const Example example = task->example_of(tokens);
    ASSERT_EQ(std::ssize(example.batch.targets), each);
    for (int i = 0; i < each; ++i) {
      EXPECT_EQ(batch.targets[b * each + i], example.batch.targets[i]);
      const auto keys = example.truth[i % nano::R].keys(0, i / nano::R);
      const int key = batch.keys[b * each + i];
      ASSERT_EQ(keys.size(), key < 0 ? 0 : 1);
      if (key >= 0) {
        EXPECT_EQ(*keys.begin(), key);
      }
    }
  }
}

}  // namespace
}  // namespace headlab
