// Layers: parameters and formulas; gradients come from src/core/ops. All parameters start at 0
// (gains at 1); initial values are set in one place, src/core/model/initial.cc. A new kind of norm,
// activation or position is a row of a table here. Read next: attention.cc.
#include "headlab/core/nn/layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "headlab/core/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Tensor parameter(const Shape& shape, Scalar value) {
  Tensor t = Tensor::full(shape, value);
  t.set_requires_grad();
  return t;
}

Linear::Linear(Index in, Index out, bool bias)
    : W(parameter({in, out})), b(bias ? parameter({out}) : Tensor()) {}

Tensor Linear::forward(const Tensor& x) const { return linear(x, W, b); }

void Linear::visit(const std::string& prefix, const std::string& label,
                   const ParameterVisitor& f) const {
  f(prefix + "W" + label, W);
  if (b.defined()) f(prefix + "b" + label, b);
}

Tensor NormScales::use(const std::function<Tensor()>& own) {
  return given ? deviations.at(next++) : deviations.emplace_back(own());
}

NormLayer::NormLayer(Index width, NormType kind, bool bias)
    : w(kind_of(kind).has_gain ? parameter({width}, 1) : Tensor()),
      b(bias && kind_of(kind).has_bias ? parameter({width}) : Tensor()),
      type(kind) {}

Tensor NormLayer::forward(const Tensor& x, const ForwardContext& context) const {
  const NormKind& kind = kind_of(type);
  const bool constant = context.frozen || context.norms != nullptr;
  if (!constant && kind.fused != nullptr) return kind.fused(x, w, b, eps);
  const Tensor rows = kind.centres ? x - mean(x, -1, true) : x;
  const auto own = [&] { return kind.deviation(constant ? rows.detach() : rows, eps); };
  Tensor y = rows / (context.norms ? context.norms->use(own) : own());
  if (w.defined()) y = y * w;
  return b.defined() ? y + b : y;
}

void NormLayer::visit(const std::string& prefix, const ParameterVisitor& f) const {
  if (w.defined()) f(prefix + "w", w);
  if (b.defined()) f(prefix + "b", b);
}

FeedForward::FeedForward(Index width, Index hidden, Activation f, bool bias)
    : in(width, hidden, bias), out(hidden, width, bias), activation(f) {
  if (kind_of(f).matrices == 3) gate = Linear(width, hidden, bias);
}

Tensor FeedForward::forward(const Tensor& x) const { return kind_of(activation).forward(*this, x); }

void FeedForward::visit(const std::string& prefix, const ParameterVisitor& f) const {
  in.visit(prefix, "_in", f);
  if (gate.W.defined()) gate.visit(prefix, "_gate", f);
  out.visit(prefix, "_out", f);
}

