// Access to heads by name. The activation cache holds all heads of an attention layer side by side:
// patterns as [B, H, T, S], outputs as [B, T, H*Dv]. After pruning, the index of a head there
// differs from its original index. Read next: interventions.cc.
#include "headlab/lab/heads/scores/activations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/core/ops/layout.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"

namespace headlab {

Activations::Activations(const HeadedModel& model, const Batch& batch, bool patterns, bool logits)
    : model_(model) {
  const NoGrad no_grad;
  activations_.wants_patterns = patterns;
  logits_ = model.forward(batch, {}, {.activations = &activations_, .logits = logits});
}

Tensor Activations::pattern(const HeadId& head) const {
  const NoGrad no_grad;
  const Index slot = slot_of(model_, head);
  const Tensor& all = activations_.attention[head.attention_layer].pattern;  // [B, H, T, S]
  return slice(all, 1, slot, slot + 1).viewed_as({all.size(0), all.size(2), all.size(3)});
}

Tensor Activations::output(const HeadId& head) const {
  const NoGrad no_grad;
  const Index slot = slot_of(model_, head);
  const Index width = model_.attention_layers()[head.attention_layer].attention->d_value;
  return slice(activations_.attention[head.attention_layer].z, 2, slot * width, (slot + 1) * width);
}

Tensor normalised_rows(const Tensor& pattern) {
  Tensor rows = pattern.clone();
  const Index S = rows.size(-1);
  for (Index begin = 0; begin < rows.count(); begin += S) {
    const std::span<Scalar> row = rows.values().subspan(begin, S);
    double sum = 0;
    for (const Scalar weight : row) {
      sum += static_cast<double>(weight);
    }
    for (Scalar& weight : row) {
      weight = sum > 0 ? static_cast<Scalar>(static_cast<double>(weight) / sum) : 0;
    }
  }
  return rows;
}

std::vector<Tensor> normalised_patterns(const HeadedModel& model,
                                        const ActivationCache& activations) {
  std::vector<Tensor> patterns;
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    const Tensor& pattern = activations.attention[patterns.size()].pattern;
    const bool as_it_is =
        !pattern.defined() || kind_of(attention_layer.attention->function).normalises;
    patterns.push_back(as_it_is ? pattern : normalised_rows(pattern));
  }
  return patterns;
}

std::span<const std::int32_t> query_tokens(const Batch& batch, AttentionKind kind, Index b) {
  const Ids& tokens = kind == AttentionKind::encoder ? batch.source : batch.tokens;
  return std::span(tokens).subspan(b * batch.queries(kind), batch.queries_of(kind, b));
}

std::span<const std::int32_t> key_tokens(const Batch& batch, AttentionKind kind, Index b) {
  const Ids& tokens = kind == AttentionKind::self ? batch.tokens : batch.source;
  return std::span(tokens).subspan(b * batch.keys(kind), batch.keys_of(kind, b));
}

namespace {

/// Returns a pattern without weights: head, example and tokens.
HeadPattern blank_pattern(const Task& task, const HeadId& head, AttentionKind kind,
                          const Batch& batch, Index b) {
  HeadPattern pattern{.head = head, .example = b};
  for (const std::int32_t token : query_tokens(batch, kind, b)) {
    pattern.queries.push_back(task.token_text(token));
  }
  for (const std::int32_t token : key_tokens(batch, kind, b)) {
    pattern.keys.push_back(task.token_text(token));
  }
  return pattern;
}

/// Adds weights [1, T, S] and outputs [1, T, Dv] of the head, which may end in padding.
void set_weights(HeadPattern& pattern, const Activations& activations) {
  const Tensor rows = activations.pattern(pattern.head), z = activations.output(pattern.head);
  const auto outputs = z.values().first(std::ssize(pattern.queries) * z.size(2));
  pattern.z.assign(outputs.begin(), outputs.end());
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const auto row = rows.values().subspan(t * rows.size(2), pattern.keys.size());
    pattern.weights.insert(pattern.weights.end(), row.begin(), row.end());
  }
}

double sum_of(std::span<const Scalar> row) { return std::accumulate(row.begin(), row.end(), 0.0); }

TruthCells cells_of(const GroundTruth& truth, const HeadPattern& pattern,
                    const std::string& relation) {
  TruthCells cells{.relation = relation, .cells = std::vector<char>(pattern.weights.size())};
  Index queries = 0;
  const std::size_t S = pattern.keys.size();
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const auto keys = truth.keys(pattern.example, static_cast<Index>(t));
    queries += !keys.empty();
    const double sum =
        pattern.normalises ? 1 : sum_of(std::span(pattern.weights).subspan(t * S, S));
    for (const std::int32_t key : keys) {
      cells.cells[t * S + key] = 1;
      cells.mass += sum > 0 ? pattern.weights[t * S + key] / sum : 0;
    }
  }
  cells.mass /= static_cast<double>(queries);
  return cells;
}

/// Returns the patterns of some heads on sequence b of these examples, from one forward pass.
std::vector<HeadPattern> patterns_on(const HeadedModel& model, const Task& task,
                                     std::span<const HeadId> heads, const Example& examples,
                                     Index b) {
  const Activations activations(model, examples.batch.rows(b, b + 1));
  const std::vector<Relation> relations = task.relations();
  std::vector<HeadPattern> patterns;
  for (const HeadId& head : heads) {
    const AttentionLayer attention_layer = model.attention_layers()[head.attention_layer];
    const AttentionKind kind = attention_layer.kind;
    HeadPattern& pattern =
        patterns.emplace_back(blank_pattern(task, head, kind, examples.batch, b));
    pattern.normalises = kind_of(attention_layer.attention->function).normalises;
    set_weights(pattern, activations);
    for (std::size_t r = 0; r < examples.truth.size(); ++r) {
      if (relations[r].kind == kind) {
        pattern.truth.push_back(cells_of(examples.truth[r], pattern, relations[r].name));
      }
    }
  }
  return patterns;
}

