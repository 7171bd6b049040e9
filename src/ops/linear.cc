// Linear maps, and the two of a feed-forward network with the GELU between. What is done to every
// element of a product (bias, residual, GELU, its slope) is done by the product while the element
// is in cache; gradients that do not wait for one another start together. A network of two maps is
// cut along its rows: a task takes some through both maps, so that what lies between is read where
// it was written, and the threads meet once forward and twice backward, where op by op it would be
// five and nine times. GELU is computed again in the backward pass: it costs less than to write its
// values and slopes to memory and read them back, and the network keeps a third of the numbers.
// Read next: kernels/gemm.h for Finish, attention.cc.
#include <algorithm>
#include <array>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"
#include "headlab/kernels/elementwise.h"
#include "headlab/kernels/gemm.h"
#include "headlab/ops/matmul.h"
#include "headlab/tensor/tape.h"
#include "kernels/scratch.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// The sizes of y = x W.
struct Sizes {
  Index rows, inputs, outputs;

  Sizes(const char* op, const Tensor& x, const Tensor& W, const Tensor& b) {
    require(W.rank() == 2 && x.rank() >= 1 && x.size(-1) == W.size(0), op, ": x ", x.shape(),
            " does not fit W ", W.shape(), "; the last axis of x must be W's first");
    rows = x.shape().count(0, x.rank() - 1), inputs = W.size(0), outputs = W.size(1);
    require(!b.defined() || b.shape() == Shape{outputs}, op, ": W ", W.shape(), " needs b [",
            outputs, "], got ", b.defined() ? b.shape() : Shape{});
  }

  Gemm forward(const Scalar* x, const Tensor& W, Scalar* y, const Finish& finish) const {
    return {rows, outputs, inputs, {x, inputs}, {W.data(), outputs}, y, outputs, false, finish};
  }
  /// dx = dy W^T; of no rows where nobody wants it.
  Gemm input_gradient(const Scalar* dy, const Tensor& W, const GradientSlot& dx,
                      const Scalar* factor = nullptr) const {
    return {.m = dx ? rows : 0,
            .n = inputs,
            .k = outputs,
            .a = {dy, outputs},
            .b = {W.data(), 1, outputs},
            .c = dx.data,
            .c_stride = inputs,
            .accumulate = dx.accumulate,
            .finish = {.factor = factor}};
  }
  /// dW = x^T dy, db += the sum of dy.
  Gemm weight_gradient(const Scalar* x, const Scalar* dy, const GradientSlot& dW,
                       Scalar* db) const {
    return {.m = dW ? inputs : 0,
            .n = outputs,
            .k = rows,
            .a = {x, 1, inputs},
            .b = {dy, outputs},
            .c = dW.data,
            .c_stride = outputs,
            .accumulate = dW.accumulate,
            .column_sums = db};
  }
};

