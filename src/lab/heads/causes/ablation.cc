// Ablation by gates and replacements. The outer loop runs over parts of the examples and the inner
// one over head sets, so that the data of a part are computed once: its slice of the replacements,
// the unchanged residual streams, from which each set starts at the block of its first ablated
// head, and the outputs of the heads of that attention layer. Read next: truth_edges.cc.
#include "headlab/lab/heads/causes/ablation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/text.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

constexpr std::array<AblationEntry, 3> kKinds = {{
    {"zero", "0: what remains when a head is removed", AblationKind::zero},
    {"mean", "the head's mean output over examples and positions", AblationKind::mean},
    {"resample", "its output on another example, at the same position", AblationKind::resample},
}};

/// Sums of z [N, T, H*Dv] over the positions that count.
struct OutputSums {
  std::vector<double> sums{};
  double rows = 0;

  void add(const Tensor& z, const Batch& part, AttentionKind kind) {
    sums.resize(z.size(2));
    for (Index b = 0; b < part.size; ++b) {
      for (Index t = 0; t < part.queries_of(kind, b); ++t, ++rows) {
        const Scalar* row = z.data() + (b * z.size(1) + t) * z.size(2);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(row[i]);
      }
    }
  }
  Tensor mean(Index heads) const {  // [1, 1, H, Dv]
    Tensor mean = Tensor::empty({1, 1, heads, std::ssize(sums) / heads});
    std::ranges::transform(sums, mean.data(),
                           [this](double sum) { return static_cast<Scalar>(sum / rows); });
    return mean;
  }
};

/// Returns the positions of each example that count.
std::vector<Index> lengths_of(const Batch& examples, AttentionKind kind) {
  std::vector<Index> lengths;
  for (Index b = 0; b < examples.size; ++b) lengths.push_back(examples.queries_of(kind, b));
  return lengths;
}

/// Returns z [N, T, H*Dv] with the positions of each example taken from its donor, as [N, T, H,
/// Dv].
Tensor donated_output(const Tensor& z, std::span<const Index> lengths, Index heads,
                      std::span<const std::size_t> donors) {
  const Index each = z.size(1) * z.size(2);
  Tensor taken = z.clone();
  for (std::size_t b = 0; b < donors.size(); ++b) {
    std::copy_n(z.data() + donors[b] * each, lengths[donors[b]] * z.size(2),
                taken.data() + b * each);
  }
  return taken.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
}

}  // namespace

/// Draws donors among the examples that are at least as long, if there are any.
std::vector<std::size_t> ablation_donors(const Batch& examples, AttentionKind kind,
                                         std::int64_t seed) {
  require(examples.size >= 2, "cannot resample: it needs two examples or more, got ",
          examples.size);
  const std::vector<Index> lengths = lengths_of(examples, kind);
  const Key key = streams::seeded(seed).fold("resample");
  std::vector<std::size_t> donors;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    std::vector<std::size_t> others, as_long;
    for (std::size_t other = 0; other < lengths.size(); ++other) {
      if (other != b) others.push_back(other);
      if (other != b && lengths[other] >= lengths[b]) as_long.push_back(other);
    }
    const std::vector<std::size_t>& among = as_long.empty() ? others : as_long;
    donors.push_back(among[Generator(key.fold(b)).below(std::ssize(among))]);
  }
  return donors;
}

std::span<const AblationEntry> ablation_table() { return kKinds; }

AblationKind find_ablation(const std::string& name) {
  return named("kind of ablation", name, kKinds, &AblationEntry::name).kind;
}

const char* name_of(AblationKind kind) {
  return std::ranges::find(kKinds, kind, &AblationEntry::kind)->name;
}

