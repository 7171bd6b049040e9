// Steps of loops, as a watcher sees them.
#include "headlab/base/progress.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace headlab { namespace {

TEST(Steps, AreThoseOfTheOutermostLoop) {
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  watch_steps([&](std::int64_t done, std::int64_t all) { seen.emplace_back(done, all); });
  {
    Steps outer(2);
    for (int i = 0; i < 2; ++i) {
      {
        Steps inner(5);
        inner.done();
      }
      outer.done();
    }
  }
  {
    Steps next(1);
    next.done();
  }
  watch_steps({});
  Steps unseen(1);
  unseen.done();
  EXPECT_EQ(seen, (decltype(seen){{1, 2}, {2, 2}, {1, 1}}));
}

}  // namespace
}  // namespace headlab
