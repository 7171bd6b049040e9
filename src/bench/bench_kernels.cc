// `bench gemm` and `bench attention`: kernels by themselves, on random numbers. Products beside the
// peak that is measured before and after them, attention beside its composed version. Read next:
// kernels/gemm.h, ops/attention.h.
#include <algorithm>

#include "base/timing.h"
#include "headlab/base/random.h"
#include "headlab/bench/bench.h"
#include "headlab/ops/attention.h"
#include "headlab/tensor/tape.h"
#include "kernels/gemm.h"

namespace headlab {
namespace {

/// A product is repeated until it has done so many, then the next one follows: that is long enough
/// for a clock, and operands that fit into a cache are found there, as they are in a step, where
/// they have just been computed.
constexpr double kOperationsPerTurn = 1e9;

Tensor random_values(const Shape& shape) {
  Generator random(Key{1}.fold("bench"));
  Tensor x = Tensor::empty(shape);
  for (Scalar& value : x.values()) value = static_cast<Scalar>(random.uniform(-1, 1));
  return x;
}

struct Product {
  Index m, n, k;
  bool transpose_a, transpose_b;

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  Index repeats(bool quick) const {
    const double wanted = quick ? kOperationsPerTurn / 20 : kOperationsPerTurn;
    return std::max<Index>(1, static_cast<Index>(wanted / operations()));
  }
  const char* form() const { return transpose_a ? "TN" : transpose_b ? "NT" : "NN"; }
};

/// Squares; and the products of each width of a step: forward (NN), for the gradient of the inputs
/// (NT), and for that of the weights (TN). T: this operand is transposed.
std::vector<Product> products_of(const BenchOptions& options) {
  std::vector<Product> all;
  for (Index size :
       options.quick ? std::vector<Index>{64} : std::vector<Index>{32, 64, 128, 256, 512, 1024}) {
    all.push_back({size, size, size, false, false});
    all.push_back({size, size, size, false, true});
    all.push_back({size, size, size, true, false});
  }
  const TransformerConfig& c = options.model;
  const Index rows = options.batch * c.length;
  for (Index width : {c.d_model, c.d_ff, c.vocab * c.targets}) {
    if (width == 0) continue;
    all.push_back({rows, width, c.d_model, false, false});
    all.push_back({rows, c.d_model, width, false, true});
    all.push_back({c.d_model, width, rows, true, false});
  }
  return all;
}

std::function<void()> runner(const Product& p, Index repeats) {
  const Tensor a = random_values({p.m, p.k}), b = random_values({p.k, p.n}),
               c = Tensor::empty({p.m, p.n});
  const ConstMatrix left =
      p.transpose_a ? ConstMatrix{a.data(), 1, p.m} : ConstMatrix{a.data(), p.k, 1};
  const ConstMatrix right =
      p.transpose_b ? ConstMatrix{b.data(), 1, p.k} : ConstMatrix{b.data(), p.n, 1};
  return [=] {
    for (Index i = 0; i < repeats; ++i)
      gemm({.m = p.m, .n = p.n, .k = p.k, .a = left, .b = right, .c = c.data(), .c_stride = p.n});
  };
}

/// The batch with which every length has as many tokens.
Index batch_for(const BenchOptions& options, Index length) {
  return std::max<Index>(1, options.batch * options.model.length / length);
}

using Attention = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, AttentionOptions,
                             Tensor*);

/// Columns of the first layer's heads, side by side; of one head where it has none.
Index width_of(const TransformerConfig& c) {
  const Index heads = std::max<Index>(1, c.heads_of(0));
  return heads * (c.d_head > 0 ? c.d_head : c.d_model / heads);
}

/// One causal attention, forward alone or with its backward.
std::function<void()> runner(Attention attend, const BenchOptions& options, Index length,
                             bool with_backward) {
  const Index heads = std::max<Index>(1, options.model.heads_of(0));
  const Index batch = batch_for(options, length), width = width_of(options.model);
  std::vector<Tensor> qkv;
  for (int i = 0; i < 3; ++i)
    qkv.push_back(random_values({batch, length, width}).set_requires_grad());
  const Tensor gradient = random_values({batch, length, width});
  return [=]() mutable {
    const Tensor z =
        attend(qkv[0], qkv[1], qkv[2], {.heads = heads, .mask = {.causal = true}}, nullptr);
    if (with_backward) backward(z, gradient);
    for (Tensor& x : qkv) x.zero_grad();
  };
}

}  // namespace

Finding bench_gemm(const BenchOptions& options) {
  Finding found = bench_finding(options, {{"form", "form"},
                                          {"m", "m"},
                                          {"n", "n"},
                                          {"k", "k"},
                                          {"ms", "ms", "", 4},
                                          {"gflops", "GFLOP/s", "", 1},
                                          {"fraction_of_peak", "of peak", "", 3}});
  if (options.steps == 0) return found;
  const std::vector<Product> products = products_of(options);
  std::vector<std::function<void()>> bodies;
  for (const Product& p : products) bodies.push_back(runner(p, p.repeats(options.quick)));
  const double before = measure_fma_peak();
  const std::vector<double> ms = interleaved_medians(bodies, options.steps);
  const double peak = std::max(before, measure_fma_peak());
  found.about["peak_gflops"] = peak;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    const double each = ms[i] / static_cast<double>(p.repeats(options.quick));
    const double gflops = p.operations() / each / 1e6;
    found.tables[0].rows.push_back({p.form(), p.m, p.n, p.k, each, gflops, gflops / peak});
  }
  return found;
}

Finding bench_attention(const BenchOptions& options) {
  Finding found = bench_finding(options, {{"length", "T"},
                                          {"forward_ms", "forward ms", "", 3},
                                          {"both_ms", "both ms", "", 3},
                                          {"composed_forward_ms", "composed forward", "", 3},
                                          {"composed_both_ms", "composed both", "", 3},
                                          {"forward_ratio", "forward ratio", "", 2},
                                          {"both_ratio", "both ratio", "", 2},
                                          {"gflops", "GFLOP/s", "", 1},
                                          {"fraction_of_peak", "of peak", "", 3}});
  if (options.steps == 0) return found;
  const std::vector<Index> lengths =
      options.quick ? std::vector<Index>{16} : std::vector<Index>{32, 64, 128, 256, 512, 1024};
  std::vector<std::function<void()>> bodies;
  for (Index length : lengths) {
    for (Attention attend : {&attention, &attention_composed})
      for (bool with_backward : {false, true})
        bodies.push_back(runner(attend, options, length, with_backward));
  }
  const std::vector<double> ms = interleaved_medians(bodies, options.steps);
  const double peak = measure_fma_peak();
  found.about["peak_gflops"] = peak;
  found.about["counted"] = "products of visible scores: 2 forward, 5 backward";
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double* t = &ms[4 * i];
    const auto T = static_cast<double>(lengths[i]);
    const auto columns =
        static_cast<double>(batch_for(options, lengths[i]) * width_of(options.model));
    const double visible = columns * T * (T + 1) / 2;
    const double gflops = 2 * 7 * visible / t[1] / 1e6;
    found.tables[0].rows.push_back(
        {lengths[i], t[0], t[1], t[2], t[3], t[2] / t[0], t[3] / t[1], gflops, gflops / peak});
  }
  return found;
}

}  // namespace headlab
