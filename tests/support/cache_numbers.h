// The numbers that the cache of a generation keeps, for tests and benchmarks of its memory.
#pragma once

#include "headlab/core/model/transformer.h"

namespace headlab {

/// Returns how many numbers of keys and values a cache holds in all layers.
inline Index numbers_in(const ModelCache& cache) {
  Index sum = 0;
  for (const KeyValueCache& kept : cache.attention) {
    if (kept.k.defined()) sum += kept.k.count() + kept.v.count();
  }
  return sum;
}

}  // namespace headlab
