// The table of gradient checks: for every op that can be recorded, the cases in which what its
// backward says is compared with central differences. A new op gets a row; a test demands that none
// is missing. In double (test_ops_f64) it proves that gradients are right. Read next:
// headlab/lab/checks/gradcheck.h.
#pragma once

#include <span>
#include <vector>

#include "headlab/core/tensor/tensor.h"
#include "headlab/lab/checks/gradcheck.h"

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

/// Error if the case does not record its op.
GradcheckResult run(const GradientCheck& check);

}}  // namespace headlab
