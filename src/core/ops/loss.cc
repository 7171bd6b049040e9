// Cross-entropy of a linear map in one op. Backward needs logits, and their gradient follows from
// them alone, so the forward pass turns each block of logits into its gradient in place and adds
// that to the gradients of x, W and b. Backward only passes these on, times dLoss, which is 1 in a
// training step. A block has a multiple of 512 rows: products add their terms in blocks of 512, so
// the gradients of W and b have the bits of one product over all rows. Read next:
// src/core/kernels/gemm.h.
#include "headlab/core/ops/loss.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/kernels/elementwise.h"
#include "core/kernels/gemm.h"
#include "core/kernels/rows.h"
#include "core/ops/targets.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/ops/matmul.h"
#include "headlab/core/ops/rows.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

constexpr Index kRowsOfBlock = 512;
/// A block has about this many logits, so that small vocabularies need one block only.
constexpr Index kLogitsOfBlock = Index{1} << 22;

/// The sizes of a map: x [rows, C], logits [rows, K*V].
struct Sizes {
  Index rows, inputs, outputs, targets, classes;

  Sizes(const ClassMap& map, Index target_count) {
    const auto& [x, W, b, transposed] = map;
    require(x.rank() >= 1 && W.rank() == 2 && x.size(-1) == W.size(transposed ? 1 : 0),
            "cannot compute linear_cross_entropy: x ", x.shape(), " does not fit W ", W.shape(),
            transposed ? ", which is transposed" : "");
    rows = x.shape().count(0, x.rank() - 1);
    inputs = x.size(-1);
    outputs = W.size(transposed ? 0 : 1);
    require(!b.defined() || (!transposed && b.shape() == Shape{outputs}),
            "cannot compute linear_cross_entropy: W ", W.shape(), " needs b [", outputs,
            "], or none if W is transposed, got ", b.defined() ? b.shape() : Shape{});
    targets = rows == 0 ? 1 : target_count / rows;
    require(targets * rows == target_count && targets >= 1 && outputs % targets == 0,
            "cannot compute linear_cross_entropy: ", target_count, " targets do not fit ", rows,
            " rows of ", outputs, " logits");
    classes = outputs / targets;
  }
};

/// The gradients of the inputs for dLoss = 1; undefined if they are not required.
struct Gradients {
  Tensor x, W, b;

  Gradients(const ClassMap& map) {
    if (!grad_enabled()) return;
    if (map.x.requires_grad()) x = Tensor::empty(map.x.shape());
    if (map.W.requires_grad()) W = Tensor::empty(map.W.shape());
    if (map.b.requires_grad()) b = Tensor::zeros(map.b.shape());
  }
  bool any() const { return x.defined() || W.defined() || b.defined(); }
};

