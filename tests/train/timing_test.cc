// Timing: order and number of the calls, and which times count.
#include "lab/runs/timing.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace headlab { namespace {

TEST(InterleavedMedians, RunAllInTurnsWithARoundThatDoesNotCount) {
  std::string calls;
  const std::vector<std::function<void()>> works = {[&] { calls += 'a'; }, [&] { calls += 'b'; }};
  EXPECT_EQ(interleaved_medians(works, 2).size(), 2u);
  EXPECT_EQ(calls, "ababab");
}

TEST(InterleavedMedians, AreNotMovedByOneSlowCall) {
  int call = 0;
  const std::vector<std::function<void()>> works = {[&] {
    if (++call == 3) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }};
  EXPECT_LT(interleaved_medians(works, 5)[0], 100);
}

}  // namespace
}  // namespace headlab
