// Counting of costs. A row shows a formula and its value over all attention layers of a model,
// which a function next to the formula computes. Letters: B batch, T queries, S keys, N cached
// keys, C d_model, H heads, G blocks of K and V, D and Dv their widths. Tests read the formulas and
// compare them with the functions, parameters with the model's own count, and operations with those
// that a profile assigns to the ops as they run. Read next: profile.cc, which assigns time and
// operations to ops.
#include "headlab/lab/bench/cost.h"

#include <algorithm>
#include <functional>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

using AttentionLayers = std::vector<AttentionSlotSizes>;
using Count = std::function<double(const AttentionSlotSizes&)>;

/// Returns a count of whole numbers, which a double holds as it is up to 2^53 - 1.
double exact(double count) {
  if (count > static_cast<double>(kMostExact)) {
    throw Error("cannot count exactly: a count would be larger than 2^53 - 1",
                "name smaller sizes");
  }
  return count;
}

double total(const AttentionLayers& layers, const Count& count) {
  double sum = 0;
  for (const AttentionSlotSizes& layer : layers) sum += count(layer);
  return exact(sum);
}

/// Returns the same text for all attention layers, or "by attention layer".
std::string common(const AttentionLayers& layers,
                   const std::function<std::string(const AttentionSlotSizes&)>& of) {
  for (const AttentionSlotSizes& layer : layers) {
    if (of(layer) != of(layers[0])) return "by attention layer";
  }
  return layers.empty() ? "-" : of(layers[0]);
}

/// Returns a product of whole numbers.
double product(std::initializer_list<Index> factors) {
  double all = 1;
  for (const Index factor : factors) all *= static_cast<double>(factor);
  return all;
}

/// A formula as a table shows it, and its value for one attention layer.
struct Formula {
  std::string text;
  Count value;
};

double sum_of(const Formula& formula, const AttentionLayers& layers) {
  return total(layers, formula.value);
}

/// Rows or columns of a matrix: in letters, and their number.
struct Extent {
  const char* letters;
  Index (*of)(const AttentionSizes& s);
};

constexpr Extent kModel = {"C", [](const AttentionSizes& s) { return s.d_model; }};
constexpr Extent kQueries = {"H D", [](const AttentionSizes& s) { return s.heads * s.d_head; }};
constexpr Extent kKeys = {"G D", [](const AttentionSizes& s) { return s.kv_heads * s.d_head; }};
constexpr Extent kValues = {"G Dv", [](const AttentionSizes& s) { return s.kv_heads * s.d_value; }};
constexpr Extent kOutputs = {"H Dv", [](const AttentionSizes& s) { return s.heads * s.d_value; }};

/// Matrix of an attention layer, and the bias that is added to its columns.
struct MatrixCost {
  const char *name, *bias;
  Extent rows, columns;
};

constexpr MatrixCost kMatrices[] = {{"W_Q", "b_Q", kModel, kQueries},
                                    {"W_K", "b_K", kModel, kKeys},
                                    {"W_V", "b_V", kModel, kValues},
                                    {"W_O", "b_O", kOutputs, kModel}};

/// Returns one head as wide as all together.
AttentionSlotSizes in_one_head(AttentionSlotSizes layer) {
  AttentionSizes& s = layer.sizes;
  s.d_head *= s.heads;
  s.d_value *= s.heads;
  s.heads = s.kv_heads = std::min<Index>(1, s.heads);
  return layer;
}

/// Parts of attention that grow alike.
enum class Part { projections, products, function };

/// Op of attention, with its operations forward, and the ratio of backward to forward operations.
struct OpCount {
  const char* name;
  Part part;
  Formula forward;
  double backward;
};

/// Returns the attention function, which all attention layers share.
const AttentionFunctionEntry& function_of(const AttentionLayers& layers) {
  return kind_of(layers.empty() ? AttentionFunction::softmax : layers[0].function);
}

/// Returns the formula of a product with a matrix of d_model rows or columns.
Formula of_matrix(const char* shown, Index AttentionSlotSizes::*rows, Extent columns, Index B) {
  return {shown, [=](const AttentionSlotSizes& m) {
            return product({2, B, m.*rows, m.sizes.d_model, columns.of(m.sizes)});
          }};
}

/// Returns the formula of work on each score: so many operations for each of `width` numbers.
Formula of_scores(std::string shown, Index each, Index (*width)(const AttentionSizes& s), Index B) {
  return {std::move(shown), [=](const AttentionSlotSizes& m) {
            return product({each, B, m.sizes.heads, m.queries, m.keys, width(m.sizes)});
          }};
}

