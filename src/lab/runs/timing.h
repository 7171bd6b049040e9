// Time measurement for benchmarks and for the time saved by removing heads. Alternatives are timed
// in turns, and their medians are compared, so that a machine that becomes slower or busier affects
// all of them. Read next: headlab/lab/bench/bench.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headlab {

/// Returns the duration of a call of `work`.
double milliseconds(const std::function<void()>& work);

/// Returns the milliseconds of each work: medians over `rounds` rounds, in each of which all run
/// once in their order. An extra round before that warms caches and the memory pool and does not
/// count. Needs rounds >= 1.
std::vector<double> interleaved_medians(std::span<const std::function<void()>> works,
                                        std::int64_t rounds);

}  // namespace headlab
