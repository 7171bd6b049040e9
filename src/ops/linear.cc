// y = x W + b, and the feed-forward network of two such maps with GELU between. The formulas stand
// in ops/matmul.h; `linear` is short, and all the rest here is for speed. What is done to every
// element of a product (bias, GELU, its slope) is an epilogue of the product (Finish in
// kernels/gemm.h), applied while the element is in cache; gradients that do not wait for one
// another run in one parallel loop. feed_forward_composed is the network to read. feed_forward
// computes the same from blocks of rows: a task takes some rows through both maps, so that the
// hidden values are read where they were written, in L2, and the threads meet once forward and
// twice for each block of rows backward, where op by op it would be five and nine times. The
// backward pass computes GELU again, which is cheaper than to write its values and slopes to memory
// and read them back; a third of the numbers have to be kept. Read next: kernels/gemm.h,
// attention.cc.
#include <algorithm>
#include <array>

#include "headlab/base/error.h"
#include "headlab/base/pool.h"
#include "headlab/base/threads.h"
#include "headlab/ops/arithmetic.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/matmul.h"
#include "headlab/tensor/tape.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

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

}  // namespace

Tensor linear(const Tensor& x, const Tensor& W, const Tensor& b) {
  const Sizes sizes("linear", x, W, b);
  Tensor y = Tensor::empty(x.shape().with(-1, sizes.outputs));
  gemm(sizes.forward(x.data(), W, y.data(), {.bias = data_or_null(b)}));
  std::array inputs{x, W, b};
  separate(inputs);
  return record("linear", y, inputs, [sizes](Node& node) {
    const GradientSlot dx = node.slot(0), dW = node.slot(1);
    gemm_together(std::array{sizes.input_gradient(node.gradient(), node.input(1), dx),
                             sizes.weight_gradient(node.input(0).data(), node.gradient(), dW,
                                                   node.sum_into(2))});
  });
}

Tensor feed_forward_composed(const FeedForwardInputs& in) {
  const Tensor before = linear(in.x, in.W_in, in.b_in);  // [..., F]
  return linear(gelu(before), in.W_out, in.b_out);       // [..., N]
}

namespace {

/// How rows are cut into tasks that take them through both maps. Where the weights stay in L2, the
/// threads share the rows, a few for each task; where they do not, more rows are needed to pay for
/// reading them, so that tasks run one after the other and the threads share each product.
struct RowTasks {
  static constexpr Index kTaskRows = 64, kBlockRows = 512, kWeightsInL2 = 1 << 18;
  bool parallel;

  explicit RowTasks(const Tensor& W) : parallel(W.count() <= kWeightsInL2) {}

  /// Calls body(first row, rows) for parts of [0, rows).
  template <class Body>
  void for_each(Index rows, Body body) const {
    if (rows == 0) return;
    const Index most = std::min(parallel ? kTaskRows : kBlockRows, rows);
    const Index threads = parallel ? thread_count() : 1,
                rows_of_thread = (rows + threads - 1) / threads;
    const Index tasks = (rows_of_thread + most - 1) / most * threads;
    const auto task = [&](Index i) {
      const Index begin = rows * i / tasks, end = rows * (i + 1) / tasks;
      if (begin < end) body(begin, end - begin);
    };
    if (parallel) parallel_for(tasks, task);
    for (Index i = 0; i < tasks && !parallel; ++i) task(i);
  }
};

Tensor transposed(const Tensor& W) {
  const Tensor result = Tensor::empty({W.size(1), W.size(0)});
  transpose_matrix(W.size(0), W.size(1), W.data(), result.data());
  return result;
}

/// The backward pass of feed_forward: y = hidden W_out + b_out, hidden = gelu(before),
/// before = x W_in + b_in. A block of rows at a time: dhidden = dy W_out^T, dbefore = dhidden
/// gelu'(before), dx = dbefore W_in^T row by row; then dW_out += hidden^T dy, dW_in += x^T dbefore.
class FeedForwardBackward {
 public:
  FeedForwardBackward(Node& node, const Sizes& first, const Sizes& second, const Tensor& before)
      : node_(node), first_(first), second_(second), before_(before), tasks_(node.input(1)) {
    const Shape block{std::min(RowTasks::kBlockRows, first.rows), first.outputs};
    hidden_ = Tensor::empty(block), dbefore_ = Tensor::empty(block);
    if (!tasks_.parallel) return;  // else W^T is made once, and not packed anew by every task
    W_out_transposed_ = transposed(node.input(3)), W_in_transposed_ = transposed(node.input(1));
  }

