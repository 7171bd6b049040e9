// What `headlab check` prints: every gradient check, run in double. This header knows no number
// type, so that the program, which computes in float, can call what is built in double
// (src/cli/check_f64.cc). Read next: ops/gradient_checks.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headlab::cli {

struct CheckRow {
  std::string op, description;
  std::int64_t elements = 0;  // how many derivatives were compared
  double worst_error = 0;     // |numeric - analytic| / max(1, |numeric|, |analytic|)
  std::string text;           // the worst element in one sentence
  bool passed = false;
};

/// Runs every gradient check of the table in double: central differences against backward.
std::vector<CheckRow> gradient_checks();

}  // namespace headlab::cli
