// Optimizers, and a list of parameters. AdamW is one pass over memory (adam_step in
// kernels/elementwise.cc); Adam and SGD first fold decay and clipping into the gradient. All
// parameters are cut into pieces that threads process in one loop, because most tensors of a toy
// model are too small to split between threads. The squares of the norm are summed in double, in a
// fixed order, so that the norm does not depend on the number of threads. Read next: trainer.cc.
#include "headlab/core/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/kernels/elementwise.h"
#include "core/kernels/pieces.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Computes g = scale g + decay w.
void fold(const OptimizerStep& s) {
  scale_array(s.count, s.scale, s.g);
  add_scaled(s.count, static_cast<Scalar>(s.decay), s.w, s.g);
}

void sgd(const OptimizerStep& s) {
  fold(s);
  scale_array(s.count, static_cast<Scalar>(s.config.momentum), s.m);
  add_scaled(s.count, 1, s.g, s.m);
  add_scaled(s.count, static_cast<Scalar>(-s.lr), s.m, s.w);
}

void adamw(const OptimizerStep& s) {
  const auto t = static_cast<double>(s.step);
  adam_step(s.count,
            {.lr = static_cast<Scalar>(s.lr),
             .one_minus_beta1 = static_cast<Scalar>(1 - s.config.beta1),
             .one_minus_beta2 = static_cast<Scalar>(1 - s.config.beta2),
             .eps = static_cast<Scalar>(s.config.eps),
             .decay = static_cast<Scalar>(s.decay),
             .correction1 = static_cast<Scalar>(1 - std::pow(s.config.beta1, t)),
             .correction2 = static_cast<Scalar>(1 - std::pow(s.config.beta2, t)),
             .grad_scale = s.scale},
            {s.g, s.w, s.m, s.v});
}

void adam(const OptimizerStep& s) {
  fold(s);
  OptimizerStep folded = s;
  folded.scale = 1;
  folded.decay = 0;
  adamw(folded);
}

constexpr OptimizerEntry kOptimizers[] = {
    {"adamw", "w -= lr decay w; w -= lr mhat / (sqrt(vhat) + eps) (Loshchilov and Hutter 2019)", 2,
     adamw},
    {"adam", "g += decay w; w -= lr mhat / (sqrt(vhat) + eps) (Kingma and Ba 2015)", 2, adam},
    {"sgd", "g += decay w; m = momentum m + g; w -= lr m", 1, sgd},
};

}  // namespace

std::vector<OptimizerEntry>& own_optimizers() {
  static std::vector<OptimizerEntry> own;
  return own;
}

std::span<const OptimizerEntry> optimizer_table() {
  static const std::vector<OptimizerEntry> all = with_own(kOptimizers, own_optimizers());
  return all;
}

void Optimizer::add(const std::string& name, const Tensor& parameter, const ParameterGroup& group) {
  Slot slot{name, parameter, Tensor::zeros(parameter.shape()), {}, group};
  if (kind_of(config_.optimizer).moments > 1) slot.v = Tensor::zeros(parameter.shape());
  for (Index begin = 0; begin < parameter.count(); begin += kPiece) {
    pieces_.push_back({slots_.size(), begin, std::min(kPiece, parameter.count() - begin)});
  }
  numbers_ += parameter.count();
  sums_.resize(pieces_.size());
  slots_.push_back(std::move(slot));
}

namespace {

/// Writes elements [begin, begin + length) of a gradient that is stored by rows to `out`.
void write_rows(const Storage& few, Index begin, Index length, Scalar* out) {
  const Index width = few.count / std::ssize(few.rows);
  std::fill_n(out, length, Scalar{0});
  auto row = std::ranges::lower_bound(few.rows, begin / width);
  for (; row != few.rows.end() && *row * width < begin + length; ++row) {
    const Index first = std::max(begin, *row * width),
                end = std::min(begin + length, (*row + 1) * width);
    const Index from = (row - few.rows.begin()) * width + first - *row * width;
    std::copy_n(few.data() + from, end - first, out + first - begin);
  }
}

}  // namespace

/// Returns the gradient of a piece, or null if the parameter has none. `memory` holds the piece if
/// the gradient is stored by rows.
Scalar* Optimizer::gradient_of(const Piece& piece, Scalar* memory) const {
  const Storage* const grad = GradientStorage::of(slots_[piece.slot].parameter);
  if (grad == nullptr) return nullptr;
  if (grad->rows.empty()) return grad->data() + piece.begin;
  write_rows(*grad, piece.begin, piece.length, memory);
  return memory;
}

double Optimizer::gradient_norm() const {
  parallel_for(std::ssize(pieces_), pass_over(numbers_), [&](Index i) {
    const Scratch<Scalar> memory(kPiece);
    const Scalar* grad = gradient_of(pieces_[i], memory.data());
    sums_[i] = grad != nullptr ? sum_of_squares(pieces_[i].length, grad) : 0;
  });
  return std::sqrt(std::accumulate(sums_.begin(), sums_.end(), 0.0));
}

/// Returns whether all elements are finite; true if the tensor is undefined.
static bool is_finite(const Tensor& x) { return !x.defined() || all_finite(x.count(), x.data()); }

std::string Optimizer::first_not_finite() const {
  for (const Slot& slot : slots_) {
    if (!is_finite(slot.parameter.grad())) return slot.name;
  }
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
  parallel_for(std::ssize(pieces_), pass_over(7 * numbers_), [&](Index i) {
    const Scratch<Scalar> memory(kPiece);
    if (Scalar* grad = gradient_of(pieces_[i], memory.data())) {
      step_piece(pieces_[i], grad, lr, scale);
    }
  });
  zero_grad();
}

void Optimizer::step_piece(const Piece& piece, Scalar* g, double lr, Scalar scale) {
  const Slot& slot = slots_[piece.slot];
  const auto from = [&](const Tensor& x) { return x.data() + piece.begin; };
  const bool decays = slot.group.decay && slot.parameter.rank() >= 2;
  kind_of(config_.optimizer)
      .step({config_, steps_, lr * slot.group.lr_scale, decays ? config_.decay : 0, scale,
             piece.length, g, from(slot.parameter), from(slot.m),
             slot.v.defined() ? from(slot.v) : nullptr});
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
      if (known) {
        read_into(file.at(name), moment);
      } else {
        std::ranges::fill(moment.values(), Scalar{0});
      }
    };
    load_moment(m, slot.m);
    if (slot.v.defined()) load_moment(v, slot.v);
  }
  steps_ = steps;
}

}}  // namespace headlab
