// Broadcasting arithmetic, functions of one element, and dropout. Forward and backward of
// arithmetic walk both inputs along the output with the same steps (0 where an input repeats), so
// that the gradient of a repeated input is summed in place. Sums of equal shapes, or with repeated
// last axes, have a faster path on all threads. Slopes of functions use the output where that is
// cheaper (exp, sqrt, tanh), so only input and output are kept. Dropout keeps only its key: the
// same key draws the same mask again. Read next: rows.cc, and examples/own_op.cc for a new op.
#include "headlab/core/ops/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/kernels/elementwise.h"
#include "core/kernels/pieces.h"
#include "core/kernels/rows.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Traversal of two inputs along one output: the output's axes, merged with their neighbours where
/// both inputs allow it, each with its step in a and in b (0 where an input repeats).
class Broadcast {
 public:
  Broadcast(const char* op, const Shape& a, const Shape& b) : output_(broadcast_shape(op, a, b)) {
    Index step_a = 1, step_b = 1;
    for (int axis = 1; axis <= output_.rank(); ++axis) {
      const Index in_a = axis <= a.rank() ? a[-axis] : 1;
      const Index in_b = axis <= b.rank() ? b[-axis] : 1;
      push({output_[-axis], in_a == 1 ? 0 : step_a, in_b == 1 ? 0 : step_b});
      step_a *= in_a;
      step_b *= in_b;
    }
  }

  const Shape& output() const { return output_; }
  bool same_shapes() const { return axes_ == 1 && axis_[0].a == 1 && axis_[0].b == 1; }

  /// A run of n elements along the innermost axis: element i of the output is at y + i, those of
  /// the inputs at a + i step_a and b + i step_b.
  struct Run {
    Index y, a, b, n, step_a, step_b;
    Index at_a(Index i) const { return a + i * step_a; }
    Index at_b(Index i) const { return b + i * step_b; }
  };
  /// Calls visit(run) for every run.
  template <class Visit>
  void for_runs(Visit&& visit) const {
    if (output_.count() == 0) return;
    if (axes_ == 0) return visit(Run{0, 0, 0, 1, 1, 1});
    std::array<Index, Shape::kMaxRank> at{};
    Index a = 0, b = 0;
    for (Index y = 0; y < output_.count(); y += axis_[0].size) {
      visit(Run{y, a, b, axis_[0].size, axis_[0].a, axis_[0].b});
      for (std::size_t k = 1; k < axes_; ++k) {
        a += axis_[k].a;
        b += axis_[k].b;
        if (++at[k] < axis_[k].size) break;
        a -= axis_[k].a * axis_[k].size;
        b -= axis_[k].b * axis_[k].size;
        at[k] = 0;
      }
    }
  }

 private:
  struct Axis {
    Index size, a, b;
  };

  void push(Axis next) {
    if (next.size == 1) return;
    if (axes_ > 0) {
      Axis& last = axis_[axes_ - 1];
      if (next.a == last.a * last.size && next.b == last.b * last.size) {
        last.size *= next.size;
        return;
      }
    }
    axis_[axes_++] = next;
  }

  Shape output_;
  std::array<Axis, Shape::kMaxRank> axis_{};  // innermost first
  std::size_t axes_ = 0;
};

/// The partial derivatives of y = f(a, b).
struct Slopes {
  Scalar a, b;
  Slopes(Scalar of_a, Scalar of_b) : a(of_a), b(of_b) {}
};

