// Steps of loops, as a watcher sees them.
#include "headlab/core/base/progress.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace headlab { namespace {

using Seen = std::vector<std::pair<double, std::int64_t>>;

/// Calls that the watcher gets while it exists.
struct Watched {
  Watched() {
    watch_steps([this](double done, std::int64_t all) { seen.emplace_back(done, all); });
  }
  ~Watched() { watch_steps({}); }
  Seen seen{};
};

TEST(Steps, CountTheOutermostLoopAndInnerLoopsAsFractions) {
  const Watched watched;
  {
    Steps outer(2);
    {
      Steps inner(4);
      inner.done();
      inner.next(2);
      inner.done();
    }
    outer.done();
    outer.done();
  }
  EXPECT_EQ(watched.seen, (Seen{{0, 2}, {0.25, 2}, {0.75, 2}, {1, 2}, {2, 2}}));
}

TEST(Steps, NeverGoBackWhereAStepHoldsTwoLoops) {
  const Watched watched;
  Steps outer(2);
  for (const int done : {2, 1}) {
    Steps inner(4);
    for (int i = 0; i < done; ++i) inner.done();
  }
  EXPECT_EQ(watched.seen, (Seen{{0, 2}, {0.25, 2}, {0.5, 2}, {0.5, 2}}));
}

TEST(Steps, LoopsThatEndEarlyAreReported) {
  const Watched watched;
  try {
    Steps steps(3);
    steps.done();
    throw std::runtime_error("interrupted");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(watched.seen, (Seen{{0, 3}, {1, 3}, {3, 3}}));
}

TEST(Steps, ReportNothingWithoutAListener) {
  Steps unseen(1);
  unseen.done();
  unseen.done();
}

TEST(Steps, AreAskedWhetherToGoOn) {
  int asked = 0;
  const auto loop = [] {
    Steps steps(3);
    for (int i = 0; i < 3; ++i) steps.done();
  };
  loop();
  {
    const StepsAsked first([&] { ++asked; });
    loop();
    EXPECT_EQ(asked, 3);
    {
      const StepsAsked second([] { throw std::runtime_error("enough"); });
      EXPECT_THROW(loop(), std::runtime_error);
    }
    loop();
  }
  loop();
  EXPECT_EQ(asked, 6);
}

}  // namespace
}  // namespace headlab