/// Returns the patterns on a held-out example.
std::vector<HeadPattern> held_out_patterns(const HeadedModel& model, const Task& task,
                                           std::span<const HeadId> heads, Index b) {
  require(at_most_different(task, b + 1) > b, "cannot write activations of example ", b, ": ",
          task.different(Split::validation), " different ones are held out");
  const Example examples = task.make(streams::scored(), b + 1, Split::validation);
  return patterns_on(model, task, heads, examples, b);
}

}  // namespace

const TruthCells* HeadPattern::truth_of(std::string_view relation) const {
  const TruthCells* best = nullptr;
  for (const TruthCells& cells : truth) {
    if (cells.relation == relation) return &cells;
    if (relation.empty() && (best == nullptr || cells.mass > best->mass) && cells.mass >= 0) {
      best = &cells;
    }
  }
  return best;
}

HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       const Example& examples, Index b) {
  return patterns_on(model, task, std::span(&head, 1), examples, b)[0];
}

HeadPattern pattern_of(const HeadedModel& model, const Task& task, const HeadId& head,
                       Index example) {
  slot_of(model, head);  // checks the name before anything slow
  return held_out_patterns(model, task, std::span(&head, 1), example)[0];
}

std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task, Index example) {
  return held_out_patterns(model, task, all_heads(model), example);
}

std::vector<HeadPattern> patterns_of(const HeadedModel& model, const Task& task,
                                     const Example& examples, Index b) {
  return patterns_on(model, task, all_heads(model), examples, b);
}

Json to_json(const HeadPattern& pattern) {
  Json::Array rows;
  const std::size_t keys = pattern.keys.size();
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const auto row = pattern.weights.begin() + t * keys;
    rows.push_back(std::vector<Scalar>(row, row + keys));
  }
  Json::Array truth;
  for (const TruthCells& cells : pattern.truth) {
    std::vector<std::vector<Index>> of_queries(pattern.queries.size());
    for (std::size_t i = 0; i < cells.cells.size(); ++i) {
      if (cells.cells[i] != 0) of_queries[i / keys].push_back(static_cast<Index>(i % keys));
    }
    truth.push_back(
        Json::object({{"relation", cells.relation}, {"mass", cells.mass}, {"keys", of_queries}}));
  }
  return head_json(pattern.head, {{"example", pattern.example},
                                  {"tokens", pattern.queries},
                                  {"keys", pattern.keys},
                                  {"pattern", rows},
                                  {"truth", truth}});
}

namespace {

// Keys and values of all heads are side by side too, [B, S, G*D]; a head reads one block of them.

/// Returns rows [0, rows) and columns [block width, (block + 1) width) of sequence b of x [B, T,
/// C].
Matrix block_of(const Tensor& x, Index b, Index rows, Index block, Index width) {
  const Scalar* first = x.data() + b * x.size(1) * x.size(2) + block * width;
  return {rows, width,
          [&](Index t, Index j) { return static_cast<double>(first[t * x.size(2) + j]); }};
}

/// Returns [T, S]: 1 for the keys that a query sees; empty: it sees all.
std::vector<char> visible_cells(const AttentionSlot& slot, Index T, Index S) {
  const AttentionMask mask{.causal = slot.causal, .window = slot.window};
  std::vector<char> cells;
  for (Index i = 0; i < T * S && (mask.causal || mask.window > 0); ++i) {
    cells.push_back(mask.sees(0, i / S, i % S));
  }
  return cells;
}

}  // namespace

/// Computes the steps of softmax without a distance bias.
static void require_plain_softmax(const Transformer& model) {
  const TransformerConfig& config = model.config();
  const AttentionFunction function = config.attention_function;
  const bool is_softmax =
      function == AttentionFunction::softmax || function == AttentionFunction::softmax_composed;
  const PositionKind& positions = kind_of(config.positions);
  if (is_softmax && positions.slope == nullptr) return;
  const std::string reason = is_softmax
                                 ? text("the distance bias of ", positions.name, " positions")
                                 : text("`", kind_of(function).name, "` attention");
  throw Error(
      text("cannot show the steps of a head: they are those of softmax, and this model has ",
           reason),
      "show its weights with `headlab pattern RUN LAYER.HEAD`");
}

HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b) {
  require_plain_softmax(model);
  const Index slot = slot_of(model, head);
  const AttentionLayer attention_layer = model.attention_layers()[head.attention_layer];
  const AttentionActivations& own = activations.cache().attention[head.attention_layer];
  const Index T = batch.queries_of(attention_layer.kind, b),
              S = batch.keys_of(attention_layer.kind, b);
  const Index D = attention_layer.attention->d_head, Dv = attention_layer.attention->d_value;
  const Index block = attention_layer.attention->kv_head[slot];
  return attend(block_of(own.q, b, T, slot, D), block_of(own.k, b, S, block, D),
                block_of(own.v, b, S, block, Dv), visible_cells(attention_layer, T, S));
}

double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b) {
  const Tensor pattern = activations.pattern(head);  // [B, T, S]
  double largest = 0;
  for (Index t = 0; t < steps.weights.rows(); ++t) {
    const Scalar* row = pattern.data() + (b * pattern.size(1) + t) * pattern.size(2);
    for (Index s = 0; s < steps.weights.columns(); ++s) {
      largest = std::max(largest, std::abs(steps.weights(t, s) - static_cast<double>(row[s])));
    }
  }
  return largest;
}

}  // namespace headlab
