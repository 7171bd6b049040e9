// Gradient check: compares central differences with backward, element by element. The output is
// weighted with random numbers, because a plain sum would hide errors that cancel (the gradient of
// a sum of softmax is 0). Read next: tests/ops/gradient_checks.cc.
#include "headlab/core/tensor/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

Tensor random_weights(const Shape& shape) {
  Generator random(Key{7}.fold("gradcheck"));
  Tensor weights = Tensor::empty(shape);
  for (Scalar& w : weights.values()) w = static_cast<Scalar>(random.uniform(-1, 1));
  return weights;
}

double weighted_sum(const Tensor& output, const Tensor& weights) {
  double sum = 0;
  for (Index i = 0; i < output.count(); ++i) {
    sum += static_cast<double>(output.data()[i]) * static_cast<double>(weights.data()[i]);
  }
  return sum;
}

/// Returns (f(x + h) - f(x - h)) / 2h at one element.
double central_difference(const std::function<double()>& f, Scalar& x, double step) {
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

}  // namespace

std::string GradcheckResult::sentence() const {
  return text(op, ": input ", input, ", index ", index, ": numeric ", numeric, ", analytic ",
              analytic, ", error ", error);
}

GradcheckResult gradcheck(const GradcheckFunction& fn, std::vector<Tensor> inputs,
                          const GradcheckOptions& options) {
  const auto wants = [](const Tensor& t) { return t.requires_grad(); };
  if (std::none_of(inputs.begin(), inputs.end(), wants)) {
    for (Tensor& input : inputs) input.set_requires_grad();
  }
  for (Tensor& input : inputs) input.zero_grad();
  GradcheckResult result;
  const Tensor output = fn(inputs);
  const Tensor weights = random_weights(output.shape());
  result.op = output.node()->name() != nullptr ? output.node()->name() : "(no op)";
  backward(output, weights);

  const NoGrad no_grad;
  const std::function<double()> f = [&] { return weighted_sum(fn(inputs), weights); };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor grad = inputs[k].grad();
    for (Index i = 0; inputs[k].requires_grad() && i < inputs[k].count(); ++i, ++result.elements) {
      const double numeric = central_difference(f, inputs[k].data()[i], options.step);
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
