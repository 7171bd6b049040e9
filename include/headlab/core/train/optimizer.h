// Optimizers. Each kind is a row of a table with a step function. Parameters are added one by one,
// with a name under which their moments are saved; renaming a parameter therefore breaks saved
// states. Read next: trainer.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/safetensors.h"
#include "headlab/core/tensor/tensor.h"
#include "headlab/core/train/config.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Arguments of one step on a range of a parameter's elements.
struct OptimizerStep {
  const TrainConfig& config;
  Index step;           // from 1: t in the bias corrections
  double lr, decay;     // of this parameter
  Scalar scale;         // factor on g if the norm of all gradients is clipped
  Index count;          // number of elements in each array
  Scalar *g, *w, *m;    // gradients, weights, moments
  Scalar* v = nullptr;  // second moments, if the optimizer keeps two
};

/// An optimizer: its name in settings, its formula with its source (shown by `explain`), the number
/// of moments per weight (1: m, 2: also v), and its step.
struct OptimizerEntry {
  const char *name, *summary;
  int moments;
  void (*step)(const OptimizerStep& step);
};
/// Returns the table, indexed by OptimizerKind; rows of a program that uses this library follow.
std::span<const OptimizerEntry> optimizer_table();
/// Returns the rows of a program that uses this library. Add to them before the table is first
/// read.
std::vector<OptimizerEntry>& own_optimizers();
inline const OptimizerEntry& kind_of(OptimizerKind kind) {
  return optimizer_table()[static_cast<std::size_t>(kind)];
}

/// Settings of parameters that are treated differently from the rest.
struct ParameterGroup {
  double lr_scale = 1;  // times the learning rate of the step
  bool decay = true;    // false: no weight decay; tensors with fewer than two axes never have it
};

class Optimizer {
 public:
  explicit Optimizer(const TrainConfig& config) : config_(config) {}

  /// Keeps the handle and updates the tensor in place. `name` is that of its moments in a saved
  /// state.
  void add(const std::string& name, const Tensor& parameter, const ParameterGroup& group = {});

  /// Returns the norm of all gradients together, sqrt(sum of g^2). It is not finite if any element
  /// is not.
  double gradient_norm() const;
  /// Returns the name of a parameter whose gradient holds a number that is not finite; "" if there
  /// is none.
  std::string first_not_finite() const;
  /// Returns the name, as in a saved state, of a parameter or moment that holds a number that is
  /// not finite; "" if there is none.
  std::string first_damaged() const;

  /// Takes one step with g = gradient, times clip / (norm + 1e-6) if `norm` exceeds config.clip >
  /// 0: adamw: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= lr decay w; w -= lr
  /// mhat / (sqrt(vhat) + eps), mhat = m / (1 - beta1^t), vhat = v / (1 - beta2^t) (Loshchilov and
  /// Hutter 2019); adam: the same with g += decay w in place of the first (Kingma and Ba 2015);
  /// sgd: g += decay w; m = momentum m + g; w -= lr m.
  /// Parameters without a gradient do not change. Clears all gradients.
  void step(double lr, double norm);
  void zero_grad();
  /// t in the bias corrections: the number of steps taken.
  Index steps() const { return steps_; }

  /// Store and load the moments as "optimizer.m.NAME" and "optimizer.v.NAME"; the caller keeps the
  /// number of steps. If the file does not name a parameter, `load` sets its moments to 0, because
  /// an experiment may add parameters to an existing run. Error if a moment has another shape or
  /// lacks its pair.
  void store(TensorFile& file) const;
  void load(const TensorFile& file, Index steps);

 private:
  struct Slot {
    std::string name;
    Tensor parameter, m, v;
    ParameterGroup group;
  };
  /// Elements [begin, begin + length) of a slot.
  struct Piece {
    std::size_t slot;
    Index begin, length;
  };
  Scalar* gradient_of(const Piece& piece, Scalar* memory) const;
  void step_piece(const Piece& piece, Scalar* g, double lr, Scalar scale);

  TrainConfig config_;
  std::vector<Slot> slots_;
  std::vector<Piece> pieces_;         // of all slots: the tasks of loops over all parameters
  Index numbers_ = 0;                 // elements of all parameters
  mutable std::vector<double> sums_;  // one for each piece
  Index steps_ = 0;
};

}}  // namespace headlab
