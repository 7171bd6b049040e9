// The table of gradient checks: for every op that can be recorded, the cases in which what its
// backward says is compared with central differences. `headlab check` prints it, tests demand that
// no op is missing and that every case passes. A new op gets a row here. It works with both number
// types, but proves something in double alone (library headlab_f64). Read next:
// tensor/gradcheck.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/tensor/gradcheck.h"
#include "headlab/tensor/tensor.h"

namespace headlab {

/// What came out of a case; it knows no number type.
struct GradientCheckRow {
  std::string op, description;
  std::int64_t elements = 0;  // how many derivatives were compared
  double worst_error = 0;     // |numeric - analytic| / max(1, |numeric|, |analytic|)
  std::string text;           // the worst element in one sentence
  bool passed = false;        // the error is small, and the case did record its op
};

}  // namespace headlab

namespace headlab { inline namespace HEADLAB_SCALAR {

/// One case of one op.
struct GradientCheck {
  const char* op;             // the name under which the op is recorded
  const char* description;    // of the case
  std::vector<Shape> shapes;  // of the inputs; all of them get gradients
  GradcheckFunction apply;
  double low = -1, high = 1;  // the inputs are uniform in [low, high)
};

/// All cases, one family of ops after the other.
std::span<const GradientCheck> gradient_check_table();

GradientCheckRow run(const GradientCheck& check);
/// Every case of the table.
std::vector<GradientCheckRow> run_gradient_checks();

}}  // namespace headlab
