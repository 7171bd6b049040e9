// Results as JSON where memory ends: whatever allocation fails, what was being made is taken apart
// again and the caller sees std::bad_alloc. This program's own operator new can be told to fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "headlab/lab/studies/sweep.h"

namespace {

thread_local int allowed = -1;  // allocations until one fails; below 0: all succeed

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allowed >= 0 && allowed-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allowed >= 0 && allowed-- == 0 ? nullptr : std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace headlab { namespace {

/// Fails the allocations of `work` one after the other, and returns their number.
template <class Work>
int failures_of(const Work& work) {
  for (int at = 0;; ++at) {
    allowed = at;
    try {
      work();
      allowed = -1;
      return at;
    } catch (const std::bad_alloc&) {
      allowed = -1;
    }
  }
}

TEST(NoMemory, LeavesAReportThatIsBeingMadeWhole) {
  SweepReport report;
  report.groups.resize(1);
  report.groups[0].name = std::string(40, 'n');
  report.groups[0].seeds = {0, 1};
  report.groups[0].losses = report.groups[0].accuracies = report.groups[0].diversities = {1, 2};
  report.groups[0].roles = {{std::string(40, 'r'), {}, 1, {HeadId{0, 1}, std::nullopt}}};
  EXPECT_GT(failures_of([&] { result_of(report); }), 30);
}

TEST(NoMemory, LeavesJsonThatIsBeingMadeWhole) {
  const std::string name(40, 'n');
  const std::vector<double> numbers = {1, 2, 3};
  const auto make = [&] {
    return Json::object({{name, numbers}, {"b", name}, {"c", Json::object({{"d", name}})}});
  };
  EXPECT_GT(failures_of([&] { make(); }), 10);
  const Json json = make();
  EXPECT_GT(failures_of([&] { const Json copy = json; }), 3);
  EXPECT_GT(failures_of([&] { Json::parse(json.dump()); }), 5);
  EXPECT_TRUE(json == make());
}

}  // namespace
}  // namespace headlab
