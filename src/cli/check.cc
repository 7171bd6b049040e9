// `headlab check`: every gradient against central differences. The program computes in float, whose
// rounding would drown them, so the checks run in double, in a library of their own. Read next:
// ops/gradient_checks.h.
#include "cli/commands.h"
#include "ops/gradient_checks.h"

namespace headlab::f64 {
std::vector<GradientCheckRow> run_gradient_checks();  // of the library in double
}

namespace headlab::cli {

Result check(Invocation& call) {
  call.read({});
  Table table{"checks",
              {{"op", "op", "a differentiable operation", kPlain, "", false},
               {"case", "case", "the shapes and options it is checked with", kPlain, "", false},
               {"elements", "elements", "derivatives that were compared"},
               {"worst_error", "worst error",
                "|numeric - analytic| / max(1, |numeric|, |analytic|), in double: 1e-8 is good"},
               {"passed", "passed", "* where it is small enough"}}};
  bool passed = true;
  for (const GradientCheckRow& row : f64::run_gradient_checks()) {
    passed = passed && row.passed;
    table.rows.push_back({row.op, row.description, row.elements, row.worst_error, row.passed});
    if (!row.passed) note(row.text);
  }
  Result result = result_of(Finding{.about = stamped({{"passed", passed}}), .tables = {table}});
  result.status = passed ? 0 : 1;
  return result;
}

}  // namespace headlab::cli
