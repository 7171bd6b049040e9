// Checks of targets, shared by the ops that compute a cross-entropy. They run before any logit is
// read, so that an error leaves no partial result. Private to this folder. Read next: rows.cc and
// loss.cc.
#pragma once

#include <span>

#include "headlab/core/base/error.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Returns the number of targets that are not -1. Error that names `op` and the first target
/// outside [-1, classes).
inline Index count_targets(const char* op, std::span<const std::int32_t> targets, Index classes) {
  Index valid = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    require(targets[i] >= -1 && targets[i] < classes, "cannot compute ", op, ": target ",
            targets[i], " at position ", i, " is neither -1 nor in [0, ", classes, ")");
    valid += targets[i] >= 0;
  }
  return valid;
}

}}  // namespace headlab