const Scalar* data_or_null(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

void check_residual(const char* op, const Tensor& y, const Tensor& residual) {
  require(!residual.defined() || residual.shape() == y.shape(), op, ": the residual has shape ",
          residual.defined() ? residual.shape() : Shape{}, ", the output ", y.shape());
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& W, const Tensor& b, const Tensor& residual) {
  const Sizes sizes("linear", x, W, b);
  Tensor y = Tensor::empty(x.shape().with(-1, sizes.outputs));
  check_residual("linear", y, residual);
  gemm(sizes.forward(x.data(), W, y.data(),
                     {.bias = data_or_null(b), .residual = data_or_null(residual)}));
  std::array<Tensor, 4> inputs{x, W};
  std::size_t count = 2;
  const std::size_t at_b = b.defined() ? count++ : 0,
                    at_residual = residual.defined() ? count++ : 0;
  if (at_b > 0) inputs[at_b] = b;
  if (at_residual > 0) inputs[at_residual] = residual;
  return record("linear", y, std::span<const Tensor>(inputs.data(), count), [=](Node& node) {
    const GradientSlot dx = node.slot(0), dW = node.slot(1);
    Scalar* db = at_b > 0 ? node.sum_into(at_b) : nullptr;
    gemm_together(std::array{sizes.input_gradient(node.gradient(), node.input(1), dx),
                             sizes.weight_gradient(node.input(0).data(), node.gradient(), dW, db)});
    if (at_residual > 0) node.pass_to(at_residual);  // last: it may give the memory of dy away
  });
}

namespace {

/// How a feed-forward network is cut along its rows. Where its weights stay in L2, a task takes a
/// few rows through both maps; where they do not, more rows are needed to pay for reading them, and
/// it is the products that are shared by the threads.
struct RowCuts {
  static constexpr Index kTaskRows = 64, kBlockRows = 512, kWeightsInL2 = 1 << 18;
  Index rows;
  bool shared;  // the rows, by the threads

  RowCuts(Index all_rows, Index weights) : rows(all_rows), shared(weights <= kWeightsInL2) {}

  /// The most rows that a call of `body` gets.
  Index most() const { return std::min(shared ? kTaskRows : kBlockRows, rows); }

  /// Calls body(first row, rows).
  template <class Body>
  void for_each(Body body) const {
    const Index runs = shared ? thread_count() : 1, rows_of_run = (rows + runs - 1) / runs;
    const Index tasks = rows == 0 ? 0 : (rows_of_run + most() - 1) / most() * runs;
    const auto task = [&](Index i) {
      const Index begin = rows * i / tasks, end = rows * (i + 1) / tasks;
      if (begin < end) body(begin, end - begin);
    };
    if (shared) parallel_for(tasks, task);
    for (Index i = 0; i < tasks && !shared; ++i) task(i);
  }
};

/// Room for `width` numbers of every row that a call of `body` gets: of its thread where the
/// threads share the rows. Elsewhere the loops are inside the call, and a thread's scratch may move
/// when a loop ends.
class RowSpace {
 public:
  RowSpace(const RowCuts& cuts, Index width) : count_(cuts.most() * width) {
    if (!cuts.shared) own_ = Tensor::empty({count_});
  }
  Scalar* get() const {
    static Scratch scratch;
    return own_.defined() ? own_.data() : scratch.get(count_);
  }

 private:
  Index count_;
  Tensor own_;
};

Tensor transposed(const Tensor& W) {
  const Tensor result = Tensor::empty({W.size(1), W.size(0)});
  transpose_matrix(W.size(0), W.size(1), W.data(), result.data());
  return result;
}

/// The gradients of feed_forward; `before` is what GELU was applied to.
void feed_forward_backward(Node& node, Sizes first, Sizes second, const Tensor& before) {
  const Index width = first.outputs, all_rows = first.rows;
  const Shape block{std::min(RowCuts::kBlockRows, all_rows), width};
  const Tensor hidden = Tensor::empty(block), dhidden = Tensor::empty(block);
  RowCuts cuts(block[0], node.input(1).count());
  const RowSpace slopes(cuts, width);
  Tensor to_hidden, to_x;  // transposed once, not by every task
  if (cuts.shared) to_hidden = transposed(node.input(3)), to_x = transposed(node.input(1));
  GradientSlot dx = node.slot(0), dW_in = node.slot(1), dW_out = node.slot(3);
  Scalar *const db_in = node.sum_into(2), *const db_out = node.sum_into(4);
  const Scalar *x = node.input(0).data(), *dy = node.gradient(), *u = before.data();
  Index at = 0;
  do {  // once where there are no rows: gradients of weights have to become zero then
    cuts.rows = first.rows = second.rows = std::min(RowCuts::kBlockRows, all_rows - at);
    Gemm hidden_gradient = second.input_gradient(dy, node.input(3), {dhidden.data(), false});
    Gemm x_gradient = first.input_gradient(dhidden.data(), node.input(1), dx);
    if (cuts.shared) hidden_gradient.b = {to_hidden.data(), width};
    if (cuts.shared) x_gradient.b = {to_x.data(), first.inputs};
    cuts.for_each([&](Index i, Index rows) {
      Scalar* slope = slopes.get();
      gelu_with_slope(rows * width, u + i * width, hidden.data() + i * width, slope);
      Gemm part = gemm_part(hidden_gradient, i, rows, 0, width);
      part.finish.factor = slope;
      gemm(part);
      if (dx) gemm(gemm_part(x_gradient, i, rows, 0, first.inputs));
    });
    gemm_together(std::array{second.weight_gradient(hidden.data(), dy, dW_out, db_out),
                             first.weight_gradient(x, dhidden.data(), dW_in, db_in)});
    if (dx) dx.data += first.rows * first.inputs;
    x += first.rows * first.inputs, dy += first.rows * second.outputs, u += first.rows * width;
    dW_in.accumulate = dW_out.accumulate = true;
  } while ((at += RowCuts::kBlockRows) < all_rows);
  if (node.input_count() > 5) node.pass_to(5);
}

}  // namespace

Tensor feed_forward(const FeedForwardInputs& in) {
  require(in.b_in.defined() && in.b_out.defined(), "feed_forward: needs both biases");
  const Sizes first("feed_forward", in.x, in.W_in, in.b_in);
  const Tensor before = Tensor::empty(in.x.shape().with(-1, first.outputs));
  const Sizes second("feed_forward", before, in.W_out, in.b_out);
  Tensor y = Tensor::empty(in.x.shape().with(-1, second.outputs));
  check_residual("feed_forward", y, in.residual);
  const Gemm to_hidden =
      first.forward(in.x.data(), in.W_in, before.data(), {.bias = in.b_in.data()});
  const Gemm to_y =
      second.forward(before.data(), in.W_out, y.data(),
                     {.bias = in.b_out.data(), .residual = data_or_null(in.residual)});
  const RowCuts cuts(first.rows, in.W_in.count());
  const RowSpace between(cuts, first.outputs);
  cuts.for_each([&](Index i, Index rows) {
    Scalar* hidden = between.get();
    Gemm part = gemm_part(to_hidden, i, rows, 0, first.outputs);
    part.finish.gelu = hidden;
    gemm(part);
    part = gemm_part(to_y, i, rows, 0, second.outputs);
    part.a.data = hidden;
    gemm(part);
  });
  const std::array<Tensor, 6> inputs{in.x, in.W_in, in.b_in, in.W_out, in.b_out, in.residual};
  const std::size_t count = in.residual.defined() ? 6 : 5;
  return record("feed_forward", y, std::span<const Tensor>(inputs.data(), count),
                [=](Node& node) { feed_forward_backward(node, first, second, before); });
}

}}  // namespace headlab
