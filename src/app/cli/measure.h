// Measuring what a page shows and a run lacks. The results are stored in the run, as the command
// that computes them would store them.
// Read next: page.cc, measure.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/core/base/json.h"

namespace headlab::cli {

/// A result that a page shows and a run lacked, and what became of it.
struct Measured {
  std::string run, file;
  std::string said{};           // a line for the user
  std::optional<Json> found{};  // the result, if it could not be stored in the run's folder
};

/// Runs `heads`, `ablate` and `curve --methods greedy` on the runs that lack the results of their
/// weights, as these commands would. Left out is what takes more than a fixed number of operations,
/// which is counted from sizes. Throws Stopped.
std::vector<Measured> measure_missing(const std::vector<std::string>& runs);

}  // namespace headlab::cli
