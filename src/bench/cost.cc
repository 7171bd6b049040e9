// Counting. A row is a formula with its value over all modules of a model; formulas stand in
// letters as elsewhere: B batch, T queries, S keys, C d_model, H heads, G blocks of K and V, D and
// Dv their widths. Tests hold parameters against the model's own count, and operations against
// those that a profile charges to the ops as they run. Read next: cost_measured.cc.
#include "headlab/bench/cost.h"

#include <algorithm>
#include <functional>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/heads/lessons.h"

namespace headlab {
namespace {

using Modules = std::vector<AttentionPlaceSizes>;
using Count = std::function<Index(const AttentionPlaceSizes&)>;

Error too_large() {
  return Error("a count would be larger than 2^53 - 1, the last that is exact",
               "name smaller sizes");
}

Index checked_sum(Index a, Index b) {
  if (a > kMostExact - b) throw too_large();
  return a + b;
}

Index total(const Modules& modules, const Count& count) {
  Index sum = 0;
  for (const AttentionPlaceSizes& module : modules) sum = checked_sum(sum, count(module));
  return sum;
}

/// The same text for all modules, or "by module".
std::string common(const Modules& modules,
                   const std::function<std::string(const AttentionPlaceSizes&)>& of) {
  for (const AttentionPlaceSizes& module : modules)
    if (of(module) != of(modules[0])) return "by module";
  return modules.empty() ? "-" : of(modules[0]);
}

/// The value of a product such as "2 B T C H D", in the letters of this file's head.
Index value_of(std::string_view formula, const AttentionPlaceSizes& m, Index batch) {
  const AttentionSizes& s = m.sizes;
  const std::pair<std::string_view, Index> sizes[] = {{"2", 2},        {"5", 5},
                                                      {"B", batch},    {"T", m.queries},
                                                      {"S", m.keys},   {"C", s.d_model},
                                                      {"H", s.heads},  {"G", s.kv_heads},
                                                      {"D", s.d_head}, {"Dv", s.d_value}};
  Index product = 1;
  for (const std::string_view factor : split(formula, ' '))
    product = checked_product(
        {product,
         std::ranges::find(sizes, factor, &std::pair<std::string_view, Index>::first)->second});
  return product;
}

/// A matrix of a module, and the bias that is added to its columns.
struct MatrixCost {
  const char *name, *bias, *rows, *columns;
};

constexpr MatrixCost kMatrices[] = {{"W_Q", "b_Q", "C", "H D"},
                                    {"W_K", "b_K", "C", "G D"},
                                    {"W_V", "b_V", "C", "G Dv"},
                                    {"W_O", "b_O", "H Dv", "C"}};

/// One head as wide as all together.
AttentionPlaceSizes in_one_head(AttentionPlaceSizes module) {
  AttentionSizes& s = module.sizes;
  s.d_head = checked_product({s.heads, s.d_head});
  s.d_value = checked_product({s.heads, s.d_value});
  s.heads = s.kv_heads = std::min<Index>(1, s.heads);
  return module;
}

/// An op of attention, with its operations forward.
struct OpCount {
  const char *name, *formula;
  Index half_backward;  // backward / forward, in halves
};

constexpr OpCount kOps[] = {{"x W_Q", "2 B T C H D", 4},  {"x W_K", "2 B S C G D", 4},
                            {"x W_V", "2 B S C G Dv", 4}, {"q k^T", "2 B H T S D", 6},
                            {"softmax", "5 B H T S", 2},  {"weights v", "2 B H T S Dv", 4},
                            {"z W_O", "2 B T H Dv C", 4}};

Index sum_of(std::string_view formula, const Modules& modules, Index batch) {
  return total(modules, [&](const AttentionPlaceSizes& m) { return value_of(formula, m, batch); });
}

Index numbers_of_cache(const AttentionPlaceSizes& m, Index batch, Index blocks) {
  return checked_product({batch, m.keys, blocks, checked_sum(m.sizes.d_head, m.sizes.d_value)});
}

/// Four heads a block, where they divide.
Index default_groups(const AttentionPlaceSizes& m) {
  const Index H = m.sizes.heads;
  if (m.sizes.kv_heads > 1 && m.sizes.kv_heads < H) return m.sizes.kv_heads;
  return H % 4 == 0 ? H / 4 : H % 2 == 0 ? H / 2 : 1;
}

double mega(Index bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

Index checked_product(std::initializer_list<Index> factors) {
  Index product = 1;
  for (const Index factor : factors) {
    require(factor >= 0, "a size of ", factor);
    if (factor > 0 && product > kMostExact / factor) throw too_large();
    product *= factor;
  }
  return product;
}

Settings settings_of(CostOptions& o) {
  Settings s;
  constexpr Index kMost = 1 << 20;
  s.integer("d_model", o.d_model, 1, kMost, "width of the residual stream");
  s.integer("heads", o.heads, 1, kMost, "attention heads");
  s.integer("kv_heads", o.kv_heads, 0, kMost, "blocks of keys and values; 0: as many as heads");
  s.integer("d_head", o.d_head, 0, kMost, "width of a head; 0: floor(d_model / heads)");
  s.integer("d_value", o.d_value, 0, kMost, "width of its values; 0: d_head");
  s.integer("length", o.length, 1, 1 << 24, "tokens in a sequence");
  s.integer("layers", o.layers, 1, 10000, "attention modules");
  s.integer("batch", o.batch, 1, 100000, "sequences");
  s.boolean("biases", o.biases, "whether the four maps have biases");
  return s;
}

std::vector<AttentionPlaceSizes> modules_of(const CostOptions& o) {
  AttentionSizes s{o.d_model, o.heads, o.d_head, o.d_value, o.kv_heads};
  if (s.d_head == 0) s.d_head = o.d_model / o.heads;
  if (s.d_head == 0)
    throw Error(text(o.heads, " heads share a width of ", o.d_model,
                     ", which leaves none of them any: floor(", o.d_model, " / ", o.heads, ") = 0"),
                "name fewer heads, or set `d_head`");
  if (s.d_value == 0) s.d_value = s.d_head;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.kv_heads > s.heads || s.heads % s.kv_heads != 0)
    throw Error(text(s.kv_heads, " blocks of keys and values cannot be shared by ", s.heads,
                     " heads alike"),
                "`kv_heads` must divide `heads`");
  std::vector<AttentionPlaceSizes> modules;
  for (Index layer = 0; layer < o.layers; ++layer)
    modules.push_back({text("layer ", layer), s, o.length, o.length});
  return modules;
}

std::vector<AttentionPlaceSizes> modules_of(const Transformer& model) {
  const TransformerConfig& config = model.config();
  std::vector<AttentionPlaceSizes> modules;
  for (const AttentionModule& module : model.attention_modules()) {
    const MultiHeadAttention& a = *module.attention;
    const bool from_source = module.kind == AttentionKind::encoder,
               to_source = module.kind != AttentionKind::self;
    modules.push_back({module.name,
                       {config.d_model, a.head_count(), a.d_head, a.d_value,
                        static_cast<Index>(a.kv_blocks.size())},
                       from_source ? config.source_length : config.length,
                       to_source ? config.source_length : config.length});
  }
  return modules;
}

std::string division_note(Index d_model, Index heads) {
  if (heads <= 0 || d_model % heads == 0) return "";
  const Index width = d_model / heads;
  return text(
      d_model, " does not divide into ", heads,
      " heads. Counted is what training makes of it: a head is\nfloor(", d_model, " / ", heads,
      ") = ", width, " wide, ", heads, " heads fill ", heads * width, " columns, and W_O is [",
      heads * width, ", ", d_model,
      "].\nPyTorch's nn.MultiheadAttention refuses: it wants d_model to be a multiple of the "
      "heads.");
}

Table parameter_cost(const std::vector<AttentionPlaceSizes>& modules, bool biases) {
  Table table{.name = "parameters",
              .columns = {{"matrix", "matrix"},
                          {"letters", "in letters",
                           "C d_model, H heads, G blocks of K and V, D and Dv widths"},
                          {"shape", "shape"},
                          {"parameters", "parameters", "", kGrouped}},
              .title = "parameters: the number of heads changes none of them while H D = C"};
  Index sum = 0;
  const auto add = [&](const char* name, const std::string& letters, const auto& shape,
                       Index count) {
    table.rows.push_back({name, letters, common(modules, shape), count});
    sum = checked_sum(sum, count);
  };
  for (const auto& [name, bias, rows, columns] : kMatrices) {
    const auto shape = [rows = rows, columns = columns](const AttentionPlaceSizes& m) {
      return text(value_of(rows, m, 1), " x ", value_of(columns, m, 1));
    };
    add(name, text(rows, " x ", columns), shape, sum_of(text(rows, " ", columns), modules, 1));
  }
  for (const MatrixCost& matrix : kMatrices) {
    if (!biases) break;
    const auto shape = [&](const auto& m) {
      return std::to_string(value_of(matrix.columns, m, 1));
    };
    add(matrix.bias, matrix.columns, shape, sum_of(matrix.columns, modules, 1));
  }
  table.rows.push_back(
      {"all", "", modules.size() == 1 ? "" : text(modules.size(), " modules"), sum});
  return table;
}

Table operation_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch) {
  Table table{.name = "operations",
              .columns = {{"op", "op"},
                          {"formula", "formula", "B sequences, T queries, S keys"},
                          {"forward_one_head", "one head, forward",
                           "one head as wide as all together", kGrouped},
                          {"forward", "forward", "operations of a forward pass", kGrouped},
                          {"backward", "backward", "operations of the gradients", kGrouped}},
              .title = "operations: what one head as wide as all together takes, and these",
              .note =
                  "a multiply-add counts two, a score of the softmax five; products cost the same "
                  "in one head and in many, the softmax is done once for each score of each head. "
                  "Backward as fused: q k^T again."};
  Modules single;
  std::ranges::transform(modules, std::back_inserter(single), in_one_head);
  Index sums[3] = {};
  for (const OpCount& op : kOps) {
    const Index forward = sum_of(op.formula, modules, batch),
                one = sum_of(op.formula, single, batch);
    const Index backward = checked_product({forward, op.half_backward}) / 2;
    table.rows.push_back({op.name, op.formula, one, forward, backward});
    sums[0] = checked_sum(sums[0], one);
    sums[1] = checked_sum(sums[1], forward);
    sums[2] = checked_sum(sums[2], backward);
  }
  table.rows.push_back({"all", "", sums[0], sums[1], sums[2]});
  return table;
}

Table memory_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch) {
  Table table{.name = "memory",
              .columns = {{"what", "what is kept"},
                          {"formula", "formula", "B sequences, T queries, S keys", kPlain, "",
                           false},
                          {"numbers", "numbers", "that are kept", kGrouped, "", false},
                          {"fp32_mb", "fp32 MB", "10^6 bytes, four a number", 3, "", false},
                          {"fp16_mb", "fp16 MB", "10^6 bytes, two a number", 3, "", false}},
              .title = "memory of a training step, kept from forward to backward",
              .note =
                  "composed, attention keeps every weight (grows with T S); fused, one number for "
                  "each row"};
  const auto add = [&](const char* what, const char* formula, Index numbers) {
    table.rows.push_back({what, formula, numbers, mega(checked_product({4, numbers})),
                          mega(checked_product({2, numbers}))});
  };
  const auto product = [&](const char* what, const char* formula) {
    add(what, formula, sum_of(formula, modules, batch));
  };
  add("q, k, v", "B (T H D + S G (D + Dv))", total(modules, [&](const AttentionPlaceSizes& m) {
        return checked_sum(value_of("B T H D", m, batch),
                           numbers_of_cache(m, batch, m.sizes.kv_heads));
      }));
  product("z", "B T H Dv");
  product("weights, if composed", "B H T S");
  product("log-sum-exp, if fused", "B H T");
  return table;
}

