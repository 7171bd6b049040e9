// The layers between attention: linear maps, norms and the feed-forward network, and the tables of
// their kinds: a kind is a row, and all that differs between kinds stands in it. A layer is a plain
// struct: its members are its parameters, `forward` computes, and `visit` names the
// parameters. Optimizer, checkpoint, pruning and the parameter count all read `visit`, so a name
// stands in one place only. Parameters start at zero (gains at 1); model/initial.h gives a whole
// model its initial values. Read next: attention.h.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Called with the full name of each parameter, such as "blocks.0.attn.W_Q".
using ParameterVisitor = std::function<void(const std::string& name, const Tensor& parameter)>;

/// The deviations by which the norms of a forward pass divide, in the order in which they
/// run. A pass that is given those of another one divides by them: what it changes beside the scale
/// of its streams can then be told.
struct NormScales {
  std::vector<Tensor> deviations{};  // [..., 1]
  bool given = false;                // else a pass adds its own
  std::size_t next = 0;              // of those that are given

  /// Those of the next norm: given, or its own, which are added.
  Tensor use(const std::function<Tensor()>& own);
};

/// What a forward pass knows beside its inputs. Dropout is active while training and draws from
/// `key`, which the trainer folds from (seed, purpose, step, micro-batch); each module folds in its
/// own name. `frozen` makes constants of the patterns of attention and of the deviations by which
/// norms divide: the values are the same, but gradients pass neither, so that without a
/// feed-forward network the logits are a linear function of embeddings and biases, and gradient x
/// input sums to them.
struct ForwardContext {
  bool training = false;
  Key key{};
  bool frozen = false;
  NormScales* norms = nullptr;  // of the norms, if anybody asks

  ForwardContext inside(std::string_view module) const {
    return {training, key.fold(module), frozen, norms};
  }
};

/// A parameter: a leaf of zeros that requires a gradient.
Tensor parameter(const Shape& shape, Scalar value = 0);

/// y = x W + b; x [..., in], W [in, out], b [out].
struct Linear {
  Tensor W, b;

  Linear() = default;
  Linear(Index in, Index out, bool bias = true);
  Tensor forward(const Tensor& x) const;
  /// Names: prefix + "W" + label and prefix + "b" + label, such as "blocks.0.attn." "W" "_Q".
  void visit(const std::string& prefix, const std::string& label, const ParameterVisitor& f) const;
};

enum class NormType { layer, rms, none };

/// A kind of norm, y = (x - mean) / deviation w + b over the last axis: its name in settings, what
/// it is with its source (help and `explain` say it), whether it has a w, whether it has a b and
/// whether it takes the mean off, the deviation [..., 1] of rows whose mean is off, and all of it
/// as one op, or null where there is none. Analysis reads the properties.
struct NormKind {
  const char *name, *summary;
  bool has_gain, has_bias, centres;
  Tensor (*deviation)(const Tensor& rows, Scalar eps);
  Tensor (*fused)(const Tensor& x, const Tensor& w, const Tensor& b, Scalar eps);
};
extern const std::span<const NormKind> kNorms;  // by NormType
inline const NormKind& kind_of(NormType norm) { return kNorms[static_cast<std::size_t>(norm)]; }

/// A norm with its gains w and its bias b, if its kind has them. In a frozen context the
/// deviation is a constant: dx = (g - mean(g)) / deviation, g = dy w, without mean(g) where the
/// kind does not centre.
struct NormLayer {
  Tensor w, b;
  NormType type = NormType::layer;
  Scalar eps = Scalar(1e-5);

  NormLayer() = default;
  explicit NormLayer(Index width, NormType kind = NormType::layer, bool bias = true);
  Tensor forward(const Tensor& x, const ForwardContext& context = {}) const;
  void visit(const std::string& prefix, const ParameterVisitor& f) const;
};

enum class Activation { gelu, relu, swiglu, geglu, gelu_erf };

/// y = f(x W_in + b_in) W_out + b_out; x, y [..., C]; or, gated, (f(x W_gate + b_gate) (x W_in +
/// b_in)) W_out + b_out. f is a row of kActivations.
struct FeedForward {
  Linear in, out, gate;
  Activation activation = Activation::gelu;

  FeedForward() = default;
  FeedForward(Index width, Index hidden, Activation f, bool bias = true);
  Tensor forward(const Tensor& x) const;
  void visit(const std::string& prefix, const ParameterVisitor& f) const;
};

/// A kind of feed-forward network: its name in settings, what f is, how many matrices between the
/// width of the model and its own it has (of three the third is W_gate), and what it computes.
struct ActivationKind {
  const char *name, *summary;
  Index matrices;
  Tensor (*forward)(const FeedForward& mlp, const Tensor& x);
};
extern const std::span<const ActivationKind> kActivations;  // by Activation
inline const ActivationKind& kind_of(Activation activation) {
  return kActivations[static_cast<std::size_t>(activation)];
}

enum class Positions { learned, sinusoidal, none, rotary, alibi };

/// How a model knows positions: the name in settings, what it does, whether the table is a
/// parameter, what the width of the model and that of a head's queries must be multiples of, the
/// table [length, width] that is added to the embedding (undefined: none), and the table
/// [2, length, d_head] by which self-attention turns queries and keys (ops/attention.h, `rotary`;
/// null: it does not), and by how much the scores of self-attention fall with each position of
/// distance, by the original index of a head (null: not at all). A distance bias is a kind of
/// positions and no attention function: it takes the place of other positions, and goes with every
/// attention function.
struct PositionKind {
  const char *name, *summary;
  bool is_parameter;
  Index multiple, head_multiple;
  Tensor (*table)(Index length, Index width);
  Tensor (*turning)(Index length, Index d_head, double base);
  double (*slope)(Index head, Index heads) = nullptr;
};
extern const std::span<const PositionKind> kPositions;  // by Positions
inline const PositionKind& kind_of(Positions positions) {
  return kPositions[static_cast<std::size_t>(positions)];
}

/// [T, C]: P[t, 2i] = sin(t / 10000^(2i/C)), P[t, 2i+1] = cos(t / 10000^(2i/C)) (Vaswani et al.
/// 2017, section 3.5).
Tensor sinusoidal_positions(Index length, Index width);

}}  // namespace headlab
