// Counting of costs. A row is a formula with its value over all attention layers of a model.
// Letters in formulas: B batch, T queries, S keys, C d_model, H heads, G blocks of K and V, D and
// Dv their widths. Tests compare parameters with the model's own count, and operations with those
// that a profile assigns to the ops as they run. Read next: profile.cc, which assigns time and
// operations to ops.
#include "headlab/lab/bench/cost.h"

#include <algorithm>
#include <functional>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/lessons/lessons.h"

namespace headlab {
namespace {

using Modules = std::vector<AttentionSlotSizes>;
using Count = std::function<double(const AttentionSlotSizes&)>;

/// Returns a count of whole numbers, which a double holds as it is up to 2^53 - 1.
double exact(double count) {
  if (count > static_cast<double>(kMostExact)) {
    throw Error("cannot count exactly: a count would be larger than 2^53 - 1",
                "name smaller sizes");
  }
  return count;
}

double total(const Modules& layers, const Count& count) {
  double sum = 0;
  for (const AttentionSlotSizes& layer : layers) sum += count(layer);
  return exact(sum);
}

/// Returns the same text for all modules, or "by attention layer".
std::string common(const Modules& layers,
                   const std::function<std::string(const AttentionSlotSizes&)>& of) {
  for (const AttentionSlotSizes& layer : layers) {
    if (of(layer) != of(layers[0])) return "by attention layer";
  }
  return layers.empty() ? "-" : of(layers[0]);
}

/// Returns the value of a product such as "2 B T C H D", in the letters of this file's head.
double value_of(std::string_view formula, const AttentionSlotSizes& m, Index batch) {
  const AttentionSizes& s = m.sizes;
  const std::pair<std::string_view, Index> sizes[] = {
      {"2", 2},          {"4", 4},         {"5", 5},       {"B", batch},      {"T", m.queries},
      {"S", m.keys},     {"C", s.d_model}, {"H", s.heads}, {"G", s.kv_heads}, {"D", s.d_head},
      {"Dv", s.d_value}, {"x", 1}};  // "C x H D": rows and columns
  double product = 1;
  for (const std::string_view factor : split(formula, ' ')) {
    product *= static_cast<double>(
        std::ranges::find(sizes, factor, &std::pair<std::string_view, Index>::first)->second);
  }
  return product;
}

double sum_of(std::string_view formula, const Modules& layers, Index batch) {
  return total(layers, [&](const AttentionSlotSizes& m) { return value_of(formula, m, batch); });
}

/// Matrix of an attention layer, and the bias that is added to its columns.
struct MatrixCost {
  const char *name, *bias, *rows, *columns;
};

constexpr MatrixCost kMatrices[] = {{"W_Q", "b_Q", "C", "H D"},
                                    {"W_K", "b_K", "C", "G D"},
                                    {"W_V", "b_V", "C", "G Dv"},
                                    {"W_O", "b_O", "H Dv", "C"}};

/// Returns one head as wide as all together.
AttentionSlotSizes in_one_head(AttentionSlotSizes layer) {
  AttentionSizes& s = layer.sizes;
  s.d_head *= s.heads;
  s.d_value *= s.heads;
  s.heads = s.kv_heads = std::min<Index>(1, s.heads);
  return layer;
}

/// Op of attention, with its operations forward, and the ratio of backward to forward operations.
struct OpCount {
  const char* name;
  std::string formula;
  double backward;
};

/// Returns the attention function, which all attention layers share.
const AttentionFunctionEntry& function_of(const Modules& layers) {
  return kind_of(layers.empty() ? AttentionFunction::softmax : layers[0].function);
}

/// Returns the ops in the order in which they run. A composed function keeps the scores, so that
/// its backward pass does not compute them again.
std::vector<OpCount> ops_of(const Modules& layers) {
  const AttentionFunctionEntry& function = function_of(layers);
  return {{"x W_Q", "2 B T C H D", 2},
          {"x W_K", "2 B S C G D", 2},
          {"x W_V", "2 B S C G Dv", 2},
          {"q k^T", "2 B H T S D", function.fused != nullptr ? 3.0 : 2.0},
          {function.name, text(function.operations, " B H T S"), 1},
          {"weights v", "2 B H T S Dv", 2},
          {"z W_O", "2 B T H Dv C", 2}};
}

/// Keys and values of that many positions.
double numbers_of(const AttentionSlotSizes& m, Index positions, Index blocks) {
  return static_cast<double>(positions) *
         static_cast<double>(blocks * (m.sizes.d_head + m.sizes.d_value));
}

/// Returns the groups for four heads per block, if four divides the number of heads.
Index default_groups(const AttentionSlotSizes& m) {
  const Index H = m.sizes.heads;
  if (m.sizes.kv_heads > 1 && m.sizes.kv_heads < H) return m.sizes.kv_heads;
  if (H % 4 == 0) {
    return H / 4;
  }
  return H % 2 == 0 ? H / 2 : 1;
}

/// Numbers that are kept, and what they take.
const std::vector<Column> kKept = {
    Column("numbers", "numbers", "how many numbers are kept").shown_as(Form::grouped).no_legend(),
    Column("fp32_mb", "fp32 MB", "10^6 bytes, four a number").fixed(3).no_legend(),
    Column("fp16_mb", "fp16 MB", "10^6 bytes, two a number").fixed(3).no_legend()};

/// Returns a row that begins with these cells, with those of kKept after them.
Json::Array kept_row(Json::Array row, double numbers) {
  for (const double cell : {numbers, exact(4 * numbers) / 1e6, 2 * numbers / 1e6}) {
    row.push_back(cell);
  }
  return row;
}

std::vector<Column> with_kept(std::vector<Column> columns) {
  columns.insert(columns.end(), kKept.begin(), kKept.end());
  return columns;
}

}  // namespace

Settings settings_of(CostOptions& o) {
  Settings s;
  constexpr Index kMost = 1 << 20;
  s.integer("d_model", o.d_model, 1, kMost, "width of the residual stream");
  s.integer("heads", o.heads, 1, kMost, "attention heads");
  s.integer("kv_heads", o.kv_heads, 0, kMost, "blocks of keys and values; 0: as many as heads");
  s.integer("d_head", o.d_head, 0, kMost, "width of a head; 0: floor(d_model / heads)");
  s.integer("d_value", o.d_value, 0, kMost, "width of its values; 0: d_head");
  s.integer("length", o.length, 1, 1 << 24, "tokens in a sequence");
  s.integer("layers", o.layers, 1, 10000, "attention layers");
  s.integer("batch", o.batch, 1, 100000, "sequences");
  s.boolean("biases", o.biases, "whether the four maps have biases");
  s.choice("attention_function", o.attention_function,
           texts_of(attention_functions(), &AttentionFunctionEntry::name),
           "how scores become weights");
  return s;
}

std::vector<AttentionSlotSizes> attention_layers_of(const CostOptions& o) {
  AttentionSizes s{o.d_model, o.heads, o.d_head, o.d_value, o.kv_heads, o.biases};
  if (s.d_head == 0) s.d_head = o.d_model / o.heads;
  if (s.d_head == 0) {
    throw Error(text("cannot split a width of ", o.d_model, " into ", o.heads, " heads: floor(",
                     o.d_model, " / ", o.heads, ") = 0"),
                "name fewer heads, or set `d_head`");
  }
  if (s.d_value == 0) s.d_value = s.d_head;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.kv_heads > s.heads || s.heads % s.kv_heads != 0) {
    throw Error(text("cannot share ", s.kv_heads, " blocks of keys and values among ", s.heads,
                     " heads evenly"),
                "set `kv_heads` to a divisor of `heads`");
  }
  std::vector<AttentionSlotSizes> layers;
  for (Index layer = 0; layer < o.layers; ++layer) {
    layers.push_back(
        {text("layer ", layer), s, o.length, o.length, o.length, o.attention_function});
  }
  return layers;
}

