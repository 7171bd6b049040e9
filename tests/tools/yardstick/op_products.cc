// Products of ops, and their times alone. Before each run every thread writes more memory than the
// caches of its core hold: in a step, other ops do the same. A run of the same product again and
// again would find its operands there and show a pace that no step can reach. Read next:
// benchmarks.cc.
#include "tools/yardstick/op_products.h"

#include <algorithm>
#include <string_view>

#include "core/kernels/gemm.h"
#include "headlab/core/base/threads.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

constexpr int kRuns = 5;

/// Adds y = x W, or its gradients: dx = dy W^T if x requires one, dW = x^T dy.
void add_map(std::vector<Product>& products, Index rows, const Tensor& W, bool forward,
             bool requires_dx) {
  const Index inputs = W.size(0), outputs = W.size(1);
  if (forward) {
    products.push_back({rows, outputs, inputs});
    return;
  }
  if (requires_dx) products.push_back({rows, inputs, outputs, false, true});
  if (W.requires_grad()) products.push_back({inputs, outputs, rows, true, false});
}

/// Removes what other work left in the caches of the cores.
void empty_caches() {
  constexpr Index kNumbers = 1 << 21;
  static std::vector<Tensor> arrays;
  const Index tasks = 2 * thread_count();
  while (std::ssize(arrays) < tasks) arrays.push_back(Tensor::zeros({kNumbers}));
  parallel_for(tasks, [&](Index task) {
    for (Scalar& value : arrays[static_cast<std::size_t>(task)].values()) value += 1;
  });
}

double measure(const Product& p) {
  const Tensor a = Tensor::full({p.m, p.k}, Scalar(0.5)), b = Tensor::full({p.k, p.n}, Scalar(0.5)),
               c = Tensor::zeros({p.m, p.n});
  const Gemm product{.m = p.m,
                     .n = p.n,
                     .k = p.k,
                     .a = p.transposes_a ? ConstMatrix{a.data(), 1, p.m}
                                         : ConstMatrix{a.data(), p.k},
                     .b = p.transposes_b ? ConstMatrix{b.data(), 1, p.k}
                                         : ConstMatrix{b.data(), p.n},
                     .c = c.data(),
                     .c_stride = p.n};
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    empty_caches();
    times.push_back(milliseconds([&] { gemm(product); }));
  }
  std::ranges::sort(times);
  return times[kRuns / 2];
}

}  // namespace

std::vector<Product> products_of(const WorkEvent& event) {
  std::vector<Product> products;
  const std::string_view op = event.name;
  const bool loss = op == "linear_cross_entropy";
  if (event.kind == WorkEvent::Kind::other || (!loss && op != "linear" && op != "feed_forward")) {
    return products;
  }
  const bool forward = event.kind == WorkEvent::Kind::forward;
  if (loss && !forward) return products;
  const Tensor& x = event.inputs[0];
  const Index rows = x.count() / std::max<Index>(1, x.size(-1));
  bool is_first = true;  // maps after the first read hidden values, whose gradient is required
  for (const Tensor& W : event.inputs.subspan(1)) {
    if (!W.defined() || W.rank() != 2) continue;
    const bool requires_dx = !is_first || x.requires_grad();
    add_map(products, rows, W, forward, requires_dx);
    if (loss && grad_enabled()) add_map(products, rows, W, false, requires_dx);
    is_first = false;
  }
  return products;
}

double ProductTimer::milliseconds_of(const Product& product) {
  const auto known = std::ranges::find(timed_, product, &Timed::product);
  if (known != timed_.end()) return known->ms;
  return timed_.emplace_back(Timed{product, measure(product)}).ms;
}

}  // namespace headlab
