// The same costs by the clock. A prediction is the larger of what the products need at the peak of
// multiply-adds and what the arrays need at the speed of memory; both limits are measured in the
// same run, so that the error is the kernels' and not the machine's. Read next: profile.cc, which
// charges time and operations to ops.
#include <algorithm>
#include <cmath>

#include "base/timing.h"
#include "headlab/base/error.h"
#include "headlab/base/pool.h"
#include "headlab/base/random.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/cost.h"
#include "headlab/bench/profile.h"
#include "headlab/nn/attention.h"
#include "headlab/tensor/tape.h"

namespace headlab {
namespace {

void fill(const Tensor& x, Generator& random, double size) {
  for (Scalar& value : x.values()) value = static_cast<Scalar>(random.uniform(-size, size));
}

/// A module with random weights, and an input for it.
struct Bench {
  MultiHeadAttention attention;
  Tensor x_q, x_kv, gradient;

  Bench(const AttentionPlaceSizes& module, Index batch) : attention(module.sizes) {
    Generator random(Key{1}.fold("cost"));
    const Index C = module.sizes.d_model;
    attention.visit("", [&](const std::string&, const Tensor& parameter) {
      fill(parameter, random, 1 / std::sqrt(static_cast<double>(C)));
    });
    const auto made = [&](Index rows) {
      Tensor x = Tensor::empty({batch, rows, C});
      fill(x, random, 1);
      return x;
    };
    x_q = made(module.queries).set_requires_grad();
    x_kv = module.queries == module.keys ? x_q : made(module.keys).set_requires_grad();
    gradient = made(module.queries);
  }
  Tensor forward() const { return attention.forward(x_q, x_kv, {}); }
  void both() {
    backward(forward(), gradient);
    attention.visit("", [](const std::string&, const Tensor& parameter) { parameter.zero_grad(); });
    x_q.zero_grad();
    x_kv.zero_grad();
  }
};

void check_size(const AttentionPlaceSizes& m, Index batch) {
  const double rows = static_cast<double>(batch * m.queries),
               scores = rows * static_cast<double>(m.keys * m.sizes.heads);
  const Index all = operation_cost({m}, batch).rows.back()[3].integer();
  if (static_cast<double>(all) > kMostMeasuredOperations || scores > kMostMeasuredScores)
    throw Error(text("a forward pass of ", static_cast<double>(all) / 1e9, " GFLOP and ",
                     scores / 1e6,
                     " million scores is too large to be measured here; the limits "
                     "are ",
                     kMostMeasuredOperations / 1e9, " and ", kMostMeasuredScores / 1e6),
                "name a smaller length, batch or d_model");
}

/// The limits of the machine go to `about`.
void measure_ops(Bench& bench, Index rounds, Table& table, Json& about) {
  const double peak = measure_fma_peak(), triad = measure_triad();
  about["measured_ops"] = Json::object({{"peak_gflops", peak}, {"triad_gbs", triad}});
  bench.both();
  Profile profile;
  profile.start();
  for (Index round = 0; round < rounds; ++round) bench.both();
  double all_predicted = 0, all_measured = 0;
  const auto n = static_cast<double>(rounds);
  for (const ProfileRow& row : profile.rows()) {
    if (row.cost.operations == 0) continue;
    const double predicted =
        std::max(row.cost.operations / peak, row.cost.bytes / triad) / 1e9 / n * 1e3;
    const double measured = row.seconds / n * 1e3;
    const bool maps = row.name == "linear";
    table.rows.push_back({maps ? "four projections" : row.name, row.pass, predicted, measured,
                          predicted / measured - 1});
    all_predicted += predicted;
    all_measured += measured;
  }
  table.rows.push_back({"all", "", all_predicted, all_measured, all_predicted / all_measured - 1});
}

/// The module in one head, as it is, with a block of K and V for each head, and with one for all.
std::vector<AttentionPlaceSizes> variants_of(const AttentionPlaceSizes& module) {
  std::vector<AttentionPlaceSizes> all(1, module);
  AttentionSizes& one = all[0].sizes;
  one = {one.d_model, 1, one.heads * one.d_head, one.heads * one.d_value, 1};
  for (const Index blocks : {module.sizes.heads, module.sizes.kv_heads, Index{1}}) {
    if (module.sizes.heads == 1) break;
    if (all.back().sizes.heads > 1 && all.back().sizes.kv_heads == blocks) continue;
    all.push_back(module);
    all.back().sizes.kv_heads = blocks;
  }
  return all;
}

void measure_heads(const AttentionPlaceSizes& module, Index batch, Index rounds, Table& table) {
  std::vector<Bench> benches;
  std::vector<std::function<void()>> works;
  const std::vector<AttentionPlaceSizes> variants = variants_of(module);
  for (const AttentionPlaceSizes& variant : variants) benches.emplace_back(variant, batch);
  for (Bench& bench : benches) {
    works.push_back([&bench] {
      const NoGrad no_grad;
      bench.forward();
    });
    works.push_back([&bench] { bench.both(); });
  }
  const std::vector<double> ms = interleaved_medians(works, rounds);
  for (std::size_t i = 0; i < variants.size(); ++i)
    table.rows.push_back({variants[i].sizes.heads, variants[i].sizes.kv_heads, ms[2 * i],
                          ms[2 * i + 1], ms[2 * i] / ms[0], ms[2 * i + 1] / ms[1]});
}

using Version = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, AttentionOptions, Tensor*);

/// Random queries, keys and values of a module's heads.
struct HeadInputs {
  Index heads;
  std::vector<Tensor> qkv;
  Tensor gradient;