Scalar* data_or_null(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

/// The logits of one block of rows, and the products that they take part in.
class Block {
 public:
  Block(const ClassMap& map, const Sizes& sizes)
      : map_(map),
        sizes_(sizes),
        rows_(std::min(rows_of_logits(sizes.outputs), sizes.rows)),
        logits_(Tensor::empty({rows_, sizes.outputs})) {}

  Scalar* logits() const { return logits_.data(); }
  Index rows() const { return rows_; }

  /// Computes the logits of rows [at, at + rows).
  void compute(Index at, Index rows) const {
    const Index C = sizes_.inputs, N = sizes_.outputs;
    gemm({.m = rows,
          .n = N,
          .k = C,
          .a = {x(at), C},
          .b = weights(),
          .c = logits(),
          .c_stride = N,
          .finish = {.bias = data_or_null(map_.b)}});
  }

  /// Adds to the gradients, given dLoss/dlogits of rows [at, at + rows) in the place of the logits.
  void propagate(Index at, Index rows, const Gradients& to) const {
    const Index C = sizes_.inputs, N = sizes_.outputs;
    const Gemm dx{.m = to.x.defined() ? rows : 0,
                  .n = C,
                  .k = N,
                  .a = {logits(), N},
                  .b = weights().transposed(),
                  .c = to.x.defined() ? to.x.data() + at * C : nullptr,
                  .c_stride = C};
    const ConstMatrix block_of_x{x(at), C}, dlogits{logits(), N};
    const bool swapped = map_.transposed;
    const Gemm dW{.m = to.W.defined() ? map_.W.size(0) : 0,
                  .n = map_.W.size(1),
                  .k = rows,
                  .a = (swapped ? dlogits : block_of_x).transposed(),
                  .b = swapped ? block_of_x : dlogits,
                  .c = data_or_null(to.W),
                  .c_stride = map_.W.size(1),
                  .accumulate = at > 0,
                  .column_sums = data_or_null(to.b)};
    gemm_together(std::array{dx, dW});
  }

 private:
  const Scalar* x(Index row) const { return map_.x.data() + row * sizes_.inputs; }
  ConstMatrix weights() const {
    const ConstMatrix stored{map_.W.data(), map_.W.size(1)};
    return map_.transposed ? stored.transposed() : stored;
  }

  const ClassMap& map_;
  const Sizes& sizes_;
  Index rows_;
  Tensor logits_;
};

/// Computes the loss of each target and, if any are required, the gradients; returns the losses.
Tensor run(const ClassMap& map, const Sizes& sizes, std::span<const std::int32_t> targets,
           double divisor, const Gradients& gradients) {
  const Index K = sizes.targets, V = sizes.classes;
  Tensor losses = Tensor::empty({sizes.rows * K}), log_sum_exp = Tensor::empty({sizes.rows * K});
  const Block block(map, sizes);
  Index at = 0;
  do {  // also without rows: gradients of weights must become zero then
    const Index rows = std::min(block.rows(), sizes.rows - at), first = at * K;
    block.compute(at, rows);
    cross_entropy_forward({rows * K, V, block.logits(), targets.data() + first,
                           losses.data() + first, log_sum_exp.data() + first});
    if (gradients.any()) {
      cross_entropy_backward({.rows = rows * K,
                              .n = V,
                              .x = block.logits(),
                              .targets = targets.data() + first,
                              .log_sum_exp = log_sum_exp.data() + first,
                              .scale = static_cast<Scalar>(1 / divisor),
                              .dx = {block.logits(), false}});
      block.propagate(at, rows, gradients);
    }
    at += rows;
  } while (at < sizes.rows);
  return losses;
}

}  // namespace

Index rows_of_logits(Index outputs) {
  const Index blocks = kLogitsOfBlock / (kRowsOfBlock * std::max<Index>(1, outputs));
  return kRowsOfBlock * std::max<Index>(1, blocks);
}

Tensor linear_cross_entropy(const ClassMap& map, std::span<const std::int32_t> targets,
                            double denominator) {
  const Sizes sizes(map, static_cast<Index>(targets.size()));
  const Index valid = count_targets("linear_cross_entropy", targets, sizes.classes);
  const double divisor =
      denominator > 0 ? denominator : std::max<double>(1, static_cast<double>(valid));
  const Gradients gradients(map);
  const Tensor losses = run(map, sizes, targets, divisor, gradients);
  const double total = std::accumulate(losses.values().begin(), losses.values().end(), 0.0);
  std::array inputs{map.x, map.W, map.b};
  separate(inputs);
  return record("linear_cross_entropy", Tensor::scalar(static_cast<Scalar>(total / divisor)),
                inputs, [gradients](Node& node) {
                  GradientStorage::give(node, 0, gradients.x);
                  GradientStorage::give(node, 1, gradients.W);
                  GradientStorage::give(node, 2, gradients.b);
                });
}

Tensor linear_cross_entropy_composed(const ClassMap& map, std::span<const std::int32_t> targets,
                                     double denominator) {
  const Sizes sizes(map, static_cast<Index>(targets.size()));
  const Tensor logits =
      map.transposed ? matmul(map.x, map.W, {.transpose_b = true}) : linear(map.x, map.W, map.b);
  const Shape rows{sizes.rows * sizes.targets, sizes.classes};
  return cross_entropy(reshape(logits, rows), targets, denominator);
}

}}  // namespace headlab