Ablation::Ablation(const HeadedModel& model, Batch examples, const AblationOptions& options)
    : model_(model),
      attention_layers_(model.attention_layers()),
      examples_(std::move(examples)),
      options_(options),
      targets_(targets_by_example(examples_)),
      target_count_(std::accumulate(targets_.begin(), targets_.end(), 0.0)) {
  if (examples_.size < 2) {
    throw Error(text("cannot ablate heads: it needs at least two examples, got ", examples_.size),
                "use more examples, or a task with more held-out data");
  }
  require(options_.batch >= 1, "cannot ablate heads: it needs batches of 1 or more, got ",
          options_.batch);
  require(target_count_ > 0,
          "cannot ablate heads: the examples have no target at all, so no loss can change");
  find_replacements();
}

void Ablation::find_replacements() {
  replacements_.resize(attention_layers_.size());
  if (options_.kind == AblationKind::zero) return;
  std::vector<std::vector<Tensor>> outputs(
      attention_layers_.size());  // z of all examples, part by part
  std::vector<OutputSums> sums(attention_layers_.size());
  const bool mean = options_.kind == AblationKind::mean;
  for_parts(examples_, options_.batch, [&](const Batch& part, Index) {
    const Activations activations(model_, part, false, false);
    for (std::size_t m = 0; m < attention_layers_.size(); ++m) {
      const Tensor& z = activations.cache().attention[m].z;
      if (mean && z.defined()) {
        sums[m].add(z, part, attention_layers_[m].kind);
      } else {
        outputs[m].push_back(z);
      }
    }
  });
  const NoGrad no_grad;
  for (std::size_t m = 0; m < attention_layers_.size(); ++m) {
    const Index heads = attention_layers_[m].attention->head_count();
    if (heads == 0) continue;
    if (mean) {
      replacements_[m] = sums[m].mean(heads);
      continue;
    }
    donors_ = ablation_donors(examples_, attention_layers_[m].kind, options_.seed);
    replacements_[m] =
        donated_output(concat(outputs[m], 0), lengths_of(examples_, attention_layers_[m].kind),
                       heads, donors_);
  }
}

std::vector<HeadInterventions> Ablation::interventions_for(
    const HeadSet& set, std::span<const Tensor> replacements) const {
  std::vector<HeadInterventions> interventions(attention_layers_.size());
  for (const HeadId& head : set) {
    const Index slot = slot_of(model_, head);
    HeadInterventions& edit = interventions[head.attention_layer];
    if (!edit.gate.defined()) {
      edit = {.gate =
                  Tensor::full({attention_layers_[head.attention_layer].attention->head_count()},
                               1),
              .replacement = replacements[head.attention_layer]};
    }
    edit.gate.data()[slot] = 0;
  }
  return interventions;
}

/// Returns hooks for a pass that starts at the block of attention layer `first`: the residual
/// streams before it, and the heads' outputs up to it, are those of the unchanged model. A model
/// that records no streams runs from its start.
ModelHooks Ablation::from_unchanged(std::size_t first, const ActivationCache& unchanged) const {
  const AttentionLayer* attention_layer =
      first < attention_layers_.size() ? &attention_layers_[first] : nullptr;
  ModelHooks hooks;
  if (unchanged.residual.empty()) return hooks;
  hooks.residual.resize(unchanged.residual.size());
  const std::size_t start =
      attention_layer == nullptr ? unchanged.residual.size() - 1 : attention_layer->stream;
  hooks.residual[start] = unchanged.residual[start];
  const bool intervenes_in_encoder =
      attention_layer != nullptr && attention_layer->kind == AttentionKind::encoder;
  if (model_.shape().has_source() && !intervenes_in_encoder) {
    const auto is_encoder = [](const AttentionLayer& m) {
      return m.kind == AttentionKind::encoder;
    };
    const auto read = std::ranges::count_if(attention_layers_,
                                            is_encoder);  // the stream at the end of the encoder
    hooks.residual[read] = unchanged.residual[read];
  }
  for (std::size_t m = 0; m < attention_layers_.size() && m <= first; ++m) {
    hooks.z.push_back(unchanged.attention[m].z);
  }
  return hooks;
}

/// Part of the examples, with the data that all passes over them share.
struct Ablation::Part {
  const Ablation& of;
  const Batch& examples;
  Activations whole{of.model_, examples, false, false};
  std::vector<Tensor> replacements{};

