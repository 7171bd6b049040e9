// All scores come from three computations: one recorded pass (attention, rollout), a backward pass
// each from the logits and the loss (attribution, importance), and a pass for each masked edge
// (ablation), of which pass i masks the i-th edge of every sequence. The gradient of a weight
// follows from that of z, because z is linear in the weights: dL/dA(t, s) = dL/dz(t) . v(s). Read
// next: edge_areas.cc.
#include "headlab/lab/heads/causes/edges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/core/base/progress.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/heads/causes/rollout.h"
#include "lab/heads/causes/node_values.h"

namespace headlab {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using EdgesBySequence = std::vector<std::vector<ScoredEdge>>;

/// An attention layer with its index in execution order.
struct Layer {
  std::size_t place;
  AttentionLayer attention_layer;
};

/// First-order effects of the edges of one row: the weights A and slopes dL/dA of one head at one
/// query.
class RowEffects {
 public:
  RowEffects(std::span<const Scalar> weights, std::vector<double> slopes, AfterMask after_mask)
      : weights_(weights), slopes_(std::move(slopes)), after_mask_(after_mask) {
    for (std::size_t s = 0; s < slopes_.size(); ++s) {
      weight_sum_ += weight(s);
      product_sum_ += weight(s) * slopes_[s];
    }
    if (after_mask == AfterMask::with_sink) weight_sum_ = 1;  // the sink has the rest
  }

  /// Returns the estimated rise of the loss if key s is masked: its weight goes to 0, and the
  /// other weights grow in proportion unless the function leaves them unchanged.
  double rise(std::size_t s) const {
    const double lost = -weight(s) * slopes_[s];
    const double rest = weight_sum_ - weight(s);
    if (after_mask_ == AfterMask::unchanged || rest <= 0) return lost;
    return lost + weight(s) / rest * (product_sum_ - weight(s) * slopes_[s]);
  }

  /// Returns dL/dgate at 1, for a gate on key s before the row is normalised.
  double gate_slope(std::size_t s) const {
    const double mean = after_mask_ == AfterMask::unchanged ? 0 : product_sum_;
    return weight(s) * (slopes_[s] - mean);
  }

 private:
  double weight(std::size_t s) const { return static_cast<double>(weights_[s]); }

  std::span<const Scalar> weights_;
  std::vector<double> slopes_;
  AfterMask after_mask_;
  double weight_sum_ = 0, product_sum_ = 0;
};

/// A query of one head: query t of sequence b, and the columns of the head in z and v.
struct HeadQuery {
  Index b = 0, t = 0;
  Index first_column = 0, width = 0;
};

/// Returns dL/dA of one row: dL/dz . v(s) for each key s.
std::vector<double> slopes_of(const Tensor& gradient, const Tensor& v, const HeadQuery& query) {
  const Index keys = v.size(1);
  const Index row = query.b * gradient.size(1) + query.t;
  const Scalar* of_z = gradient.data() + row * gradient.size(2) + query.first_column;
  std::vector<double> slopes(static_cast<std::size_t>(keys));
  for (Index s = 0; s < keys; ++s) {
    const Scalar* value = v.data() + (query.b * keys + s) * v.size(2) + query.first_column;
    double sum = 0;
    for (Index d = 0; d < query.width; ++d) {
      sum += static_cast<double>(of_z[d]) * static_cast<double>(value[d]);
    }
    slopes[static_cast<std::size_t>(s)] = sum;
  }
  return slopes;
}

/// Returns the edges of each query.
std::vector<std::span<ScoredEdge>> rows_of(std::vector<ScoredEdge>& edges) {
  std::vector<std::span<ScoredEdge>> rows;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= edges.size(); ++i) {
    if (i < edges.size() && edges[i].t == edges[begin].t) continue;
    rows.push_back(std::span(edges).subspan(begin, i - begin));
    begin = i;
  }
  return rows;
}

/// Scores the edges of one kind of attention in one batch.
class EdgeScoring {
 public:
  EdgeScoring(const Transformer& model, const Batch& batch, AttentionKind kind)
      : model_(model),
        batch_(batch),
        kind_(kind),
        edges_(static_cast<std::size_t>(batch.size)),
        whole_(model, batch) {
    const std::vector<AttentionLayer> attention_layers = model.attention_layers();
    for (std::size_t m = 0; m < attention_layers.size(); ++m) {
      const bool has_heads = attention_layers[m].attention->head_count() > 0;
      if (attention_layers[m].kind == kind && has_heads) {
        layers_.push_back({m, attention_layers[m]});
      }
    }
  }