/// Returns the ops in the order in which they run. A composed function keeps the scores, so that
/// its backward pass does not compute them again.
std::vector<OpCount> ops_of(const AttentionLayers& layers, Index B) {
  const AttentionFunctionEntry& function = function_of(layers);
  const auto queries = &AttentionSlotSizes::queries;
  const auto keys = &AttentionSlotSizes::keys;
  const auto one = [](const AttentionSizes&) { return Index{1}; };
  const auto d_head = [](const AttentionSizes& s) { return s.d_head; };
  const auto d_value = [](const AttentionSizes& s) { return s.d_value; };
  const Part maps = Part::projections;
  const std::string shown = text(function.operations, " B H T S");
  return {{"x W_Q", maps, of_matrix("2 B T C H D", queries, kQueries, B), 2},
          {"x W_K", maps, of_matrix("2 B S C G D", keys, kKeys, B), 2},
          {"x W_V", maps, of_matrix("2 B S C G Dv", keys, kValues, B), 2},
          {"q k^T", Part::products, of_scores("2 B H T S D", 2, d_head, B),
           function.fused != nullptr ? 3.0 : 2.0},
          {function.name, Part::function, of_scores(shown, function.operations, one, B), 1},
          {"weights v", Part::products, of_scores("2 B H T S Dv", 2, d_value, B), 2},
          {"z W_O", maps, of_matrix("2 B T H Dv C", queries, kOutputs, B), 2}};
}

/// Numbers that are kept in memory.
struct KeptNumbers {
  const char* what;
  Formula numbers;
};

/// Returns the keys and values of that many positions.
double keys_and_values(const AttentionSlotSizes& m, Index positions) {
  return product({positions, m.sizes.kv_heads, m.sizes.d_head + m.sizes.d_value});
}

std::vector<KeptNumbers> kept_of(Index B) {
  return {{"q, k, v",
           {"B (T H D + S G (D + Dv))",
            [=](const AttentionSlotSizes& m) {
              return product({B, m.queries, kQueries.of(m.sizes)}) + keys_and_values(m, B * m.keys);
            }}},
          {"z",
           {"B T H Dv",
            [=](const auto& m) {
              return product({B, m.queries, kOutputs.of(m.sizes)});
            }}},
          {"weights, if composed",
           {"B H T S",
            [=](const auto& m) {
              return product({B, m.sizes.heads, m.queries, m.keys});
            }}},
          {"log-sum-exp, if fused",
           {"B H T",
            [=](const auto& m) {
              return product({B, m.sizes.heads, m.queries});
            }}},
          {"cache of generation",
           {"B N G (D + Dv)", [=](const auto& m) { return keys_and_values(m, B * m.kept); }}}};
}

/// A matrix or a bias with its number of parameters over all attention layers.
struct ParameterCost {
  std::string matrix, letters, shape;
  double parameters;
};

Fields<ParameterCost> parameter_fields() {
  Fields<ParameterCost> fields;
  fields.add({"matrix", "matrix"}, &ParameterCost::matrix);
  fields.add({"letters", "in letters", "C d_model, H heads, G blocks of K and V, D and Dv widths"},
             &ParameterCost::letters);
  fields.add({"shape", "shape"}, &ParameterCost::shape);
  fields.add(Column("parameters", "parameters").shown_as(Form::grouped),
             &ParameterCost::parameters);
  return fields;
}

/// An op with its operations over all attention layers.
struct OperationCost {
  std::string op, formula;
  double forward_one_head, forward, backward;
};

Fields<OperationCost> operation_fields() {
  Fields<OperationCost> fields;
  fields.add({"op", "op"}, &OperationCost::op);
  fields.add({"formula", "formula", "B sequences, T queries, S keys"}, &OperationCost::formula);
  fields.add(Column("forward_one_head", "one head, forward",
                    "operations with a single head as wide as all heads together")
                 .shown_as(Form::grouped),
             &OperationCost::forward_one_head);
  fields.add(Column("forward", "forward", "operations of a forward pass").shown_as(Form::grouped),
             &OperationCost::forward);
  fields.add(Column("backward", "backward", "operations of the gradients").shown_as(Form::grouped),
             &OperationCost::backward);
  return fields;
}

/// Numbers that are kept over all attention layers.
struct MemoryCost {
  std::string what, formula;
  double numbers;
};

Fields<MemoryCost> memory_fields() {
  Fields<MemoryCost> fields;
  fields.add({"what", "what is kept"}, &MemoryCost::what);
  fields.add(
      Column("formula", "formula", "B sequences, T queries, S keys, N cached keys").no_legend(),
      &MemoryCost::formula);
  fields.add(
      Column("numbers", "numbers", "how many numbers are kept").shown_as(Form::grouped).no_legend(),
      &MemoryCost::numbers);
  fields.add(Column("fp32_mb", "fp32 MB", "10^6 bytes, four a number").fixed(3).no_legend(),
             [](const MemoryCost& row) { return exact(4 * row.numbers) / 1e6; });
  fields.add(Column("fp16_mb", "fp16 MB", "10^6 bytes, two a number").fixed(3).no_legend(),
             [](const MemoryCost& row) { return 2 * row.numbers / 1e6; });
  return fields;
}

}  // namespace