/// Computes an op y = f(a, b) with the partial derivatives slopes(a, b).
template <class F, class SlopesOf>
Tensor binary(const char* name, const Tensor& a, const Tensor& b, F f, SlopesOf slopes) {
  const Broadcast walk(name, a.shape(), b.shape());
  Tensor y = Tensor::empty(walk.output());
  const Scalar *pa = a.data(), *pb = b.data();
  Scalar* py = y.data();
  if (walk.same_shapes()) {
    for_pieces(y.count(), [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) py[i] = f(pa[i], pb[i]);
    });
  } else {
    walk.for_runs([=](const Broadcast::Run& run) {
      if (run.step_a == 1 && run.step_b == 0) {  // such as head outputs times a gate: use vectors
        const Scalar *from = pa + run.a, factor = pb[run.b];
        for (Index i = 0; i < run.n; ++i) py[run.y + i] = f(from[i], factor);
        return;
      }
      for (Index i = 0; i < run.n; ++i) py[run.y + i] = f(pa[run.at_a(i)], pb[run.at_b(i)]);
    });
  }
  return record(name, y, {a, b}, [walk, slopes](Node& node) {
    const Scalar *xa = node.input(0).data(), *xb = node.input(1).data(), *dy = node.gradient();
    Scalar *da = node.sum_into(0), *db = node.sum_into(1);
    walk.for_runs([=](const Broadcast::Run& run) {
      const auto slopes_at = [&](Index i) { return slopes(xa[run.at_a(i)], xb[run.at_b(i)]); };
      for (Index i = 0; da && i < run.n; ++i) da[run.at_a(i)] += dy[run.y + i] * slopes_at(i).a;
      for (Index i = 0; db && i < run.n; ++i) db[run.at_b(i)] += dy[run.y + i] * slopes_at(i).b;
    });
  });
}

/// Returns a + b, where b has the shape of a, or of its last axes: residual connections, positions,
/// biases. The gradient of a is dy itself.
Tensor add_repeated(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::empty(a.shape());
  const Scalar *pa = a.data(), *pb = b.data();
  Scalar* py = y.data();
  for_pieces(y.count(), [=, n = b.count()](Index begin, Index end) {
    for (Index at = begin, run; at < end; at += run) {
      const Index at_b = at % n;
      run = std::min(end - at, n - at_b);
      for (Index i = 0; i < run; ++i) py[at + i] = pa[at + i] + pb[at_b + i];
    }
  });
  return record("add", y, {a, b}, [](Node& node) {
    const Index n = node.input(1).count();
    if (n == node.count()) {
      GradientStorage::pass_to(node, 1);
    } else if (Scalar* db = node.sum_into(1)) {
      // db = the sum of dy over its rows, with rows of b's size.
      scatter_add_rows({node.count() / n, n, nullptr, node.gradient(), 1, db});
    }
    GradientStorage::pass_to(node, 0);
  });
}

/// Returns whether `part` consists of the last axes of `whole`, or of all.
bool ends_with(const Shape& whole, const Shape& part) {
  bool same = part.rank() <= whole.rank();
  for (int axis = 1; same && axis <= part.rank(); ++axis) same = whole[-axis] == part[-axis];
  return same;
}

/// Computes y[i] = f(x[i]).
template <class F>
Tensor map(const Tensor& x, F f) {
  Tensor y = Tensor::empty(x.shape());
  const Scalar* px = x.data();
  Scalar* py = y.data();
  for_pieces(x.count(), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) py[i] = f(px[i]);
  });
  return y;
}

/// Adds dx[i] += dy[i] slope(x[i], y[i]).
template <class Slope>
void add_gradient(Node& node, Slope slope) {
  Scalar* dx = node.sum_into(0);
  if (dx == nullptr) return;
  const Scalar *x = node.input(0).data(), *y = node.output(), *dy = node.gradient();
  for_pieces(node.count(), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) dx[i] += dy[i] * slope(x[i], y[i]);
  });
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  if (ends_with(a.shape(), b.shape())) return add_repeated(a, b);
  return binary(
      "add", a, b, [](Scalar x, Scalar y) { return x + y; },
      [](Scalar, Scalar) { return Slopes(1, 1); });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  return binary(
      "sub", a, b, [](Scalar x, Scalar y) { return x - y; },
      [](Scalar, Scalar) { return Slopes(1, -1); });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  return binary(
      "mul", a, b, [](Scalar x, Scalar y) { return x * y; },
      [](Scalar x, Scalar y) { return Slopes(y, x); });
}

