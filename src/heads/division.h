// What division_of() needs of a scoring that is nearly done: how the heads that share a relation
// have divided it, by the token of the key, by position and so on, is asked of its sums. Private to
// this layer. Read next: division.cc.
#pragma once

#include <optional>

#include "heads/head_sums.h"

namespace headlab {

struct ScoredHeads {
  const HeadsReport& report;  // its heads, and its relations up to the one that is asked about
  const PatternSums& gathered;
  const Batch& examples;
  const Task& task;
};
/// How heads share relation r; nothing if they do not.
std::optional<Division> division_of(const ScoredHeads& scored, std::size_t r);

}  // namespace headlab
