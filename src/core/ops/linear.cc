// The linear map y = x W + b, and the feed-forward network (formulas: core/ops/matmul.h). Read
// `linear` and feed_forward_composed first; everything else is an optimisation with the same
// results. Elementwise work (bias, GELU, its slope) is an epilogue of a product (Finish in
// src/core/kernels/gemm.h), done while the element is in cache; independent gradients share one
// parallel loop. feed_forward takes blocks of rows through both maps, so that hidden values stay in
// L2 and threads synchronise less often. Its backward pass computes GELU again, which is cheaper
// than to store its values and slopes. Read next: src/core/kernels/gemm.h, attention.cc.
#include <algorithm>
#include <array>

#include "core/kernels/elementwise.h"
#include "core/kernels/gemm.h"
#include "core/kernels/pieces.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/ops/matmul.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// The sizes of y = x W.
struct Sizes {
  Index rows, inputs, outputs;

  Sizes(const char* op, const Tensor& x, const Tensor& W, const Tensor& b) {
    require(W.rank() == 2 && x.rank() >= 1 && x.size(-1) == W.size(0), "cannot compute ", op,
            ": x ", x.shape(), " does not fit W ", W.shape(),
            "; the last axis of x must be W's first");
    rows = x.shape().count(0, x.rank() - 1);
    inputs = W.size(0);
    outputs = W.size(1);
    require(!b.defined() || b.shape() == Shape{outputs}, "cannot compute ", op, ": W ", W.shape(),
            " needs b [", outputs, "], got ", b.defined() ? b.shape() : Shape{});
  }

  Gemm forward(const Scalar* x, const Tensor& W, Scalar* y, const Finish& finish) const {
    return {rows, outputs, inputs, {x, inputs}, {W.data(), outputs}, y, outputs, false, finish};
  }
  /// Returns the product dx = dy W^T; it has no rows if x requires no gradient.
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
  /// Returns the product dW = x^T dy with db += the sum of dy.
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
  const Tensor h = linear(in.x, in.W_in, in.b_in);  // [..., F], like everything before the last map
  if (!in.W_gate.defined()) return linear(gelu(h), in.W_out, in.b_out);  // [..., N]
  const Tensor gate = linear(in.x, in.W_gate, in.b_gate);
  const Tensor open = in.gating == Gating::gelu ? gelu(gate) : gate / (1 + exp(-gate));
  return linear(open * h, in.W_out, in.b_out);
}

namespace {

/// Division of rows into tasks that take them through both maps. If the weights fit in L2, each
/// task takes a few rows and threads share the rows. Otherwise reading the weights pays only for
/// more rows: tasks run one after the other and the threads share each product.
struct RowTasks {
  static constexpr Index kTaskRows = 64, kBlockRows = 512, kWeightsInL2 = 1 << 18;
  bool parallel;

  explicit RowTasks(const Tensor& W) : parallel(W.count() <= kWeightsInL2) {}

  /// Calls body(first row, rows) for parts of [0, rows).
  /// `each` is the number of multiply-adds of a row.
  template <class Body>
  void for_each(Index rows, Index each, Body body) const {
    if (rows == 0) return;
    const Index most = std::min(parallel ? kTaskRows : kBlockRows, rows);
    const Index threads = parallel ? thread_count() : 1,
                rows_of_thread = (rows + threads - 1) / threads;
    const Index tasks = (rows_of_thread + most - 1) / most * threads;
    const auto task = [&](Index i) {
      const Index begin = rows * i / tasks, end = rows * (i + 1) / tasks;
      if (begin < end) body(begin, end - begin);
    };
    const double all = static_cast<double>(rows) * static_cast<double>(each);
    if (parallel) parallel_for(tasks, multiply_adds(all), task);
    for (Index i = 0; i < tasks && !parallel; ++i) task(i);
  }
};

Tensor transposed(const Tensor& W) {
  const Tensor result = Tensor::empty({W.size(1), W.size(0)});
  transpose_matrix(W.size(0), W.size(1), W.data(), result.data());
  return result;
}

/// Both maps into the network, and the map out of it.
struct Maps {
  Sizes in, out;
  const Gate* gate;  // null: GELU and no gate