  HeadInputs(const AttentionPlaceSizes& m, Index batch) : heads(m.sizes.heads) {
    Generator random(Key{2}.fold("cost"));
    const auto made = [&](Index rows, Index width) {
      Tensor x = Tensor::empty({batch, rows, heads * width});
      fill(x, random, 1);
      return x;
    };
    for (const Index width : {m.sizes.d_head, m.sizes.d_head, m.sizes.d_value})
      qkv.push_back(made(qkv.empty() ? m.queries : m.keys, width).set_requires_grad());
    gradient = made(m.queries, m.sizes.d_value);
  }
  Tensor run(Version version) const {
    return version(qkv[0], qkv[1], qkv[2], {.heads = heads}, nullptr);
  }
  void run_both(Version version) {
    backward(run(version), gradient);
    for (Tensor& x : qkv) x.zero_grad();
  }
};

double largest_difference_of(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (Index i = 0; i < a.count(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a.data()[i]) -
                                         static_cast<double>(b.data()[i])));
  return largest;
}

void measure_versions(const AttentionPlaceSizes& m, Index batch, Index rounds, Table& table) {
  HeadInputs inputs(m, batch);
  std::vector<std::function<void()>> works;
  std::vector<double> kept;
  std::vector<Tensor> outputs;
  for (const Version version : {&attention, &attention_composed}) {
    const std::size_t before = pool_statistics().bytes_in_use;
    const Tensor z = inputs.run(version);
    kept.push_back(static_cast<double>(pool_statistics().bytes_in_use - before) / 1e6);
    outputs.push_back(z.detach());
    works.push_back([&inputs, version] {
      const NoGrad no_grad;
      inputs.run(version);
    });
    works.push_back([&inputs, version] { inputs.run_both(version); });
  }
  const std::vector<double> ms = interleaved_medians(works, rounds);
  table.rows = {{"fused", ms[0], ms[1], kept[0], nullptr},
                {"composed", ms[2], ms[3], kept[1], largest_difference_of(outputs[0], outputs[1])}};
}

std::vector<Table> measured_tables() {
  const Column forward{"forward_ms", "forward ms", "", 3},
      both{"both_ms", "both ms", "forward and backward", 3};
  return {{"measured_ops.rows",
           {{"op", "op"},
            {"pass", "pass"},
            {"predicted_ms", "predicted ms",
             "the larger of operations / peak and bytes / triad, measured just before", 3},
            {"measured_ms", "measured ms", "", 3},
            {"error", "predicted / measured - 1",
             "-0.5: it took twice as long; above 0: from a cache, or the machine was busy before",
             3}},
           {},
           "measured: one module, predicted from this machine's limits"},
          {"measured_heads",
           {{"heads", "heads"},
            {"kv_heads", "blocks of K, V"},
            forward,
            both,
            {"forward_ratio", "forward / one head", "", 3},
            {"both_ratio", "both / one head", "", 3}},
           {},
           "measured: the same width in one head and in many"},
          {"measured_versions",
           {{"version", "version"},
            forward,
            both,
            {"kept_mb", "kept MB", "from forward to backward, the output included", 3},
            {"largest_difference", "largest difference", "of the outputs", 9}},
           {},
           "measured: attention alone, fused and composed"}};
}

}  // namespace

Finding measure_cost(const AttentionPlaceSizes& module, Index batch, Index rounds) {
  Finding found{.tables = measured_tables()};
  if (rounds == 0) return found;
  require(module.sizes.heads > 0, "there is no head to measure");
  check_size(module, batch);
  Bench bench(module, batch);
  measure_ops(bench, rounds, found.tables[0], found.about);
  measure_heads(module, batch, rounds, found.tables[1]);
  measure_versions(module, batch, rounds, found.tables[2]);
  return found;
}

}  // namespace headlab