std::vector<AttentionSlotSizes> attention_layers_of(const Transformer& model) {
  const TransformerConfig& config = model.config();
  std::vector<AttentionSlotSizes> layers;
  for (const AttentionLayer& layer : model.attention_layers()) {
    const MultiHeadAttention& a = *layer.attention;
    const Index seen = layer.window > 0 ? std::min(layer.window, layer.keys) : layer.keys;
    layers.push_back({layer.name,
                      {config.d_model, a.head_count(), a.d_head, a.d_value,
                       static_cast<Index>(a.kv_blocks.size()), config.biases},
                      layer.queries,
                      layer.keys,
                      layer.causal || layer.kind == AttentionKind::cross ? seen : 0,
                      a.function});
  }
  return layers;
}

std::string division_note(Index d_model, Index heads) {
  if (heads <= 0 || d_model % heads == 0) return "";
  const Index width = d_model / heads;
  return text(
      d_model, " does not divide into ", heads,
      " heads. Counted is what training makes of it: a head is floor(", d_model, " / ", heads,
      ") = ", width, " wide, ", heads, " heads fill ", heads * width, " columns, and W_O is [",
      heads * width, ", ", d_model,
      "]. PyTorch's nn.MultiheadAttention refuses: it wants d_model to be a multiple of the "
      "heads.");
}