Table parameter_cost(const std::vector<AttentionSlotSizes>& layers) {
  std::vector<ParameterCost> costs;
  double sum = 0;
  const auto add = [&](const char* name, const Formula& formula, const auto& shape) {
    const double count = sum_of(formula, layers);
    costs.push_back({name, formula.text, common(layers, shape), count});
    sum += count;
  };
  for (const MatrixCost& matrix : kMatrices) {
    const Extent& rows = matrix.rows;
    const Extent& columns = matrix.columns;
    add(matrix.name,
        {text(rows.letters, " x ", columns.letters),
         [&](const auto& m) {
           return product({rows.of(m.sizes), columns.of(m.sizes)});
         }},
        [&](const auto& m) { return text(rows.of(m.sizes), " x ", columns.of(m.sizes)); });
  }
  for (const MatrixCost& matrix : kMatrices) {
    if (layers.empty() || layers[0].sizes.biases) {
      const Extent& columns = matrix.columns;
      add(matrix.bias,
          {columns.letters, [&](const auto& m) { return product({columns.of(m.sizes)}); }},
          [&](const auto& m) { return text(columns.of(m.sizes)); });
    }
  }
  costs.push_back(
      {"all", "", layers.size() == 1 ? "" : text(layers.size(), " attention layers"), exact(sum)});
  return parameter_fields().table(
      {.name = "parameters",
       .title = "parameters: they do not depend on the number of heads if H D = C"},
      costs);
}

Table operation_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{
      .name = "operations",
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
  AttentionLayers single;
  std::ranges::transform(layers, std::back_inserter(single), in_one_head);
  std::vector<OperationCost> rows;
  double one = 0, forward = 0, backward = 0;
  for (const OpCount& op : ops_of(layers, batch)) {
    const double in_one = sum_of(op.forward, single);
    const double count = sum_of(op.forward, layers);
    rows.push_back({op.name, op.forward.text, in_one, count, exact(op.backward * count)});
    one += in_one;
    forward += count;
    backward += op.backward * count;
  }
  rows.push_back({"all", "", exact(one), exact(forward), exact(backward)});
  return operation_fields().table(std::move(table), rows);
}

Table memory_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  Table table{
      .name = "memory",
      .title =
          "memory: tensors that a training step keeps for the backward pass, and keys and values "
          "that generation caches",
      .note =
          "composed attention keeps every weight (memory grows with T S); fused attention keeps "
          "one number for each row; generation caches N keys: all, those in the window, or none"};
  const AttentionFunctionEntry& function = function_of(layers);
  if (function.fused == nullptr) {
    table.note += text("; ", function.name, " has no fused form");
  }
  std::vector<MemoryCost> rows;
  for (const KeptNumbers& kept : kept_of(batch)) {
    rows.push_back({kept.what, kept.numbers.text, sum_of(kept.numbers, layers)});
  }
  return memory_fields().table(std::move(table), rows);
}

Table complexity_cost(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  struct PartCost {  // growth of one part of attention, and its operations at this size
    const char *name, *time, *memory;
    double operations;
  };
  const std::vector<OpCount> ops = ops_of(layers, batch);
  const auto operations = [&](Part part) {
    double sum = 0;
    for (const OpCount& op : ops) sum += op.part == part ? sum_of(op.forward, layers) : 0;
    return sum;
  };
  const std::vector<PartCost> parts = {{"four projections", "T d^2", "T d",
                                        operations(Part::projections)},
                                       {"scores and sums of values", "T^2 d",
                                        "H T^2 composed, H T fused", operations(Part::products)},
                                       {function_of(layers).name, "H T^2", "the same",
                                        operations(Part::function)}};
  double all = 0;
  for (const PartCost& part : parts) all += part.operations;
  Fields<PartCost> fields;
  fields.add({"part", "part of attention"}, &PartCost::name);
  fields.add({"time", "time"}, &PartCost::time);
  fields.add({"memory", "memory"}, &PartCost::memory);
  fields.add(Column("operations", "operations", "operations of a forward pass at this size")
                 .shown_as(Form::grouped),
             [](const PartCost& part) { return exact(part.operations); });
  fields.add(Column("share", "share", "share of the operations of all parts").fixed(3),
             [&](const PartCost& part) { return exact(part.operations) / all; });
  return fields.table(
      {.name = "complexity",
       .title = "growth with T = S tokens and d = C, and operations at this size",
       .note = "scores and sums of values exceed the projections if T is above d (1 + G / H)\n"
               "masked scores are counted too: a causal mask halves nothing"},
      parts);
}

Result cost_result(const std::vector<AttentionSlotSizes>& layers, Index batch) {
  return {.tables = {parameter_cost(layers), operation_cost(layers, batch),
                     memory_cost(layers, batch), complexity_cost(layers, batch)}};
}

}  // namespace headlab