Table cache_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch) {
  Table table{.name = "kv_cache",
              .columns = {{"kind", "kind"},
                          {"kv_heads", "blocks of K, V", "heads may share them"},
                          {"numbers", "numbers", "that are kept", kGrouped, "", false},
                          {"fp32_mb", "fp32 MB", "10^6 bytes, four a number", 3, "", false},
                          {"fp16_mb", "fp16 MB", "10^6 bytes, two a number", 3, "", false},
                          {"share", "of multi-head", "share of what a block for each head takes",
                           3}},
              .title = "what generation keeps of all tokens before: keys and values"};
  const auto add = [&](const char* kind, const auto& blocks) {
    const Index numbers = total(modules, [&](const AttentionPlaceSizes& m) {
      return numbers_of_cache(m, batch, blocks(m));
    });
    const Json all = table.rows.empty() ? Json(numbers) : table.rows[0][2];
    table.rows.push_back({kind, modules.empty() ? Json() : Json(blocks(modules[0])), numbers,
                          mega(checked_product({4, numbers})), mega(checked_product({2, numbers})),
                          static_cast<double>(numbers) / all.number()});
  };
  add("multi-head", [](const AttentionPlaceSizes& m) { return m.sizes.heads; });
  if (!modules.empty() && default_groups(modules[0]) > 1) add("grouped", default_groups);
  add("multi-query", [](const AttentionPlaceSizes&) { return Index{1}; });
  return table;
}