Tensor div(const Tensor& a, const Tensor& b) {
  return binary(
      "div", a, b, [](Scalar x, Scalar y) { return x / y; },
      [](Scalar x, Scalar y) { return Slopes(1 / y, -x / (y * y)); });
}

Tensor affine(const Tensor& x, Scalar scale, Scalar shift) {
  return record("affine", map(x, [=](Scalar v) { return v * scale + shift; }), {x},
                [scale](Node& node) {
                  add_gradient(node, [scale](Scalar, Scalar) { return scale; });
                });
}

Tensor exp(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  exp_array(x.count(), x.data(), y.data());
  return record("exp", y, {x},
                [](Node& node) { add_gradient(node, [](Scalar, Scalar out) { return out; }); });
}

Tensor log(const Tensor& x) {
  return record("log", map(x, [](Scalar v) { return std::log(v); }), {x},
                [](Node& node) { add_gradient(node, [](Scalar in, Scalar) { return 1 / in; }); });
}

Tensor sqrt(const Tensor& x) {
  return record("sqrt", map(x, [](Scalar v) { return std::sqrt(v); }), {x}, [](Node& node) {
    add_gradient(node, [](Scalar, Scalar out) { return Scalar{0.5} / out; });
  });
}

Tensor tanh(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  tanh_array(x.count(), x.data(), y.data());
  return record("tanh", y, {x}, [](Node& node) {
    add_gradient(node, [](Scalar, Scalar out) { return 1 - out * out; });
  });
}

Tensor sigmoid(const Tensor& x) {
  const auto f = [](Scalar v) {
    const Scalar e = std::exp(-std::abs(v));  // at most 1: no overflow
    return (v >= 0 ? Scalar{1} : e) / (1 + e);
  };
  return record("sigmoid", map(x, f), {x}, [](Node& node) {
    add_gradient(node, [](Scalar, Scalar out) { return out * (1 - out); });
  });
}

Tensor relu(const Tensor& x) {
  return record("relu", map(x, [](Scalar v) { return v > 0 ? v : Scalar{0}; }), {x},
                [](Node& node) {
                  add_gradient(node, [](Scalar in, Scalar) { return Scalar(in > 0 ? 1 : 0); });
                });
}

Tensor gelu(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  gelu_forward(x.count(), x.data(), y.data());
  return record("gelu", y, {x}, [](Node& node) {
    if (const GradientSlot dx = node.slot(0)) {
      gelu_backward(node.count(), node.input(0).data(), node.gradient(), dx.data, dx.accumulate);
    }
  });
}

Tensor gelu_erf(const Tensor& x) {
  const auto below = [](Scalar v) { return std::erfc(-v * Scalar(std::numbers::sqrt2 / 2)) / 2; };
  return record("gelu_erf", map(x, [=](Scalar v) { return v * below(v); }), {x}, [=](Node& node) {
    add_gradient(node, [=](Scalar in, Scalar) {
      constexpr double kDensity = std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2;
      return below(in) + in * std::exp(-in * in / 2) * Scalar(kDensity);
    });
  });
}

Tensor dropout(const Tensor& x, Scalar p, Key key) {
  require(p >= 0 && p < 1, "cannot compute dropout: the probability must lie in [0, 1), got ", p);
  if (p == 0) return x;
  Tensor y = Tensor::empty(x.shape());
  dropout_array(x.count(), p, key.value, x.data(), y.data());
  return record("dropout", y, {x}, [p, key](Node& node) {
    const GradientSlot dx = node.slot(0);
    if (!dx.accumulate) {
      dropout_array(node.count(), p, key.value, node.gradient(), dx.data);
      return;
    }
    const Tensor masked = Tensor::empty(node.shape());
    dropout_array(node.count(), p, key.value, node.gradient(), masked.data());
    add_scaled(node.count(), 1, masked.data(), dx.data);
  });
}

}}  // namespace headlab
