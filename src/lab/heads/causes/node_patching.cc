// A patched head is always an intervention on its output z: with other q, k, v or weights, z is
// computed here from the recorded inputs of its attention, which no earlier change affects. A
// feed-forward network is patched through the stream after its block. Gradients for attribution
// patching reach z, networks and streams in one backward pass; those of q and k follow from z.
// Read next: node_values.cc; node_report.cc, the tables.
#include "headlab/lab/heads/causes/node_patching.h"

#include <algorithm>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "lab/heads/causes/contrasts.h"
#include "lab/heads/causes/node_values.h"

namespace headlab {
namespace {

using OutputsByKind = std::map<PatchNode, Tensor>;

constexpr PatchNode kOfHeads[] = {PatchNode::q, PatchNode::k, PatchNode::v, PatchNode::pattern,
                                  PatchNode::output};

/// Returns the intervention that replaces one head's z by its part of `z` [B, T, H*Dv].
HeadInterventions put_one(const Tensor& z, Index heads, Index place) {
  HeadInterventions interventions{.gate = Tensor::full({heads}, 1)};
  interventions.gate.data()[place] = 0;
  interventions.replacement = z.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
  return interventions;
}

/// Returns `x` [B, T, W] with the elements of `from` in columns [begin, end).
Tensor with_columns(const Tensor& x, const Tensor& from, Index begin, Index end) {
  Tensor mixed = x.clone();
  const Index width = x.size(2);
  for (Index row = 0; row < x.size(0) * x.size(1); ++row) {
    std::copy(from.data() + row * width + begin, from.data() + row * width + end,
              mixed.data() + row * width + begin);
  }
  return mixed;
}

/// Returns `x` [B, T, C] with position t of `from`.
Tensor with_position(const Tensor& x, const Tensor& from, Index t) {
  Tensor mixed = x.clone();
  const Index T = x.size(1);
  const Index C = x.size(2);
  for (Index b = 0; b < x.size(0); ++b) {
    std::copy_n(from.data() + (b * T + t) * C, C, mixed.data() + (b * T + t) * C);
  }
  return mixed;
}

/// Returns the sum of gradient x (donor - base) over columns [begin, end) of the last axis.
double product_sum(const Tensor& gradient, const Tensor& donor, const Tensor& base, Index begin,
                   Index end) {
  if (!gradient.defined()) return 0;
  const Index width = base.size(-1);
  double sum = 0;
  for (Index i = 0; i < base.count(); ++i) {
    const Index column = i % width;
    if (column < begin || column >= end) continue;
    sum += static_cast<double>(gradient.data()[i]) *
           (static_cast<double>(donor.data()[i]) - static_cast<double>(base.data()[i]));
  }
  return sum;
}

class Patching {
 public:
  Patching(const Transformer& model, const Batch& base, const Batch& donor,
           std::vector<Contrast> contrasts)
      : model_(model),
        attention_layers_(model.attention_layers()),
        batch_(base),
        contrasts_(std::move(contrasts)),
        base_(model, base),
        donor_(model, donor),
        base_sums_(sums_of(base_.logits())),
        whole_(sums_of(donor_.logits())) {
    for (std::size_t i = 0; i < whole_.size(); ++i) whole_[i] -= base_sums_[i];
  }

  double base() const { return mean_of(base_.logits()); }
  double donor() const { return mean_of(donor_.logits()); }

  void add_heads(std::vector<PatchedNode>& nodes) const;
  void add_networks(std::vector<PatchedNode>& nodes) const;
  void add_streams(std::vector<PatchedNode>& nodes) const;
  /// Fills the estimates of attribution patching.
  void estimate(std::vector<PatchedNode>& nodes) const;
  std::vector<PatchedPath> paths() const;

 private:
  Index outputs() const { return model_.config().outputs(); }
  double mean_of(const Tensor& logits) const {
    return mean_difference(logits, outputs(), contrasts_);
  }
  std::vector<double> sums_of(const Tensor& logits) const {
    return differences_by_pair(logits, outputs(), batch_.length * batch_.targets_per_position,
                               contrasts_);
  }
  Interval effect(const Tensor& logits) const {
    std::vector<double> part = sums_of(logits);
    for (std::size_t i = 0; i < part.size(); ++i) part[i] -= base_sums_[i];
    return ratio_interval(part, whole_);
  }
  Interval effect_of_head(const HeadId& head, const Tensor& z) const {
    ModelHooks hooks{.interventions = std::vector<HeadInterventions>(attention_layers_.size())};
    hooks.interventions[head.attention_layer] =
        put_one(z, attention_layers_[head.attention_layer].attention->head_count(),
                slot_of(model_, head));
    return effect(model_.forward(batch_, {}, hooks));
  }
  Interval effect_of_stream(std::size_t place, const Tensor& x) const {
    ModelHooks hooks{.residual = std::vector<Tensor>(place + 1)};
    hooks.residual[place] = x;
    return effect(model_.forward(batch_, {}, hooks));
  }
  OutputsByKind patched_outputs(std::size_t attention_layer,
                                const AttentionActivations& from) const;
  /// Returns the pass in which one head has its output of the donor and all others theirs of the
  /// base; `activations` receives its tensors.
  Tensor pass_with_sender(const HeadId& from, ActivationCache& activations) const;
  void estimate_heads(const std::vector<Tensor>& gradients, std::vector<PatchedNode>& nodes) const;
  void estimate_rest(const ActivationCache& activations, std::vector<PatchedNode>& nodes) const;

