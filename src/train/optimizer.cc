// Optimizers over a list of parameters. AdamW is one pass over memory (adam_step in kernels/elementwise.cc); Adam
// and SGD first fold decay and clipping into the gradient. All parameters are cut into pieces that
// threads take in one loop: most tensors of a toy model are too small to be shared, and a loop for
// each would leave one thread with most of the work. The squares of the norm are summed in double,
// in a fixed order, so that the norm does not depend on the number of threads.
// Read next: trainer.cc.
#include "headlab/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"
#include "headlab/model/checkpoint.h"
#include "kernels/elementwise.h"
#include "kernels/pieces.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

void Optimizer::add(const std::string& name, const Tensor& parameter, const ParameterGroup& group) {
  Slot slot{name, parameter, Tensor::zeros(parameter.shape()), {}, group};
  if (config_.optimizer != OptimizerKind::sgd) slot.v = Tensor::zeros(parameter.shape());
  for (Index begin = 0; begin < parameter.count(); begin += kPiece)
    pieces_.push_back({slots_.size(), begin, std::min(kPiece, parameter.count() - begin)});
  sums_.resize(pieces_.size());
  slots_.push_back(std::move(slot));
}

/// The gradient of each slot's parameter, or null. They are looked up once, before the loop: each
/// look-up copies a handle, and threads that change one reference count slow each other down.
void Optimizer::find_gradients() const {
  grads_.clear();
  for (const Slot& slot : slots_) {
    const Tensor grad = slot.parameter.grad();
    grads_.push_back(grad.defined() ? grad.data() : nullptr);
  }
}

double Optimizer::gradient_norm() const {
  find_gradients();
  parallel_for(std::ssize(pieces_), [&](Index i) {
    const Piece& piece = pieces_[i];
    const Scalar* grad = grads_[piece.slot];
    sums_[i] = grad != nullptr ? sum_of_squares(piece.length, grad + piece.begin) : 0;
  });
  return std::sqrt(std::accumulate(sums_.begin(), sums_.end(), 0.0));
}

/// Whether all elements are finite; true of no tensor at all.
static bool is_finite(const Tensor& x) { return !x.defined() || all_finite(x.count(), x.data()); }

std::string Optimizer::first_not_finite() const {
  for (const Slot& slot : slots_)
    if (!is_finite(slot.parameter.grad())) return slot.name;
  return "";
}

std::string Optimizer::first_damaged() const {
  for (const Slot& slot : slots_) {
    if (!is_finite(slot.parameter)) return slot.name;
    if (!is_finite(slot.m)) return "optimizer.m." + slot.name;
    if (!is_finite(slot.v)) return "optimizer.v." + slot.name;
  }
  return "";
}

void Optimizer::step(double lr, double norm) {
  ++steps_;
  const bool clipped = config_.clip > 0 && norm > config_.clip;
  const auto scale = static_cast<Scalar>(clipped ? config_.clip / (norm + 1e-6) : 1);
  find_gradients();
  parallel_for(std::ssize(pieces_), [&](Index i) {
    const Piece& piece = pieces_[i];
    if (Scalar* grad = grads_[piece.slot]) step_piece(piece, grad + piece.begin, lr, scale);
  });
  zero_grad();
}

void Optimizer::step_piece(const Piece& piece, Scalar* g, double lr, Scalar grad_scale) {
  const Slot& slot = slots_[piece.slot];
  lr *= slot.group.lr_scale;
  const Index n = piece.length;
  const auto from = [&](const Tensor& x) { return x.data() + piece.begin; };
  Scalar *w = from(slot.parameter), *m = from(slot.m);
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
             .one_minus_beta1 = static_cast<Scalar>(1 - config_.beta1),
             .one_minus_beta2 = static_cast<Scalar>(1 - config_.beta2),
             .eps = static_cast<Scalar>(config_.eps),
             .decay = config_.optimizer == OptimizerKind::adamw ? decay : 0,
             .correction1 = static_cast<Scalar>(1 - std::pow(config_.beta1, t)),
             .correction2 = static_cast<Scalar>(1 - std::pow(config_.beta2, t)),
             .grad_scale = grad_scale},
            {g, w, m, from(slot.v)});
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.zero_grad();
}

void Optimizer::store(TensorFile& file) const {
  for (const Slot& slot : slots_) {
    file.tensors.push_back(stored("optimizer.m." + slot.name, slot.m));
    if (slot.v.defined()) file.tensors.push_back(stored("optimizer.v." + slot.name, slot.v));
  }
}

void Optimizer::load(const TensorFile& file, Index steps) {
  for (Slot& slot : slots_) {
    const std::string m = "optimizer.m." + slot.name, v = "optimizer.v." + slot.name;
    const bool known = file.find(m) != nullptr || file.find(v) != nullptr;
    const auto load_moment = [&](const std::string& name, const Tensor& moment) {
      if (known)
        read_into(file.at(name), moment);
      else
        std::ranges::fill(moment.values(), Scalar{0});
    };
    load_moment(m, slot.m);
    if (slot.v.defined()) load_moment(v, slot.v);
  }
  steps_ = steps;
}

}}  // namespace headlab