  Part(const Ablation& of_, const Batch& examples_, Index first)
      : of(of_), examples(examples_), replacements(of_.replacements_) {
    for (Tensor& one : replacements) {
      if (one.defined() && one.size(0) > 1) one = slice(one, 0, first, first + examples.size);
    }
  }
  /// Returns the logits with this set ablated, by a pass that begins at the first head of
  /// `earliest`.
  Tensor logits(const HeadSet& set, const HeadSet& earliest, NormScales* norms = nullptr) const {
    std::size_t first = of.attention_layers_.size();
    for (const HeadId& head : earliest) first = std::min(first, std::size_t(head.attention_layer));
    ModelHooks hooks = of.from_unchanged(first, whole.cache());
    hooks.interventions = of.interventions_for(set, replacements);
    if (norms != nullptr) norms->next = 0;
    return of.model_.forward(examples, {.norms = norms}, hooks);
  }
};

std::vector<std::vector<double>> Ablation::losses(std::span<const HeadSet> sets) const {
  const NoGrad no_grad;
  constexpr Index kAtOnce = 32;  // sets: one whole pass per thread, not a part of each loop
  std::vector<std::vector<double>> all(sets.size(), std::vector<double>(examples_.size));
  const Index at_once = model_.shape().at_once(options_.batch, examples_.length);
  const Index parts = (examples_.size + at_once - 1) / at_once;
  Steps steps(parts * std::ssize(sets));
  for_parts(examples_, at_once, [&](const Batch& examples, Index first) {
    const Part part(*this, examples, first);
    for (Index begin = 0; begin < std::ssize(sets); begin += kAtOnce) {
      const Index count = std::min(kAtOnce, std::ssize(sets) - begin);
      parallel_for(count, [&](std::int64_t i) {
        const NoGrad nothing_recorded;  // on this thread
        const HeadSet& set = sets[begin + i];
        add_losses(part.logits(set, set), examples, first, 1, all[begin + i]);
      });
      for (Index i = 0; i < count; ++i) steps.done();
    }
  });
  return all;
}

/// Returns the largest absolute value.
static double largest_in(const Tensor& tensor) {
  double largest = 0;
  for (const Scalar value : tensor.values()) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

std::vector<Ablation::PairLosses> Ablation::pair_losses(std::span<const HeadPair> pairs) const {
  const NoGrad no_grad;
  const std::vector<double> none(examples_.size);
  std::vector<PairLosses> all(pairs.size(), {none, none, none, none, 0});
  const Index at_once = model_.shape().at_once(options_.batch, examples_.length);
  Steps steps((examples_.size + at_once - 1) / at_once);
  for_parts(examples_, at_once, [&](const Batch& examples, Index first) {
    const Part part(*this, examples, first);
    parallel_for(std::ssize(pairs), [&](Index p) {
      const NoGrad nothing_recorded;  // on this thread
      const auto& [a, b] = pairs[p];
      const HeadSet both = {a, b};
      NormScales norms;
      const Tensor joint = part.logits(both, both, &norms);
      add_losses(joint, examples, first, 1, all[p].joint);
      norms.given = true;
      const Tensor whole = part.logits({}, both, &norms),
                   without_a = part.logits({a}, both, &norms),
                   without_b = part.logits({b}, both, &norms);
      add_losses(without_a + without_b - whole, examples, first, 1, all[p].independent);
      add_losses(whole, examples, first, 1, all[p].whole);
      for (const auto& [logits, times] : {std::pair(without_a, 1), {without_b, 1}, {whole, -1}}) {
        add_losses(logits, examples, first, times, all[p].apart);
      }
      for (const Tensor& logits : {joint, whole, without_a, without_b}) {
        all[p].largest_logit = std::max(all[p].largest_logit, largest_in(logits));
      }
    });
    steps.done();
  });
  return all;
}

double Ablation::mean(std::span<const double> losses) const {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / target_count_;
}

std::vector<double> Ablation::mean_losses(std::span<const HeadSet> sets) const {
  return mapped(losses(sets), [&](const auto& one) { return mean(one); });
}

AblationFacts Ablation::facts(double loss) const {
  return {attention_layer_names(model_), options_, examples_.size, examples_.target_count(), loss};
}

Json AblationFacts::about() const {
  return stamped({{"attention", attention},
                  {"kind", name_of(options.kind)},
                  {"examples", examples},
                  {"targets", targets},
                  {"seed", options.seed},
                  {"loss", loss}});
}

std::string AblationFacts::note() const {
  return text("loss of the whole model: ", loss, ", on ", targets, " targets");
}

std::vector<HeadSet> single_sets(const HeadSet& heads) {
  std::vector<HeadSet> sets = {{}};
  for (const HeadId& head : heads) sets.push_back({head});
  return sets;
}

AblationReport ablate_heads(const HeadedModel& model, const Batch& examples,
                            const AblationOptions& options) {
  const Ablation ablation(model, examples, options);
  const HeadSet heads = all_heads(model);
  std::vector<std::vector<double>> losses;
  const double ms = milliseconds([&] { losses = ablation.losses(single_sets(heads)); });
  AblationReport report{ablation.facts(ablation.mean(losses[0])), {}, 0};
  report.sets_per_second = static_cast<double>(losses.size()) / (ms / 1e3);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    report.heads.push_back(
        {heads[i], ablation.mean(losses[i + 1]), ablation.change(losses[i + 1], losses[0])});
  }
  return report;
}