Table parameter_cost(const std::vector<AttentionSlotSizes>& layers) {
  Table table{.name = "parameters",
              .columns = {{"matrix", "matrix"},
                          {"letters", "in letters",
                           "C d_model, H heads, G blocks of K and V, D and Dv widths"},
                          {"shape", "shape"},
                          Column("parameters", "parameters").shown_as(Form::grouped)},
              .title = "parameters: they do not depend on the number of heads if H D = C"};
  const auto whole = [](const char* formula, const AttentionSlotSizes& m) {
    return static_cast<Index>(value_of(formula, m, 1));
  };
  double sum = 0;
  const auto add = [&](const char* name, const std::string& letters, const auto& shape) {
    const double count = sum_of(letters, layers, 1);
    table.rows.push_back({name, letters, common(layers, shape), count});
    sum += count;
  };
  for (const MatrixCost& matrix : kMatrices) {
    add(matrix.name, text(matrix.rows, " x ", matrix.columns), [&](const auto& m) {
      return text(whole(matrix.rows, m), " x ", whole(matrix.columns, m));
    });
  }
  for (const MatrixCost& matrix : kMatrices) {
    if (layers.empty() || layers[0].sizes.biases) {
      add(matrix.bias, matrix.columns,
          [&](const auto& m) { return text(whole(matrix.columns, m)); });
    }
  }
  table.rows.push_back(
      {"all", "", layers.size() == 1 ? "" : text(layers.size(), " modules"), exact(sum)});
  return table;
}

Table operation_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{
      .name = "operations",
      .columns =
          {{"op", "op"},
           {"formula", "formula", "B sequences, T queries, S keys"},
           Column("forward_one_head", "one head, forward",
                  "operations with a single head as wide as all heads together")
               .shown_as(Form::grouped),
           Column("forward", "forward", "operations of a forward pass").shown_as(Form::grouped),
           Column("backward", "backward", "operations of the gradients").shown_as(Form::grouped)},
      .title =
          "operations: a single head as wide as all heads together, compared with these heads"};
  const AttentionFunctionEntry& function = function_of(layers);
  table.note =
      text("a multiply-add counts as two operations, a score of the ", function.name, " ",
           function.operations == 5 ? "five" : text(function.operations),
           ". Products cost the same in one head and in many; the ", function.name,
           " is computed once for each score of each head. ",
           function.fused != nullptr ? "The fused backward pass computes q k^T again."
                                     : "Composed of ops: weights are kept for the backward pass.");
  Modules single;
  std::ranges::transform(layers, std::back_inserter(single), in_one_head);
  double one = 0, forward = 0, backward = 0;
  for (const auto& [name, formula, factor] : ops_of(layers)) {
    const double in_one = sum_of(formula, single, batch), count = sum_of(formula, layers, batch);
    table.rows.push_back({name, formula, in_one, count, exact(factor * count)});
    one += in_one;
    forward += count;
    backward += factor * count;
  }
  table.rows.push_back({"all", "", exact(one), exact(forward), exact(backward)});
  return table;
}

Table memory_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{.name = "memory",
              .columns = with_kept(
                  {{"what", "what is kept"},
                   Column("formula", "formula", "B sequences, T queries, S keys").no_legend()}),
              .title = "memory of a training step: tensors kept for the backward pass",
              .note =
                  "composed attention keeps every weight (memory grows with T S); fused attention "
                  "keeps one number for each row"};
  const AttentionFunctionEntry& function = function_of(layers);
  if (function.fused == nullptr) {
    table.note += text("; ", function.name, " has no fused form");
  }
  const double qkv = total(layers, [&](const AttentionSlotSizes& m) {
    return value_of("B T H D", m, batch) + numbers_of(m, batch * m.keys, m.sizes.kv_heads);
  });
  table.rows.push_back(kept_row({"q, k, v", "B (T H D + S G (D + Dv))"}, qkv));
  for (const auto& [what, formula] : {std::pair("z", "B T H Dv"),
                                      {"weights, if composed", "B H T S"},
                                      {"log-sum-exp, if fused", "B H T"}}) {
    table.rows.push_back(kept_row({what, formula}, sum_of(formula, layers, batch)));
  }
  return table;
}

