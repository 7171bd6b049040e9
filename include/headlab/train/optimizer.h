// Optimizers: each is a row of a table. Parameters are added one by one, with a name under which
// their moments are saved.
// Read next: trainer.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/safetensors.h"
#include "headlab/tensor/tensor.h"
#include "headlab/train/config.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A step of some numbers of a parameter.
struct OptimizerStep {
  const TrainConfig& config;
  Index step;           // from 1: t in the bias corrections
  double lr, decay;     // of this parameter
  Scalar scale;         // g counts times this where the norm of all gradients is clipped
  Index count;          // of elements in each array
  Scalar *g, *w, *m;    // gradients, weights, moments
  Scalar* v = nullptr;  // second moments, where the optimizer keeps two
};

/// An optimizer: its name in settings, what it computes with its source (`explain` says it), how
/// many moments it keeps for each weight (1: m, 2: v as well), and its step.
struct OptimizerEntry {
  const char *name, *summary;
  int moments;
  void (*step)(const OptimizerStep& step);
};
/// By OptimizerKind; after ours those of a program that uses this library.
std::span<const OptimizerEntry> optimizer_table();
/// To be filled before the table is first read.
std::vector<OptimizerEntry>& own_optimizers();
inline const OptimizerEntry& kind_of(OptimizerKind kind) {
  return optimizer_table()[static_cast<std::size_t>(kind)];
}

/// How some parameters are treated differently from the rest.
struct ParameterGroup {
  double lr_scale = 1;  // times the learning rate of the step
  bool decay = true;    // false: no weight decay; tensors with fewer than two axes never have it
};

class Optimizer {
 public:
  explicit Optimizer(const TrainConfig& config) : config_(config) {}

  /// Keeps the handle: the tensor behind it is updated in place.
  void add(const std::string& name, const Tensor& parameter, const ParameterGroup& group = {});

  /// The norm over all gradients together: sqrt(sum of g^2). Not finite if any element is not.
  double gradient_norm() const;
  /// The name of a parameter whose gradient holds a number that is not finite; "" if there is none.
  std::string first_not_finite() const;
  /// The same for parameters and moments: what a saved state holds, by its names there.
  std::string first_damaged() const;

  /// One step with g = gradient, times clip / (norm + 1e-6) where `norm` exceeds config.clip > 0:
  /// adamw: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= lr decay w; w -= lr
  /// mhat / (sqrt(vhat) + eps), mhat = m / (1 - beta1^t), vhat = v / (1 - beta2^t) (Loshchilov and
  /// Hutter 2019); adam: the same with g += decay w in place of the first (Kingma and Ba 2015);
  /// sgd: g += decay w; m = momentum m + g; w -= lr m.
  /// Parameters without a gradient are left alone. Clears all gradients.
  void step(double lr, double norm);
  void zero_grad();
  /// Steps taken: t in the bias corrections.
  Index steps() const { return steps_; }

  /// Moments as "optimizer.m.NAME" and "optimizer.v.NAME"; the caller keeps the number of steps.
  /// `load` sets the moments of a parameter that the file does not name to 0, because an experiment
  /// may add parameters to a run that has begun. Error for a moment of another shape, or without
  /// its pair.
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
  void find_gradients() const;
  void step_piece(const Piece& piece, Scalar* g, double lr, Scalar scale);

  TrainConfig config_;
  std::vector<Slot> slots_;
  std::vector<Piece> pieces_;           // of all slots: the tasks of a loop over all parameters
  mutable std::vector<double> sums_;    // one for each piece
  mutable std::vector<Scalar*> grads_;  // one for each slot, of the loop that runs
  Index steps_ = 0;
};

}}  // namespace headlab
