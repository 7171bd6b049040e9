// How long work takes. Times of one machine are compared by taking turns: each piece of work runs
// once in every turn, so that whatever else the machine does falls on all alike, and medians are
// taken, which a few slow turns do not move.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace headlab {

/// Wall-clock milliseconds that `work` takes.
template <class Work>
double milliseconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The median milliseconds of each piece of work over `turns` >= 1 turns; one turn before them
/// warms the caches and the memory pool and does not count.
inline std::vector<double> interleaved_medians(const std::vector<std::function<void()>>& works,
                                               std::int64_t turns) {
  std::vector<std::vector<double>> times(works.size());
  for (std::int64_t turn = 0; turn <= turns; ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double took = milliseconds(works[i]);
      if (turn > 0) times[i].push_back(took);
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& all : times) {
    std::ranges::nth_element(all, all.begin() + std::ssize(all) / 2);
    medians.push_back(all[all.size() / 2]);
  }
  return medians;
}

}  // namespace headlab