  /// Adds the edges of the query t of sequence b.
  void add_query(Index b, Index t) {
    for (Index s = 0; s < batch_.keys_of(kind_, b); ++s) {
      if (!is_visible(b, t, s)) continue;
      edges_[static_cast<std::size_t>(b)].push_back({.t = t, .s = s});
    }
  }

  EdgesBySequence scored() {
    add_attention();
    add_rollout();
    add_gradients();
    add_ablation();
    return std::move(edges_);
  }

 private:
  bool is_visible(Index b, Index t, Index s) const {
    return std::ranges::any_of(layers_, [&](const Layer& layer) {
      const AttentionMask mask{.causal = layer.attention_layer.causal,
                               .window = layer.attention_layer.window};
      return mask.sees(b, t, s);
    });
  }
  Index heads_of(const Layer& layer) const { return layer.attention_layer.attention->head_count(); }
  std::span<const Scalar> row_of(const Layer& layer, Index h, Index b, Index t) const {
    const auto keys = static_cast<std::size_t>(batch_.keys(kind_));
    const auto pattern = whole_.cache().attention[layer.place].pattern_of(h, b);
    return pattern.subspan(static_cast<std::size_t>(t) * keys, keys);
  }

  void add_attention();
  void add_rollout();
  void add_gradients();
  /// Returns the gradients of the loss or of the margins by z, by layer.
  std::vector<Tensor> gradients_of_z(bool of_loss) const;
  template <class Use>
  void for_effects(const std::vector<Tensor>& gradients, const Use& use);
  void add_ablation();
  std::vector<HeadInterventions> masks_of(std::size_t i) const;

  const Transformer& model_;
  const Batch& batch_;
  AttentionKind kind_;
  std::vector<Layer> layers_;
  EdgesBySequence edges_;
  Activations whole_;
};

void EdgeScoring::add_attention() {
  for (Index b = 0; b < batch_.size; ++b) {
    for (ScoredEdge& edge : edges_[static_cast<std::size_t>(b)]) {
      for (const Layer& layer : layers_) {
        for (Index h = 0; h < heads_of(layer); ++h) {
          const auto row = row_of(layer, h, b, edge.t);
          edge.at(EdgeScore::attention) +=
              static_cast<double>(row[static_cast<std::size_t>(edge.s)]);
        }
      }
    }
  }
}

void EdgeScoring::add_rollout() {
  const bool has_one_stream = !model_.config().has_source();
  for (Index b = 0; b < batch_.size; ++b) {
    std::vector<ScoredEdge>& edges = edges_[static_cast<std::size_t>(b)];
    if (edges.empty()) continue;
    if (!has_one_stream) {
      for (ScoredEdge& edge : edges) edge.at(EdgeScore::rollout) = kUnknown;
      continue;
    }
    const Matrix rollout =
        attention_rollout(layer_attention(model_, whole_, b, batch_.length_of(b)));
    for (ScoredEdge& edge : edges) edge.at(EdgeScore::rollout) = rollout(edge.t, edge.s);
  }
}

/// Returns dM/dlogits: M is the sum over targets of the mean logit minus the target's logit.
Tensor gradient_of_margins(const Tensor& logits, const Batch& batch) {
  const Tensor gradient = Tensor::zeros(logits.shape());
  const auto rows = static_cast<Index>(batch.targets.size());
  const Index outputs = logits.count() / rows;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t target = batch.targets[static_cast<std::size_t>(row)];
    if (target < 0) continue;
    std::fill_n(gradient.data() + row * outputs, outputs, Scalar(1) / static_cast<Scalar>(outputs));
    gradient.data()[row * outputs + target] -= 1;
  }
  return gradient;
}

std::vector<Tensor> EdgeScoring::gradients_of_z(bool of_loss) const {
  const Transformer copy = model_.clone();  // its parameters get gradients
  ActivationCache activations;
  activations.wants_patterns = false;
  const Tensor logits = copy.forward(batch_, {}, {.activations = &activations});
  for (const Layer& layer : layers_) activations.attention[layer.place].z.retain_grad();
  if (of_loss) {
    backward(copy.loss_of(logits, batch_, 1));
  } else {
    backward(logits, gradient_of_margins(logits, batch_));
  }
  std::vector<Tensor> gradients;
  for (const Layer& layer : layers_) {
    gradients.push_back(activations.attention[layer.place].z.grad());
  }
  return gradients;
}