Table cache_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{.name = "kv_cache",
              .columns =
                  with_kept({{"kind", "kind"},
                             {"kv_heads", "blocks of K, V",
                              "number of blocks of keys and values, which heads may share"}}),
              .title = "keys and values cached during generation"};
  table.columns.push_back(
      Column("share", "of multi-head", "size relative to multi-head attention").fixed(3));
  double all = 0;
  const auto add = [&](const char* kind, const auto& blocks) {
    const double numbers = total(layers, [&](const AttentionSlotSizes& m) {
      return numbers_of(m, batch * m.kept, blocks(m));
    });
    if (table.rows.empty()) all = numbers;
    table.rows.push_back(
        kept_row({kind, layers.empty() ? Json() : Json(blocks(layers[0]))}, numbers));
    table.rows.back().push_back(numbers / all);
  };
  add("multi-head", [](const AttentionSlotSizes& m) { return m.sizes.heads; });
  if (!layers.empty() && default_groups(layers[0]) > 1) add("grouped", default_groups);
  add("multi-query", [](const AttentionSlotSizes&) { return Index{1}; });
  return table;
}

Table complexity_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{
      .name = "complexity",
      .columns = {{"part", "part of attention"},
                  {"time", "time"},
                  {"memory", "memory"},
                  Column("operations", "operations", "operations of a forward pass at this size")
                      .shown_as(Form::grouped),
                  Column("share", "share", "share of the operations of all parts").fixed(3)},
      .title = "growth with T = S tokens and d = C, and operations at this size",
      .note = "scores and sums of values exceed the projections if T is above d (1 + G / H)"};
  double all = 0;
  const std::vector<OpCount> counts = ops_of(layers);
  const auto add = [&](const char* part, const char* time, const char* memory,
                       std::initializer_list<int> ops) {
    double sum = 0;
    for (const int op : ops) sum += sum_of(counts[op].formula, layers, batch);
    table.rows.push_back({part, time, memory, exact(sum)});
    all += sum;
  };
  add("four projections", "T d^2", "T d", {0, 1, 2, 6});
  add("scores and sums of values", "T^2 d", "H T^2 composed, H T fused", {3, 5});
  add(function_of(layers).name, "H T^2", "the same", {4});
  for (Json::Array& row : table.rows) row.push_back(row[3].number() / all);
  return table;
}

Table published_cost() {
  Table table{
      .name = "published",
      .columns =
          {{"name", "published model"},
           {"d_model", "d_model"},
           {"heads", "heads"},
           {"kv_heads", "K, V", "blocks of keys and values"},
           {"d_head", "d_head", "width of a head; d_model / heads if the source states none"},
           {"layers", "layers"},
           Column("parameters", "weights",
                  "number of weights in one attention layer, without biases")
               .shown_as(Form::grouped),
           Column("cache_bytes", "cache/token",
                  "bytes per token over all layers in fp16; empty for models that do not generate")
               .shown_as(Form::grouped),
           {"source", "source"}},
      .title = "attention of published models",
      .note = "In T5-11B and PaLM 540B, heads times d_head is not d_model"};
  for (const PublishedModel& m : published_models()) {
    const Modules layer = attention_layers_of({.d_model = m.d_model,
                                               .heads = m.heads,
                                               .kv_heads = m.kv_heads,
                                               .d_head = m.d_head,
                                               .length = 1,
                                               .biases = false});
    const double cache = 2 * static_cast<double>(m.layers) * numbers_of(layer[0], 1, m.kv_heads);
    table.rows.push_back({m.name, m.d_model, m.heads, m.kv_heads, m.d_head, m.layers,
                          parameter_cost(layer).rows.back()[3], m.generates ? Json(cache) : Json(),
                          m.source});
  }
  return table;
}

Result cost_result(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  return {.tables = {parameter_cost(layers), operation_cost(layers, batch),
                     memory_cost(layers, batch), cache_cost(layers, batch),
                     complexity_cost(layers, batch)}};
}

}  // namespace headlab