Tensor sinusoidal_positions(Index length, Index width) {
  Tensor table = Tensor::empty({length, width});
  for (Index t = 0; t < length; ++t) {
    for (Index c = 0; c < width; ++c) {
      const Index even = c - c % 2;  // the sine and the cosine of a pair share one rate
      const double rate =
          std::pow(10000.0, -static_cast<double>(even) / static_cast<double>(width));
      const double angle = static_cast<double>(t) * rate;
      table.data()[t * width + c] =
          static_cast<Scalar>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

namespace {

constexpr Scalar kMost = std::numeric_limits<Scalar>::infinity();

/// Returns sqrt(mean(x^2) + eps) [..., 1] if a square may overflow: each row is divided by its
/// largest absolute value first. NaN for a row with an infinity or a NaN. The result is a constant
/// without a gradient.
Tensor large_root_mean_square(const Tensor& rows, Scalar eps) {
  const Index n = rows.size(-1);
  Tensor roots = Tensor::empty(rows.shape().with(rows.rank() - 1, 1));
  for (Index row = 0; row < roots.count(); ++row) {
    const std::span<const Scalar> x(rows.data() + row * n, static_cast<std::size_t>(n));
    double largest = 0;
    for (const Scalar value : x) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const double eps_scaled = static_cast<double>(eps) / largest / largest;
    double sum = 0;
    for (const Scalar value : x) sum += std::pow(static_cast<double>(value) / largest, 2);
    const double root = largest * std::sqrt(sum / static_cast<double>(n) + eps_scaled);
    roots.data()[row] = static_cast<Scalar>(largest > 0 ? root : std::sqrt(eps));
  }
  return roots;
}

/// Returns sqrt(mean(x^2) + eps): for centred rows, their standard deviation.
Tensor root_mean_square(const Tensor& rows, Scalar eps) {
  const Tensor squares = mean(rows * rows, -1, true);
  const bool overflow = !std::ranges::all_of(squares.values(), [](Scalar x) { return x < kMost; });
  return overflow ? large_root_mean_square(rows, eps) : sqrt(squares + eps);
}

/// Returns 1 for each row: the deviation of kinds that do not divide.
Tensor one_for_each_row(const Tensor& rows, Scalar) {
  return Tensor::full(rows.shape().with(rows.rank() - 1, 1), 1);
}

Tensor unchanged(const Tensor& x, const Tensor&, const Tensor&, Scalar) { return x; }

template <Gating gating>
Tensor network(const FeedForward& mlp, const Tensor& x) {
  const auto& [in, out, gate, activation] = mlp;
  return feed_forward({x, in.W, in.b, out.W, out.b, gate.W, gate.b, gating});
}

template <Tensor (*f)(const Tensor&)>
Tensor plain_network(const FeedForward& mlp, const Tensor& x) {
  return mlp.out.forward(f(mlp.in.forward(x)));
}

Tensor no_table(Index, Index) { return {}; }

/// The formula counts heads from 1.
double alibi_slope(Index head, Index heads) {
  return std::exp2(-8 * static_cast<double>(head + 1) / static_cast<double>(heads));
}

constexpr NormKind kNormTable[] = {
    {"layer", "(x - mean) / standard deviation w + b (Ba et al. 2016)", true, true, true,
     root_mean_square, layer_norm},
    {"rms", "x / sqrt(mean(x^2)) w (Zhang and Sennrich 2019)", true, false, false, root_mean_square,
     rms_norm},
    {"none", "x as it is: no norm and no parameters", false, false, false, one_for_each_row,
     unchanged},
};

constexpr ActivationKind kActivationTable[] = {
    {"gelu", "x P(z < x), z standard normal, in its tanh form (Hendrycks and Gimpel 2016)", 2,
     network<Gating::gelu>},
    {"relu", "max(x, 0) (Nair and Hinton 2010)", 2, plain_network<relu>},
    {"swiglu", "x W_in times g / (1 + exp(-g)), g = x W_gate (Shazeer 2020)", 3,
     network<Gating::silu>},
    {"geglu", "x W_in times gelu(x W_gate) (Shazeer 2020)", 3, network<Gating::gelu>},
    {"gelu_erf", "x P(z < x), z standard normal, exactly (Hendrycks and Gimpel 2016)", 2,
     plain_network<gelu_erf>},
};

constexpr PositionKind kPositionTable[] = {
    {"learned", "a learned vector for each is added to the embedding (Gehring et al. 2017)", true,
     1, 1,
     [](Index length, Index width) {
       return parameter({length, width});
     },
     nullptr},
    {"sinusoidal", "sines and cosines are added to the embedding (Vaswani et al. 2017)", false, 2,
     1, sinusoidal_positions, nullptr},
    {"none", "no encoding: only the causal mask shows the order (Haviv et al. 2022)", false, 1, 1,
     no_table, nullptr},
    {"rotary",
     "queries and keys are rotated by their positions, so scores depend on distances (Su et al. "
     "2021)",
     false, 1, 2, no_table, rotary_table},
    {"alibi", "scores fall with distance, by 2^(-8 h/H) in head h of H (Press et al. 2021)", false,
     1, 1, no_table, nullptr, alibi_slope},
};

}  // namespace

const std::span<const NormKind> kNorms = kNormTable;
const std::span<const ActivationKind> kActivations = kActivationTable;
const std::span<const PositionKind> kPositions = kPositionTable;

}}  // namespace headlab
