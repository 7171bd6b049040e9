// Timing with the steady clock (timing.h). The median of an even number of times is the upper of
// the two in the middle, so it is always a time that was measured. Read next:
// headlab/lab/bench/bench.h, the main user.
#include "lab/runs/timing.h"

#include <algorithm>
#include <chrono>

#include "headlab/core/base/progress.h"

namespace headlab {

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

std::vector<double> interleaved_medians(std::span<const std::function<void()>> works,
                                        std::int64_t rounds) {
  std::vector<std::vector<double>> times(works.size());
  Steps steps((rounds + 1) * std::ssize(works));
  for (std::int64_t round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double took = milliseconds(works[i]);
      steps.done();
      if (round > 0) times[i].push_back(took);
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& all : times) {
    std::ranges::sort(all);
    medians.push_back(all[all.size() / 2]);
  }
  return medians;
}

}  // namespace headlab
