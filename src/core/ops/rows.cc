// Sums along an axis, and ops on rows. Cross-entropy keeps log-sum-exp of each row instead of
// probabilities: recomputing them in the backward pass is cheaper than to write and read them.
// Layer norm keeps mean and 1/deviation of each row. Read next: src/core/kernels/rows.h, layout.cc.
#include "headlab/core/ops/rows.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/kernels/pieces.h"
#include "core/kernels/rows.h"
#include "core/ops/targets.h"
#include "headlab/core/base/error.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// x viewed as rows of n elements.
struct Rows {
  Index count, n;
};

Rows rows_of(const char* op, const Tensor& x) {
  require(x.rank() >= 1, "cannot compute ", op, ": it needs at least one axis");
  return {x.shape().count(0, x.rank() - 1), x.size(-1)};
}

/// Computes layer norm of {x, gain, bias}, or RMSNorm, which does not subtract the mean.
Tensor normalised(const char* name, const std::array<Tensor, 3>& inputs, Scalar eps, bool centred) {
  const auto& [x, gain, bias] = inputs;
  const Rows rows = rows_of(name, x);
  const Shape width{rows.n};
  require(gain.shape() == width && (!bias.defined() || bias.shape() == width), "cannot compute ",
          name, ": x ", x.shape(), " needs gain and bias [", rows.n, "], got ", gain.shape(),
          " and ", bias.defined() ? bias.shape() : Shape{});
  Tensor y = Tensor::empty(x.shape()), mean = Tensor::empty({rows.count}),
         rstd = Tensor::empty({rows.count});
  layer_norm_forward({rows.count, rows.n, eps, x.data(), gain.data(),
                      bias.defined() ? bias.data() : nullptr, y.data(), mean.data(), rstd.data(),
                      centred});
  return record(name, y, inputs, [rows, mean, rstd, centred](Node& node) {
    layer_norm_backward({.rows = rows.count,
                         .n = rows.n,
                         .x = node.input(0).data(),
                         .gain = node.input(1).data(),
                         .mean = mean.data(),
                         .rstd = rstd.data(),
                         .dy = node.gradient(),
                         .dx = node.slot(0),
                         .dgain = node.sum_into(1),
                         .dbias = node.sum_into(2),
                         .centred = centred});
  });
}

}  // namespace

Tensor sum(const Tensor& x, int axis, bool keep) {
  axis = x.shape().axis_of(axis);  // x is viewed as [outer, n, inner]
  const Index n = x.size(axis), inner = x.shape().count(axis + 1, x.rank());
  const Index outer = x.shape().count(0, axis);
  Tensor y = Tensor::zeros(keep ? x.shape().with(axis, 1) : x.shape().without(axis));
  for_rows(outer, n * inner, [&, px = x.data(), py = y.data()](Index o) {
    const Scalar* in = px + o * n * inner;
    Scalar* out = py + o * inner;
    if (inner == 1) *out = std::accumulate(in, in + n, Scalar{0});
    for (Index i = 0; inner > 1 && i < n * inner; i += inner) {
      for (Index j = 0; j < inner; ++j) out[j] += in[i + j];
    }
  });
  return record("sum", y, {x}, [=](Node& node) {
    const Scalar* dy = node.gradient();
    if (Scalar* dx = node.sum_into(0)) {
      for_rows(outer * n, inner, [=](Index row) {
        for (Index j = 0; j < inner; ++j) dx[row * inner + j] += dy[row / n * inner + j];
      });
    }
  });
}

Tensor mean(const Tensor& x, int axis, bool keep) {
  require(x.size(axis) > 0, "cannot compute mean: axis ", axis, " of ", x.shape(), " is empty");
  return sum(x, axis, keep) / static_cast<Scalar>(x.size(axis));
}

Tensor sum(const Tensor& x) { return sum(reshape(x, {x.count()}), 0); }

Tensor mean(const Tensor& x) { return mean(reshape(x, {x.count()}), 0); }

Tensor softmax(const Tensor& x) {
  const Rows rows = rows_of("softmax", x);
  Tensor y = Tensor::empty(x.shape());
  softmax_forward(rows.count, rows.n, x.data(), y.data());
  return record("softmax", y, {x}, [rows](Node& node) {
    if (const GradientSlot dx = node.slot(0)) {
      softmax_backward({rows.count, rows.n, node.output(), node.gradient(), dx});
    }
  });
}

Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets,
                     double denominator) {
  const Rows rows = rows_of("cross_entropy", logits);
  require(static_cast<Index>(targets.size()) == rows.count, "cannot compute cross_entropy: logits ",
          logits.shape(), " need ", rows.count, " targets, got ", targets.size());
  const Index valid = count_targets("cross_entropy", targets, rows.n);
  const double divisor =
      denominator > 0 ? denominator : std::max<double>(1, static_cast<double>(valid));
  Tensor losses = Tensor::empty({rows.count}), log_sum_exp = Tensor::empty({rows.count});
  cross_entropy_forward(
      {rows.count, rows.n, logits.data(), targets.data(), losses.data(), log_sum_exp.data()});
  const double total = std::accumulate(losses.values().begin(), losses.values().end(), 0.0);
  return record("cross_entropy", Tensor::scalar(static_cast<Scalar>(total / divisor)), {logits},
                [=, kept = Ids(targets.begin(), targets.end())](Node& node) {
                  if (const GradientSlot dx = node.slot(0)) {
                    const auto scale =
                        static_cast<Scalar>(static_cast<double>(*node.gradient()) / divisor);
                    cross_entropy_backward({rows.count, rows.n, node.input(0).data(), kept.data(),
                                            log_sum_exp.data(), scale, dx});
                  }
                });
}

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, Scalar eps) {
  return normalised("layer_norm", {x, gain, bias}, eps, true);
}

Tensor rms_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, Scalar eps) {
  return normalised("rms_norm", {x, gain, bias}, eps, false);
}

}}  // namespace headlab