  void run() {
    const Index all = first_.rows;
    Index at = 0;
    do {  // also for no rows: gradients of weights have to become zero then
      first_.rows = second_.rows = std::min(RowTasks::kBlockRows, all - at);
      propagate(at);
      add_weight_gradients(at);
    } while ((at += RowTasks::kBlockRows) < all);
  }

 private:
  const Scalar* dy(Index row) const { return node_.gradient() + row * second_.outputs; }

  /// From dy to dbefore and dx, and hidden again, of the block that begins at row `at`.
  void propagate(Index at) {
    const Index width = first_.outputs;
    GradientSlot dx = dx_;
    if (dx) dx.data += at * first_.inputs;
    Gemm to_before = second_.input_gradient(dy(at), node_.input(3), {dbefore_.data(), false});
    Gemm to_x = first_.input_gradient(dbefore_.data(), node_.input(1), dx);
    if (tasks_.parallel) to_before.b = {W_out_transposed_.data(), width};
    if (tasks_.parallel) to_x.b = {W_in_transposed_.data(), first_.inputs};
    tasks_.for_each(first_.rows, [&](Index i, Index rows) {
      const Scratch<Scalar> slope(rows * width);
      gelu_with_slope(rows * width, before_.data() + (at + i) * width, hidden_.data() + i * width,
                      slope.data());
      Gemm part = gemm_part(to_before, i, rows, 0, width);
      part.finish.factor = slope.data();
      gemm(part);
      if (dx) gemm(gemm_part(to_x, i, rows, 0, first_.inputs));
    });
  }

  void add_weight_gradients(Index at) {
    const Scalar* x = node_.input(0).data() + at * first_.inputs;
    const auto sum = [at](const GradientSlot& slot) {
      return GradientSlot{slot.data, slot.accumulate || at > 0};
    };
    gemm_together(std::array{second_.weight_gradient(hidden_.data(), dy(at), sum(dW_out_), db_out_),
                             first_.weight_gradient(x, dbefore_.data(), sum(dW_in_), db_in_)});
  }

  Node& node_;
  Sizes first_, second_;  // rows: those of a block
  const Tensor& before_;
  RowTasks tasks_;
  Tensor hidden_, dbefore_;  // [rows of a block, F]
  Tensor W_out_transposed_, W_in_transposed_;
  GradientSlot dx_ = node_.slot(0), dW_in_ = node_.slot(1), dW_out_ = node_.slot(3);
  Scalar *db_in_ = node_.sum_into(2), *db_out_ = node_.sum_into(4);
};

}  // namespace

Tensor feed_forward(const FeedForwardInputs& in) {
  require(in.b_in.defined() && in.b_out.defined(), "feed_forward: needs both biases");
  const Sizes first("feed_forward", in.x, in.W_in, in.b_in);
  const Tensor before = Tensor::empty(in.x.shape().with(-1, first.outputs));  // [..., F]
  const Sizes second("feed_forward", before, in.W_out, in.b_out);
  Tensor y = Tensor::empty(in.x.shape().with(-1, second.outputs));  // [..., N]
  const Gemm to_before =
      first.forward(in.x.data(), in.W_in, before.data(), {.bias = in.b_in.data()});
  const Gemm to_y = second.forward(before.data(), in.W_out, y.data(), {.bias = in.b_out.data()});
  RowTasks(in.W_in).for_each(first.rows, [&](Index i, Index rows) {
    const Scratch<Scalar> hidden(rows * first.outputs);
    Gemm part = gemm_part(to_before, i, rows, 0, first.outputs);
    part.finish.gelu = hidden.data();
    gemm(part);
    part = gemm_part(to_y, i, rows, 0, second.outputs);
    part.a.data = hidden.data();
    gemm(part);
  });
  std::array inputs{in.x, in.W_in, in.b_in, in.W_out, in.b_out};
  separate(inputs);
  return record("feed_forward", y, inputs, [first, second, before](Node& node) {
    FeedForwardBackward(node, first, second, before).run();
  });
}

}}  // namespace headlab
