// Softmax and the loss. Cross-entropy keeps log-sum-exp of each row and no probabilities: the
// backward pass computes them again, which is cheaper than to write and read them. Read next:
// kernels/rows.h, norm.cc.
#include "headlab/ops/softmax.h"

#include <algorithm>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/kernels/rows.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

Index width_of(const char* op, const Tensor& x) {
  require(x.rank() >= 1, op, ": needs at least one axis");
  return x.size(-1);
}

Index rows_of(const Tensor& x) { return x.shape().count(0, x.rank() - 1); }

Index count_targets(std::span<const std::int32_t> targets, Index vocab) {
  Index valid = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    require(targets[i] >= -1 && targets[i] < vocab, "cross_entropy: target ", targets[i],
            " at position ", i, " is neither -1 nor in [0, ", vocab, ")");
    valid += targets[i] >= 0;
  }
  return valid;
}

}  // namespace

Tensor softmax(const Tensor& x) {
  const Index n = width_of("softmax", x), rows = rows_of(x);
  Tensor y = Tensor::empty(x.shape());
  softmax_forward(rows, n, x.data(), y.data());
  return record("softmax", y, {x}, [rows, n](Node& node) {
    if (const GradientSlot dx = node.slot(0))
      softmax_backward({rows, n, node.output(), node.gradient(), dx.data, dx.accumulate});
  });
}

Tensor log_softmax(const Tensor& x) {
  const Index n = width_of("log_softmax", x), rows = rows_of(x);
  Tensor y = Tensor::empty(x.shape());
  log_softmax_forward(rows, n, x.data(), y.data());
  return record("log_softmax", y, {x}, [rows, n](Node& node) {
    if (const GradientSlot dx = node.slot(0))
      log_softmax_backward({rows, n, node.output(), node.gradient(), dx.data, dx.accumulate});
  });
}

Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets,
                     double denominator) {
  const Index n = width_of("cross_entropy", logits), rows = rows_of(logits);
  require(static_cast<Index>(targets.size()) == rows, "cross_entropy: logits ", logits.shape(),
          " need ", rows, " targets, got ", targets.size());
  const Index valid = count_targets(targets, n);
  const double divisor =
      denominator > 0 ? denominator : std::max<double>(1, static_cast<double>(valid));
  Tensor losses = Tensor::empty({rows}), log_sum_exp = Tensor::empty({rows});
  cross_entropy_forward(
      {rows, n, logits.data(), targets.data(), losses.data(), log_sum_exp.data()});
  const double total = std::accumulate(losses.values().begin(), losses.values().end(), 0.0);
  return record("cross_entropy", Tensor::scalar(static_cast<Scalar>(total / divisor)), {logits},
                [=, kept = Ids(targets.begin(), targets.end())](Node& node) {
                  if (const GradientSlot dx = node.slot(0)) {
                    const auto scale =
                        static_cast<Scalar>(static_cast<double>(*node.gradient()) / divisor);
                    cross_entropy_backward({rows, n, node.input(0).data(), kept.data(),
                                            log_sum_exp.data(), scale, dx.data, dx.accumulate});
                  }
                });
}

}}  // namespace headlab