/// Calls use(row of edges, its effects) for each query and each head.
/// gradients: of z, by layer; undefined if nothing depends on the layer.
template <class Use>
void EdgeScoring::for_effects(const std::vector<Tensor>& gradients, const Use& use) {
  const NoGrad no_grad;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    if (!gradients[l].defined()) continue;
    const MultiHeadAttention& attention = *layer.attention_layer.attention;
    const Tensor v = head_inputs(attention, whole_.cache().attention[layer.place]).v;
    const AfterMask after_mask = kind_of(attention.function).after_mask;
    for (Index b = 0; b < batch_.size; ++b) {
      for (const std::span<ScoredEdge> row : rows_of(edges_[static_cast<std::size_t>(b)])) {
        for (Index h = 0; h < heads_of(layer); ++h) {
          const Index t = row[0].t;
          const Index width = attention.d_value;
          std::vector<double> slopes = slopes_of(gradients[l], v, {b, t, h * width, width});
          use(row, RowEffects(row_of(layer, h, b, t), std::move(slopes), after_mask));
        }
      }
    }
  }
}

void EdgeScoring::add_gradients() {
  using Row = std::span<ScoredEdge>;
  for_effects(gradients_of_z(false), [](Row row, const RowEffects& effects) {
    for (ScoredEdge& edge : row) {
      edge.at(EdgeScore::attribution) += effects.rise(static_cast<std::size_t>(edge.s));
    }
  });
  for_effects(gradients_of_z(true), [](Row row, const RowEffects& effects) {
    for (ScoredEdge& edge : row) {
      const auto s = static_cast<std::size_t>(edge.s);
      edge.at(EdgeScore::attribution_loss) += effects.rise(s);
      edge.at(EdgeScore::importance) += std::abs(effects.gate_slope(s));
    }
  });
}

/// Returns the masks of the i-th edge of every sequence, in all heads of the kind.
std::vector<HeadInterventions> EdgeScoring::masks_of(std::size_t i) const {
  std::vector<HeadInterventions> interventions(whole_.cache().attention.size());
  for (const Layer& layer : layers_) {
    const Tensor& pattern = whole_.cache().attention[layer.place].pattern;  // [B, H, T, S]
    Flags& hidden = interventions[layer.place].masked_edges;
    hidden = Flags(static_cast<std::size_t>(pattern.count()));
    for (Index b = 0; b < batch_.size; ++b) {
      const std::vector<ScoredEdge>& edges = edges_[static_cast<std::size_t>(b)];
      if (i >= edges.size()) continue;
      for (Index h = 0; h < pattern.size(1); ++h) {
        const Index row = (b * pattern.size(1) + h) * pattern.size(2) + edges[i].t;
        hidden[static_cast<std::size_t>(row * pattern.size(3) + edges[i].s)] = 1;
      }
    }
  }
  return interventions;
}

void EdgeScoring::add_ablation() {
  const NoGrad no_grad;
  std::vector<double> before(edges_.size());
  add_losses(whole_.logits(), batch_, 0, 1, before);
  std::size_t passes = 0;
  for (const std::vector<ScoredEdge>& edges : edges_) passes = std::max(passes, edges.size());
  Steps steps(static_cast<std::int64_t>(passes));
  for (std::size_t i = 0; i < passes; ++i) {
    std::vector<double> after(edges_.size());
    add_losses(model_.forward(batch_, {}, {.interventions = masks_of(i)}), batch_, 0, 1, after);
    for (std::size_t b = 0; b < edges_.size(); ++b) {
      if (i < edges_[b].size()) edges_[b][i].at(EdgeScore::ablation) = after[b] - before[b];
    }
    steps.done();
  }
}

}  // namespace

const char* name_of(EdgeScore score) {
  constexpr const char* kNames[] = {"attention",   "rollout",          "ablation",
                                    "attribution", "attribution_loss", "importance"};
  return kNames[static_cast<std::size_t>(score)];
}

std::vector<std::vector<ScoredEdge>> score_edges(const Transformer& model, const Example& example,
                                                 const std::vector<Relation>& relations,
                                                 AttentionKind kind) {
  EdgeScoring scoring(model, example.batch, kind);
  for (Index b = 0; b < example.batch.size; ++b) {
    for (Index t = 0; t < example.batch.queries_of(kind, b); ++t) {
      bool has_truth = false;
      for (std::size_t r = 0; r < relations.size(); ++r) {
        const bool is_of_kind = relations[r].kind == kind;
        has_truth = has_truth || (is_of_kind && !example.truth[r].keys(b, t).empty());
      }
      if (has_truth) scoring.add_query(b, t);
    }
  }
  return scoring.scored();
}

}  // namespace headlab
