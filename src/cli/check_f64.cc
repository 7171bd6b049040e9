// Compiled with HEADLAB_F64, unlike the rest of the program: the table of gradient checks is run in
// double, where central differences agree to about 1e-8, and handed on as plain rows. Read next:
// src/ops/gradient_checks.cc.
#include "cli/check.h"
#include "ops/gradient_checks.h"

namespace headlab::cli {

std::vector<CheckRow> gradient_checks() {
  std::vector<CheckRow> rows;
  for (const GradientCheckRow& row : run_gradient_checks())
    rows.push_back({row.op, row.description, row.elements, row.worst_error, row.text, row.passed});
  return rows;
}

}  // namespace headlab::cli
