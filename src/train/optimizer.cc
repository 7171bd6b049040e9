// Optimizers over a list of parameters. AdamW is one pass over memory for each parameter
// (kernels/, adam_step); Adam and SGD first fold decay and clipping into the gradient. Sums for
// the norm are added in double, in a fixed order: the same for any number of threads.
#include "headlab/train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/kernels/elementwise.h"
#include "headlab/model/checkpoint.h"

namespace headlab::inline HEADLAB_SCALAR {

void Optimizer::add(const std::string& name, const Tensor& parameter, const ParameterGroup& group) {
  Slot slot{name, parameter, Tensor::zeros(parameter.shape()), {}, group};
  if (config_.optimizer != OptimizerKind::sgd) {
    slot.v = Tensor::zeros(parameter.shape());
  }
  slots_.push_back(std::move(slot));
}

double Optimizer::gradient_norm() const {
  double sum = 0;
  for (const Slot& slot : slots_) {
    if (const Tensor grad = slot.parameter.grad(); grad.defined()) {
      sum += sum_of_squares(grad.count(), grad.data());
    }
  }
  return std::sqrt(sum);
}

std::string Optimizer::first_not_finite() const {
  for (const Slot& slot : slots_) {
    const Tensor grad = slot.parameter.grad();
    if (grad.defined() && !all_finite(grad.count(), grad.data())) {
      return slot.name;
    }
  }
  return "";
}

std::string Optimizer::first_damaged() const {
  const auto damaged = [](const Tensor& x) {
    return x.defined() && !all_finite(x.count(), x.data());
  };
  for (const Slot& slot : slots_) {
    if (damaged(slot.parameter)) return slot.name;
    if (damaged(slot.m)) return "optimizer.m." + slot.name;
    if (damaged(slot.v)) return "optimizer.v." + slot.name;
  }
  return "";
}

void Optimizer::step(double lr, double norm) {
  ++steps_;
  const bool clipped = config_.clip > 0 && norm > config_.clip;
  const auto scale = static_cast<Scalar>(clipped ? config_.clip / (norm + 1e-6) : 1);
  for (Slot& slot : slots_) {
    if (slot.parameter.grad().defined()) {
      step_slot(slot, lr * slot.group.lr_scale, scale);
    }
  }
  zero_grad();
}

void Optimizer::step_slot(Slot& slot, double lr, Scalar grad_scale) {
  const Index n = slot.parameter.count();
  const Tensor grad = slot.parameter.grad();
  Scalar *g = grad.data(), *w = slot.parameter.data(), *m = slot.m.data();
  const bool decays = slot.group.decay && slot.parameter.rank() >= 2;
  const auto decay = static_cast<Scalar>(decays ? config_.decay : 0);
  if (config_.optimizer != OptimizerKind::adamw) {
    scale_array(n, grad_scale, g);
    add_scaled(n, decay, w, g);
    grad_scale = 1;
  }
  if (config_.optimizer == OptimizerKind::sgd) {
    scale_array(n, static_cast<Scalar>(config_.momentum), m);
    add_scaled(n, 1, g, m);
    add_scaled(n, static_cast<Scalar>(-lr), m, w);
    return;
  }
  const auto t = static_cast<double>(steps_);
  adam_step(n,
            {.lr = static_cast<Scalar>(lr),
             .beta1 = static_cast<Scalar>(config_.beta1),
             .beta2 = static_cast<Scalar>(config_.beta2),
             .eps = static_cast<Scalar>(config_.eps),
             .decay = config_.optimizer == OptimizerKind::adamw ? decay : 0,
             .correction1 = static_cast<Scalar>(1 - std::pow(config_.beta1, t)),
             .correction2 = static_cast<Scalar>(1 - std::pow(config_.beta2, t)),
             .grad_scale = grad_scale},
            g, w, m, slot.v.data());
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) {
    slot.parameter.zero_grad();
  }
}

void Optimizer::store(TensorFile& file) const {
  for (const Slot& slot : slots_) {
    file.tensors.push_back(stored("optimizer.m." + slot.name, slot.m));
    if (slot.v.defined()) {
      file.tensors.push_back(stored("optimizer.v." + slot.name, slot.v));
    }
  }
}

void Optimizer::load(const TensorFile& file, Index steps) {
  for (Slot& slot : slots_) {
    if (file.find("optimizer.m." + slot.name) == nullptr &&
        file.find("optimizer.v." + slot.name) == nullptr) {
      std::fill_n(slot.m.data(), slot.m.count(), Scalar{0});
      if (slot.v.defined()) std::fill_n(slot.v.data(), slot.v.count(), Scalar{0});
      continue;
    }
    read_into(file.at("optimizer.m." + slot.name), slot.m);
    if (slot.v.defined()) {
      read_into(file.at("optimizer.v." + slot.name), slot.v);
    }
  }
  steps_ = steps;
}

}  // namespace headlab::inline HEADLAB_SCALAR
