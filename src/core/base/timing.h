// Measuring time, for benchmarks and for what removed heads save. What is compared is timed in
// turns, and the medians are compared, so that a machine that grows slower or busier does so for
// all. Read next: bench/bench.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headlab {

/// How long a call of `work` takes.
double milliseconds(const std::function<void()>& work);

/// Milliseconds of each work: medians over `rounds` rounds, in each of which all run once in their
/// order, after one round that warms caches and the memory pool and does not count. Needs rounds >=
/// 1.
std::vector<double> interleaved_medians(std::span<const std::function<void()>> works,
                                        std::int64_t rounds);

}  // namespace headlab