Table complexity_cost(const std::vector<AttentionPlaceSizes>& modules, Index batch) {
  Table table{.name = "complexity",
              .columns = {{"part", "part of attention"},
                          {"time", "time"},
                          {"memory", "memory"},
                          {"operations", "operations", "of a forward pass here", kGrouped},
                          {"share", "share", "of the operations of all parts", 3}},
              .title = "growth: with T = S tokens and d = C, at this size",
              .note = "products of scores overtake the projections where T is above 2 d"};
  const auto of = [&](std::initializer_list<int> ops) {
    Index sum = 0;
    for (const int op : ops) sum = checked_sum(sum, sum_of(kOps[op].formula, modules, batch));
    return sum;
  };
  const Index projections = of({0, 1, 2, 6}), products = of({3, 5}), softmax = of({4});
  const auto all = static_cast<double>(projections + products + softmax);
  const auto add = [&](const char* part, const char* time, const char* memory, Index count) {
    table.rows.push_back({part, time, memory, count, static_cast<double>(count) / all});
  };
  add("four projections", "T d^2", "T d", projections);
  add("scores and sums of values", "T^2 d", "H T^2 composed, H T fused", products);
  add("softmax", "H T^2", "the same", softmax);
  return table;
}

Table published_cost() {
  Table table{.name = "published",
              .columns = {{"name", "published model"},
                          {"d_model", "d_model"},
                          {"heads", "heads"},
                          {"kv_heads", "K, V", "blocks of keys and values"},
                          {"d_head", "d_head"},
                          {"layers", "layers"},
                          {"parameters", "weights", "of one attention module, no biases", kGrouped},
                          {"cache_bytes", "cache/token", "bytes of all layers in fp16", kGrouped},
                          {"source", "source"}},
              .note =
                  "Heads times d_head is not d_model in "
                  "T5-11B and PaLM 540B"};
  for (const PublishedModel& model : published_models()) {
    const CostOptions options{.d_model = model.d_model,
                              .heads = model.heads,
                              .kv_heads = model.kv_heads,
                              .d_head = model.d_head,
                              .length = 1};
    const Modules module = modules_of(options);
    table.rows.push_back({model.name, model.d_model, model.heads, model.kv_heads, model.d_head,
                          model.layers, parameter_cost(module, false).rows.back()[3],
                          2 * model.layers * numbers_of_cache(module[0], 1, model.kv_heads),
                          model.source});
  }
  return table;
}

Finding cost_finding(const std::vector<AttentionPlaceSizes>& modules, Index batch, bool biases) {
  return {.tables = {parameter_cost(modules, biases), operation_cost(modules, batch),
                     memory_cost(modules, batch), cache_cost(modules, batch),
                     complexity_cost(modules, batch)}};
}

}  // namespace headlab