  Index multiply_adds_of_row() const {
    return in.outputs * (in.inputs * (gate != nullptr ? 2 : 1) + out.outputs);
  }

  explicit Maps(const FeedForwardInputs& all)
      : in("feed_forward", all.x, all.W_in, all.b_in),
        out("feed_forward", Tensor::empty({0, in.outputs}), all.W_out, all.b_out),
        gate(nullptr) {
    if (!all.W_gate.defined()) return;
    gate = all.gating == Gating::gelu ? &kGeluGate : &kSiluGate;
    const Sizes other("feed_forward", all.x, all.W_gate, all.b_gate);
    require(other.outputs == in.outputs, "cannot compute feed_forward: W_gate ", all.W_gate.shape(),
            " must have the shape of W_in, ", all.W_in.shape());
  }
};

/// The backward pass of feed_forward: y = hidden W_out + b_out, hidden = gelu(before) or f(gate)
/// before, before = x W_in + b_in, gate = x W_gate + b_gate. It works on one block of rows at a
/// time: dhidden = dy W_out^T, then dbefore and dgate, dx = dbefore W_in^T + dgate W_gate^T row by
/// row; then dW_out += hidden^T dy, dW_in += x^T dbefore, dW_gate += x^T dgate.
class FeedForwardBackward {
 public:
  FeedForwardBackward(Node& node, const Maps& maps, const Tensor& before, const Tensor& gate)
      : node_(node), maps_(maps), before_(before), gate_(gate), tasks_(node.input(1)) {
    const Shape block{std::min(RowTasks::kBlockRows, maps.in.rows), maps.in.outputs};
    hidden_ = Tensor::empty(block);
    dbefore_ = Tensor::empty(block);
    if (maps.gate) dgate_ = Tensor::empty(block);
    // With several tasks each W^T is transposed once instead of packed by every task.
    if (!tasks_.parallel) return;
    for (const int weight : {1, 3, 5}) {
      if (weight < 5 || maps.gate) transposed_[weight] = transposed(node.input(weight));
    }
  }

  void run() {
    const Index all = maps_.in.rows;
    Index at = 0;
    do {  // also without rows: gradients of weights must become zero then
      maps_.in.rows = maps_.out.rows = std::min(RowTasks::kBlockRows, all - at);
      propagate(at);
      add_weight_gradients(at);
    } while ((at += RowTasks::kBlockRows) < all);
  }

 private:
  const Scalar* dy(Index row) const { return node_.gradient() + row * maps_.out.outputs; }

  /// Returns the product dx = dy W^T for that weight.
  Gemm backwards(const Sizes& sizes, int weight, const Scalar* from, const GradientSlot& to) {
    Gemm product = sizes.input_gradient(from, node_.input(weight), to);
    if (tasks_.parallel) product.b = {transposed_[weight].data(), sizes.inputs};
    return product;
  }

  /// Computes dbefore, dgate, dx and hidden from dy, for the block that begins at row `at`.
  void propagate(Index at) {
    const Index width = maps_.in.outputs, inputs = maps_.in.inputs;
    GradientSlot dx = dx_;
    if (dx) dx.data += at * inputs;
    const Gemm to_before = backwards(maps_.out, 3, dy(at), {dbefore_.data(), false});
    const Gemm to_x = backwards(maps_.in, 1, dbefore_.data(), dx);
    tasks_.for_each(maps_.in.rows, maps_.multiply_adds_of_row(), [&](Index i, Index rows) {
      const Scratch<Scalar> scratch(rows * width);
      const Index from = (at + i) * width, to = i * width, n = rows * width;
      Gemm part = gemm_part(to_before, i, rows, 0, width);
      if (maps_.gate) {
        part.c = scratch.data();
        gemm(part);
        maps_.gate->backward({n, gate_.data() + from, before_.data() + from, scratch.data(),
                              hidden_.data() + to, dgate_.data() + to, dbefore_.data() + to});
      } else {
        gelu_with_slope(n, before_.data() + from, hidden_.data() + to, scratch.data());
        part.finish.factor = scratch.data();
        gemm(part);
      }
      if (!dx) return;
      gemm(gemm_part(to_x, i, rows, 0, inputs));
      if (maps_.gate) {
        gemm(gemm_part(backwards(maps_.in, 5, dgate_.data(), {dx.data, true}), i, rows, 0, inputs));
      }
    });
  }

