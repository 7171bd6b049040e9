// Gradient check: compares the gradients that backward computes with central differences. In double
// precision (headlab_f64) the two agree to about 1e-8, so a failure is a bug and not a rounding
// error. The output is weighted with random numbers, because a plain sum would hide errors that
// cancel (the gradient of a sum of softmax is 0). All of it is in this header, so that programs
// that link the framework alone can check an op. Every op needs a row in the table of checks.
// Read next: tests/ops/gradient_checks.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/core/tensor/tape.h"
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

namespace gradcheck_parts {

inline Tensor random_weights(const Shape& shape) {
  Generator random(Key{7}.fold("gradcheck"));
  Tensor weights = Tensor::empty(shape);
  for (Scalar& w : weights.values()) w = static_cast<Scalar>(random.uniform(-1, 1));
  return weights;
}

inline double weighted_sum(const Tensor& output, const Tensor& weights) {
  double sum = 0;
  for (Index i = 0; i < output.count(); ++i) {
    sum += static_cast<double>(output.data()[i]) * static_cast<double>(weights.data()[i]);
  }
  return sum;
}

/// Returns (f(x + h) - f(x - h)) / 2h at one element.
inline double central_difference(const std::function<double()>& f, Scalar& x, double step) {
  const Scalar before = x;
  const auto h = static_cast<Scalar>(step * std::max(1.0, std::abs(static_cast<double>(x))));
  x = before + h;
  const Scalar above = x;
  const double high = f();
  x = before - h;
  const double low = f();
  const double width = static_cast<double>(above) - static_cast<double>(x);
  x = before;
  return (high - low) / width;
}

}  // namespace gradcheck_parts

inline std::string GradcheckResult::sentence() const {
  return text(op, ": input ", input, ", index ", index, ": numeric ", numeric, ", analytic ",
              analytic, ", error ", error);
}

inline GradcheckResult gradcheck(const GradcheckFunction& fn, std::vector<Tensor> inputs,
                                 const GradcheckOptions& options) {
  const auto wants = [](const Tensor& t) { return t.requires_grad(); };
  if (std::none_of(inputs.begin(), inputs.end(), wants)) {
    for (Tensor& input : inputs) input.set_requires_grad();
  }
  for (Tensor& input : inputs) input.zero_grad();
  GradcheckResult result;
  const Tensor output = fn(inputs);
  const Tensor weights = gradcheck_parts::random_weights(output.shape());
  result.op = output.node()->name() != nullptr ? output.node()->name() : "(no op)";
  backward(output, weights);

  const NoGrad no_grad;
  const std::function<double()> f = [&] {
    return gradcheck_parts::weighted_sum(fn(inputs), weights);
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor grad = inputs[k].grad();
    for (Index i = 0; inputs[k].requires_grad() && i < inputs[k].count(); ++i, ++result.elements) {
      const double numeric =
          gradcheck_parts::central_difference(f, inputs[k].data()[i], options.step);
      const double analytic = grad.defined() ? static_cast<double>(grad.data()[i]) : 0;
      const double scale = std::max({1.0, std::abs(numeric), std::abs(analytic)});
      const double difference = std::abs(numeric - analytic) / scale;
      const double error = std::isfinite(difference) ? difference : HUGE_VAL;
      if (error > result.error) {
        result.input = static_cast<int>(k);
        result.index = i;
        result.numeric = numeric;
        result.analytic = analytic;
        result.error = error;
      }
    }
  }
  result.passed = result.error <= options.tolerance;
  return result;
}

}}  // namespace headlab