Result result_of(const AblationReport& report) {
  Fields<HeadAblation> fields;
  fields.add(kHeadColumn, &HeadAblation::head);
  fields.add(Column("loss", "loss", "nats per target").mean_over("examples").no_legend(),
             &HeadAblation::loss);
  fields.add_part(change_fields("", "change",
                                "rise of the loss in nats per target when the head is ablated",
                                {.p = true}),
                  &HeadAblation::change);
  fields.add({"lacking", "no interval", "why the change has no interval"},
             [](const HeadAblation& one) { return one.change.lacking(); });
  Figure map{"map",
             "cost of ablating a head: a row for each attention layer, a column for each "
             "head"};
  for (const HeadAblation& one : report.heads) {
    map.values.resize(std::max<std::size_t>(map.values.size(), one.head.attention_layer + 1));
    auto& row = map.values[one.head.attention_layer];
    row.resize(std::max<std::size_t>(row.size(), one.head.head + 1));
    row[one.head.head] = one.change.change;
  }
  const Table table = fields.table({.name = "heads", .note = report.note()}, report.heads);
  Result found{report.about(), {table}, {map}};
  found.about["sets_per_s"] = report.sets_per_second;
  return found;
}

SetAblationReport ablate_set(const HeadedModel& model, const Batch& examples, const HeadSet& heads,
                             const AblationOptions& options) {
  const Ablation ablation(model, examples, options);
  const std::vector<HeadSet> sets = {{}, heads};
  const auto losses = ablation.losses(sets);
  return {ablation.facts(ablation.mean(losses[0])), heads, ablation.mean(losses[1]),
          ablation.change(losses[1], losses[0])};
}

Result result_of(const SetAblationReport& report) {
  using Row = SetAblationReport;
  Fields<Row> fields;
  fields.add(Column("heads", "heads", "to ablate together").no_legend(),
             [](const Row& row) { return join(texts_of(row.heads, head_text), " "); });
  fields.add(Column("loss", "loss", "nats per target").no_legend(), &Row::loss_without);
  fields.add_part(change_fields("", "change", "rise of the loss in nats per target"), &Row::change);
  const Table table{.name = "set",
                    .note = text("loss of the whole model: ", significant(report.loss))};
  return {.about = stamped({{"attention", report.attention},
                            {"kind", name_of(report.options.kind)},
                            {"examples", report.examples},
                            {"loss", report.loss}}),
          .tables = {fields.table(table, std::views::single(report))}};
}

}  // namespace headlab
