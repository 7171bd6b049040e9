// Layers other than attention: linear maps, norms, feed-forward networks, and the tables of their
// kinds. A kind is one row, which holds every difference between kinds. A layer is a plain struct:
// its members are its parameters, `forward` computes, and `visit` names the parameters. Optimizer,
// checkpoint, pruning and the parameter count all use `visit`, so each name is written once.
// Parameters start at zero (gains at 1); core/model/initial.h sets the initial values of a whole
// model. Read next: attention.h.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/random.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A function called with the full name of each parameter, such as "blocks.0.attn.W_Q".
using ParameterVisitor = std::function<void(const std::string& name, const Tensor& parameter)>;

/// Deviations by which the norms of a forward pass divide, in the order in which the norms run. A
/// pass can be given the deviations of another pass and divides by them; this separates a change of
/// direction from a change of scale.
struct NormScales {
  std::vector<Tensor> deviations{};  // [..., 1]
  bool given = false;                // whether the pass uses the given deviations; otherwise it
                                     // adds its own
  std::size_t next = 0;              // index of the next given deviation

  /// Returns the deviation of the next norm: a given one, or the result of `own`, which is added.
  Tensor use(const std::function<Tensor()>& own);
};

/// Settings of a forward pass other than its inputs. Dropout is active while training and draws
/// from `key`, which the trainer folds from (seed, purpose, step, micro-batch); each layer folds in
/// its own name. `frozen` treats attention patterns and the deviations of norms as constants:
/// values are unchanged, but no gradient passes through them. Without a feed-forward network the
/// logits are then a linear function of embeddings and biases, and gradient x input sums to them.
struct ForwardContext {
  bool training = false;
  Key key{};
  bool frozen = false;
  NormScales* norms = nullptr;  // deviations of the norms; null: not recorded

  ForwardContext inside(std::string_view attention_layer) const {
    return {training, key.fold(attention_layer), frozen, norms};
  }
};

/// A leaf filled with `value` that requires a gradient.
Tensor parameter(const Shape& shape, Scalar value = 0);

/// y = x W + b; x [..., in], W [in, out], b [out].
struct Linear {
  Tensor W, b;

  Linear() = default;
  Linear(Index in, Index out, bool bias = true);
  Tensor forward(const Tensor& x) const;
  /// Visits W and b as prefix + "W" + label and prefix + "b" + label, such as "blocks.0.attn." "W"
  /// "_Q".
  void visit(const std::string& prefix, const std::string& label, const ParameterVisitor& f) const;
};

enum class NormType { layer, rms, none };

/// A kind of norm, y = (x - mean) / deviation w + b over the last axis: its name in settings, its
/// formula and source for help and `explain`, whether it has a w, whether it has a b, whether it
/// subtracts the mean, the deviation [..., 1] of centred rows, and the norm as one op (null if
/// there is none). Analyses read these properties.
struct NormKind {
  const char *name, *summary;
  bool has_gain, has_bias, centres;
  Tensor (*deviation)(const Tensor& rows, Scalar eps);
  Tensor (*fused)(const Tensor& x, const Tensor& w, const Tensor& b, Scalar eps);
};
extern const std::span<const NormKind> kNorms;  // indexed by NormType
inline const NormKind& kind_of(NormType norm) { return kNorms[static_cast<std::size_t>(norm)]; }

/// A norm with its gains w and its bias b, if its kind has them. In a frozen context the
/// deviation is a constant: dx = (g - mean(g)) / deviation, g = dy w, without mean(g) if the kind
/// does not centre.
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

/// A kind of feed-forward network: its name in settings, the formula of f, the number of matrices
/// between the width of the model and its own (the third is W_gate), and the function.
struct ActivationKind {
  const char *name, *summary;
  Index matrices;
  Tensor (*forward)(const FeedForward& mlp, const Tensor& x);
};
extern const std::span<const ActivationKind> kActivations;  // indexed by Activation
inline const ActivationKind& kind_of(Activation activation) {
  return kActivations[static_cast<std::size_t>(activation)];
}

enum class Positions { learned, sinusoidal, none, rotary, alibi };

/// A kind of position encoding: its name in settings, its description, whether the table is a
/// parameter, the number of which the width of the model and of a head's queries must be multiples,
/// the table [length, width] that is added to the embedding (undefined: none), the table [2,
/// length, d_head] that rotates queries and keys of self-attention (core/ops/attention.h, `rotary`;
/// null: none), and the slope by which scores of self-attention fall with distance, by the original
/// index of a head (null: none). A distance bias is a kind of position encoding and not an
/// attention function: it replaces other positions and works with every attention function.
struct PositionKind {
  const char *name, *summary;
  bool is_parameter;
  Index multiple, head_multiple;
  Tensor (*table)(Index length, Index width);
  Tensor (*rotary_table)(Index length, Index d_head, double base);
  double (*slope)(Index head, Index heads) = nullptr;
};
extern const std::span<const PositionKind> kPositions;  // indexed by Positions
inline const PositionKind& kind_of(Positions positions) {
  return kPositions[static_cast<std::size_t>(positions)];
}

/// Returns [T, C]: P[t, 2i] = sin(t / 10000^(2i/C)), P[t, 2i+1] = cos(t / 10000^(2i/C)) (Vaswani et
/// al. 2017, section 3.5).
Tensor sinusoidal_positions(Index length, Index width);

}}  // namespace headlab