  const Transformer& model_;
  std::vector<AttentionLayer> attention_layers_;
  const Batch& batch_;
  std::vector<Contrast> contrasts_;
  Activations base_, donor_;
  std::vector<double> base_sums_, whole_;  // by pair: of the base, and donor - base
};

/// Returns z of a layer with the nodes of each kind, of all its heads, from another pass.
OutputsByKind Patching::patched_outputs(std::size_t attention_layer,
                                        const AttentionActivations& from) const {
  const AttentionLayer& layer = attention_layers_[attention_layer];
  const HeadInputs own = head_inputs(*layer.attention, base_.cache().attention[attention_layer]);
  const HeadInputs other = head_inputs(*layer.attention, from);
  OutputsByKind kinds;
  kinds[PatchNode::q] = attend(layer, {other.q, own.k, own.v}, batch_);
  kinds[PatchNode::k] = attend(layer, {own.q, other.k, own.v}, batch_);
  kinds[PatchNode::v] = attend(layer, {own.q, own.k, other.v}, batch_);
  if (from.pattern.defined()) kinds[PatchNode::pattern] = attend_with(layer, from.pattern, own.v);
  kinds[PatchNode::output] = from.z;
  return kinds;
}

void Patching::add_heads(std::vector<PatchedNode>& nodes) const {
  for (std::size_t m = 0; m < attention_layers_.size(); ++m) {
    if (attention_layers_[m].attention->head_count() == 0) continue;
    const OutputsByKind kinds = patched_outputs(m, donor_.cache().attention[m]);
    for (const std::int32_t number : attention_layers_[m].attention->heads) {
      const HeadId head{static_cast<Index>(m), number};
      for (const PatchNode kind : kOfHeads) {
        PatchedNode& node = nodes.emplace_back();
        node.kind = kind;
        node.head = head;
        node.sublayer = attention_layers_[m].sublayer;
        node.effect = effect_of_head(head, kinds.at(kind));
      }
    }
  }
}

void Patching::add_networks(std::vector<PatchedNode>& nodes) const {
  if (kind_of(model_.config().norm_place).stream == StreamKind::other) return;
  for (const auto& [from, x] : donor_.cache().written) {
    if (from.kind != Sublayer::mlp) continue;
    PatchedNode& node = nodes.emplace_back();
    node.kind = PatchNode::mlp;
    node.sublayer = from;
    node.effect =
        effect_of_stream(stream_after(model_, from), stream_with(model_, base_.cache(), from, x));
  }
}

void Patching::add_streams(std::vector<PatchedNode>& nodes) const {
  const std::vector<Tensor>& own = base_.cache().residual;
  const std::vector<Tensor>& other = donor_.cache().residual;
  for (std::size_t stream = 0; stream < own.size(); ++stream) {
    for (Index t = 0; t < own[stream].size(1); ++t) {
      PatchedNode& node = nodes.emplace_back();
      node.kind = PatchNode::stream;
      node.stream = stream;
      node.position = t;
      node.effect = effect_of_stream(stream, with_position(own[stream], other[stream], t));
    }
  }
}

/// Estimates of the nodes of heads from dM/dz by layer.
void Patching::estimate_heads(const std::vector<Tensor>& gradients,
                              std::vector<PatchedNode>& nodes) const {
  const double whole = donor() - base();
  for (PatchedNode& node : nodes) {
    if (!node.head || !gradients[node.head->attention_layer].defined()) continue;
    const auto m = static_cast<std::size_t>(node.head->attention_layer);
    const MultiHeadAttention& a = *attention_layers_[m].attention;
    const Index place = slot_of(model_, *node.head);
    const AttentionActivations& own = base_.cache().attention[m];
    const AttentionActivations& other = donor_.cache().attention[m];
    const bool is_nonlinear = node.kind == PatchNode::q || node.kind == PatchNode::k;
    if (!is_nonlinear) {  // z is linear in v and in the pattern
      const OutputsByKind kinds = patched_outputs(m, other);
      node.estimate = product_sum(gradients[m], kinds.at(node.kind), own.z, place * a.d_value,
                                  (place + 1) * a.d_value) /
                      whole;
      continue;
    }
    HeadInputs base = head_inputs(a, own);
    const HeadInputs donor = head_inputs(a, other);
    const bool is_q = node.kind == PatchNode::q;
    Tensor leaf = (is_q ? base.q : base.k).clone();
    leaf.set_requires_grad();
    (is_q ? base.q : base.k) = leaf;
    backward(attend(attention_layers_[m], base, batch_), gradients[m]);
    node.estimate = product_sum(leaf.grad(), is_q ? donor.q : donor.k, leaf, place * a.d_head,
                                (place + 1) * a.d_head) /
                    whole;
  }
}

/// Estimates of networks and streams, whose tensors in `activations` have gradients.
void Patching::estimate_rest(const ActivationCache& activations,
                             std::vector<PatchedNode>& nodes) const {
  const double whole = donor() - base();
  for (PatchedNode& node : nodes) {
    if (node.kind == PatchNode::mlp) {
      const Tensor x = written_by(activations, *node.sublayer);
      const Tensor other = written_by(donor_.cache(), *node.sublayer);
      node.estimate = product_sum(x.grad(), other, x, 0, x.size(-1)) / whole;
    }
    if (node.kind == PatchNode::stream) {
      const Tensor& x = activations.residual[*node.stream];
      const Tensor& other = donor_.cache().residual[*node.stream];
      const Tensor moved = with_position(x.detach(), other, node.position);
      node.estimate = product_sum(x.grad(), moved, x, 0, x.size(-1)) / whole;
    }
  }
}

void Patching::estimate(std::vector<PatchedNode>& nodes) const {
  const Transformer copy = model_.clone();  // its parameters get gradients
  ActivationCache activations;
  activations.wants_patterns = false;
  const Tensor logits = copy.forward(batch_, {}, {.activations = &activations});
  for (AttentionActivations& layer : activations.attention) {
    if (layer.z.defined()) layer.z.retain_grad();
  }
  for (Tensor& stream : activations.residual) stream.retain_grad();
  for (ActivationCache::Written& part : activations.written) {
    if (part.from.kind == Sublayer::mlp) part.x.retain_grad();
  }
  backward(logits, gradient_of_mean(logits, outputs(), contrasts_));
  std::vector<Tensor> gradients;
  for (const AttentionActivations& layer : activations.attention) {
    gradients.push_back(layer.z.defined() ? layer.z.grad() : Tensor());
  }
  estimate_heads(gradients, nodes);
  estimate_rest(activations, nodes);
}

Tensor Patching::pass_with_sender(const HeadId& from, ActivationCache& activations) const {
  ModelHooks hooks{.interventions = std::vector<HeadInterventions>(attention_layers_.size()),
                   .activations = &activations};
  for (std::size_t m = 0; m < attention_layers_.size(); ++m) {
    const Index heads = attention_layers_[m].attention->head_count();
    if (heads == 0) continue;
    Tensor z = base_.cache().attention[m].z;
    if (static_cast<Index>(m) == from.attention_layer) {
      const Index width = attention_layers_[m].attention->d_value;
      const Index place = slot_of(model_, from);
      z = with_columns(z, donor_.cache().attention[m].z, place * width, (place + 1) * width);
    }
    hooks.interventions[m].gate = Tensor::zeros({heads});
    hooks.interventions[m].replacement =
        z.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
  }
  return model_.forward(batch_, {}, hooks);
}

std::vector<PatchedPath> Patching::paths() const {
  std::vector<PatchedPath> paths;
  const std::vector<HeadId> heads = all_heads(model_);
  Steps steps(std::ssize(heads));
  for (const HeadId& from : heads) {
    ActivationCache activations;
    activations.wants_patterns = false;
    const Tensor logits = pass_with_sender(from, activations);
    paths.push_back({.from = from, .by = "logits", .effect = effect(logits)});
    for (const HeadId& to : heads) {
      if (to.attention_layer <= from.attention_layer) continue;
      const OutputsByKind kinds =
          patched_outputs(static_cast<std::size_t>(to.attention_layer),
                          activations.attention[static_cast<std::size_t>(to.attention_layer)]);
      for (const PatchNode kind : {PatchNode::q, PatchNode::k, PatchNode::v}) {
        paths.push_back({from, to, name_of(kind), effect_of_head(to, kinds.at(kind))});
      }
    }
    steps.done();
  }
  return paths;
}

}  // namespace

const char* name_of(PatchNode node) {
  constexpr const char* kNames[] = {"q", "k", "v", "pattern", "output", "mlp", "stream"};
  return kNames[static_cast<std::size_t>(node)];
}

PatchDirection patch_nodes(const Transformer& model, const Batch& clean, const Batch& corrupted,
                           bool restores, bool paths) {
  return patch_nodes(model, PatchPairs{clean, corrupted}, restores, paths);
}

PatchDirection patch_nodes(const Transformer& model, const PatchPairs& pairs, bool restores,
                           bool paths) {
  const Batch& base = restores ? pairs.corrupted : pairs.clean;
  const Batch& donor = restores ? pairs.clean : pairs.corrupted;
  const Patching patching(model, base, donor, contrasts_of(pairs));
  PatchDirection direction{.name = restores ? "restore" : "break",
                           .base = patching.base(),
                           .donor = patching.donor(),
                           .pairs = pairs.clean.size,
                           .quantity = pairs.quantity()};
  require(direction.base != direction.donor,
          "cannot patch: the model gives the clean and the corrupted inputs the same answers");
  {
    const NoGrad no_grad;
    patching.add_heads(direction.nodes);
    patching.add_networks(direction.nodes);
    patching.add_streams(direction.nodes);
    if (paths) direction.paths = patching.paths();
  }
  patching.estimate(direction.nodes);
  return direction;
}

}  // namespace headlab