  void add_weight_gradients(Index at) {
    const Scalar* x = node_.input(0).data() + at * maps_.in.inputs;
    const auto slot = [&](std::size_t input) {
      GradientSlot sum = weights_[input];
      sum.accumulate = sum.accumulate || at > 0;
      return sum;
    };
    const std::array products{maps_.out.weight_gradient(hidden_.data(), dy(at), slot(1),
                                                        biases_[1]),
                              maps_.in.weight_gradient(x, dbefore_.data(), slot(0), biases_[0]),
                              maps_.in.weight_gradient(x, maps_.gate ? dgate_.data() : nullptr,
                                                       slot(2), biases_[2])};
    gemm_together(std::span(products).first(maps_.gate ? 3 : 2));
  }

  Node& node_;
  Maps maps_;  // with the rows of a block
  const Tensor &before_, &gate_;
  RowTasks tasks_;
  Tensor hidden_, dbefore_, dgate_;   // [rows of a block, F]
  std::array<Tensor, 6> transposed_;  // of the weights, indexed by input
  GradientSlot dx_ = node_.slot(0);
  std::array<GradientSlot, 3> weights_{node_.slot(1), node_.slot(3), node_.slot(5)};
  std::array<Scalar*, 3> biases_{node_.sum_into(2), node_.sum_into(4), node_.sum_into(6)};
};

}  // namespace

Tensor feed_forward(const FeedForwardInputs& in) {
  const Maps maps(in);
  const Index width = maps.in.outputs;
  const Tensor before = Tensor::empty(in.x.shape().with(-1, width));  // [..., F]
  const Tensor gate = maps.gate ? Tensor::empty(before.shape()) : Tensor();
  Tensor y = Tensor::empty(in.x.shape().with(-1, maps.out.outputs));  // [..., N]
  const auto into = [&](const Tensor& W, const Tensor& b, const Tensor& to) {
    return maps.in.forward(in.x.data(), W, to.data(), {.bias = data_or_null(b)});
  };
  const Gemm to_before = into(in.W_in, in.b_in, before);
  const Gemm to_gate = maps.gate ? into(in.W_gate, in.b_gate, gate) : Gemm{};
  const Gemm to_y =
      maps.out.forward(before.data(), in.W_out, y.data(), {.bias = data_or_null(in.b_out)});
  RowTasks(in.W_in).for_each(maps.in.rows, maps.multiply_adds_of_row(), [&](Index i, Index rows) {
    const Scratch<Scalar> hidden(rows * width);
    const auto rows_of = [&](const Gemm& all) { return gemm_part(all, i, rows, 0, width); };
    std::array parts{rows_of(to_before), maps.gate ? rows_of(to_gate) : Gemm{}};
    if (!maps.gate) parts[0].finish.gelu = hidden.data();
    gemm_together(std::span(parts).first(maps.gate ? 2 : 1));
    if (maps.gate) {
      maps.gate->forward(rows * width, gate.data() + i * width, before.data() + i * width,
                         hidden.data());
    }
    Gemm part = gemm_part(to_y, i, rows, 0, maps.out.outputs);
    part.a.data = hidden.data();
    gemm(part);
  });
  std::array inputs{in.x, in.W_in, in.b_in, in.W_out, in.b_out, in.W_gate, in.b_gate};
  separate(inputs);
  return record("feed_forward", y, inputs, [maps, before, gate](Node& node) {
    FeedForwardBackward(node, maps, before, gate).run();
  });
}

}}  // namespace headlab
