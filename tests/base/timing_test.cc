// Timing: every piece of work runs once in each turn, and the time is that of the work.
// How long things take is not tested beyond that a wait takes as long as it waits.
// Read next: include/headlab/base/timing.h.
#include "headlab/base/timing.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace headlab { namespace {

TEST(Medians, TakeTurns) {
  std::string order;
  const std::vector<std::function<void()>> bodies = {[&] { order += 'a'; }, [&] { order += 'b'; }};
  EXPECT_EQ(interleaved_medians(bodies, 2).size(), 2u);
  EXPECT_EQ(order, "ababab");  // the first round warms up
}

TEST(Milliseconds, AreThoseOfTheWork) {
  EXPECT_GE(milliseconds([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }), 2);
}

}  // namespace
}  // namespace headlab
