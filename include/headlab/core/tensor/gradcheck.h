// Gradient check: compares the gradients that backward computes with central differences. In double
// precision (headlab_f64) the two agree to about 1e-8, so a failure is a bug and not a rounding
// error. Every op needs a row in the table of checks, tests/ops/gradient_checks.h. Read next: that
// file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct GradcheckOptions {
  double step = sizeof(Scalar) == 8 ? 1e-6 : 1e-2;       // of the central difference, x max(1, |x|)
  double tolerance = sizeof(Scalar) == 8 ? 1e-6 : 2e-2;  // x max(1, |numeric|, |analytic|)
};

/// The element with the largest error of a check.
struct GradcheckResult {
  bool passed = true;
  std::string op;  // the op that made the output
  int input = 0;
  Index index = 0;
  double numeric = 0, analytic = 0;
  double error = 0;    // |numeric - analytic| / max(1, |numeric|, |analytic|)
  Index elements = 0;  // number of elements that were checked

  /// Returns op, input, index, numeric and analytic value in one sentence.
  std::string sentence() const;
};

using GradcheckFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// Compares d(sum(w * fn(inputs)))/dinput with (f(x + h) - f(x - h)) / 2h for every element of
/// every input that requires a gradient (of all inputs if none does); w is a fixed random tensor of
/// the output's shape. `fn` must be differentiable near the inputs and return the same output for
/// the same inputs.
GradcheckResult gradcheck(const GradcheckFunction& fn, std::vector<Tensor> inputs,
                          const GradcheckOptions& options = {});

}}  // namespace headlab
