// What modules share. A module is a plain struct: its members are its parameters and sub-modules,
// `forward` computes, and `visit` names the parameters. Optimizer, checkpoint, pruning and the
// parameter count all read `visit`, so a name stands in one place only. Read next: layers.h,
// attention.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "headlab/base/random.h"
#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Called with the full name of each parameter, such as "blocks.0.attn.W_Q".
using ParameterVisitor = std::function<void(const std::string& name, Tensor& parameter)>;
using ConstParameterVisitor = std::function<void(const std::string& name, const Tensor& parameter)>;

/// What a forward pass knows beside its inputs. Dropout is active while training and draws from
/// `key`, which the trainer folds from (seed, purpose, step, micro-batch); each module folds in its
/// own name. `frozen` makes constants of the patterns of attention and of the deviations by which
/// layer norms divide: the values are the same, but gradients pass neither, so that without a
/// feed-forward network the logits are a linear function of embeddings and biases, and gradient x
/// input sums to them.
struct ForwardContext {
  bool training = false;
  Key key{};
  bool frozen = false;

  ForwardContext inside(std::string_view module) const {
    return {training, key.fold(module), frozen};
  }
};

/// A parameter: a leaf of zeros that requires a gradient.
Tensor parameter(const Shape& shape, Scalar value = 0);

}}  // namespace headlab
