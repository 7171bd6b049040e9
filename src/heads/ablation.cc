// Ablation by gates and replacements. The outer loop goes over parts of the examples and the inner
// one over head sets, so that what a part needs is made once: its slice of the replacements, and
// the unchanged residual streams, from which each set starts at the block of its first silenced
// head. Read next: interactions.cc.
#include "headlab/heads/ablation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/heads/activations.h"
#include "headlab/ops/layout.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/streams.h"
#include "heads/losses.h"

namespace headlab {
namespace {

constexpr std::array<AblationEntry, 3> kKinds = {{
    {"zero", "0: what remains when a head is removed", AblationKind::zero},
    {"mean", "the head's mean output over examples and positions", AblationKind::mean},
    {"resample", "its output on another example, at the same position", AblationKind::resample},
}};

/// The mean of z [N, T, H*Dv] over the first lengths[b] positions of each example, [1, 1, H, Dv].
Tensor mean_output(const Tensor& z, std::span<const Index> lengths, Index heads) {
  const Index T = z.size(1), width = z.size(2);
  std::vector<double> sums(width);
  double rows = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    for (Index t = 0; t < lengths[b]; ++t, ++rows) {
      const Scalar* row = z.data() + (b * T + t) * width;
      std::transform(row, row + width, sums.begin(), sums.begin(),
                     [](Scalar x, double sum) { return sum + static_cast<double>(x); });
    }
  }
  Tensor mean = Tensor::empty({1, 1, heads, width / heads});
  std::transform(sums.begin(), sums.end(), mean.data(),
                 [rows](double sum) { return static_cast<Scalar>(sum / rows); });
  return mean;
}

/// For each example another one, among those at least as long if there are any.
std::vector<std::size_t> draw_donors(std::span<const Index> lengths, Key key) {
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

/// z [N, T, H*Dv] with the positions of each example taken from its donor, as [N, T, H, Dv].
Tensor donated_output(const Tensor& z, std::span<const Index> lengths, Index heads, Key key) {
  const Index each = z.size(1) * z.size(2);
  const std::vector<std::size_t> donors = draw_donors(lengths, key);
  Tensor taken = z.clone();
  for (std::size_t b = 0; b < donors.size(); ++b) {
    std::copy_n(z.data() + donors[b] * each, lengths[donors[b]] * z.size(2),
                taken.data() + b * each);
  }
  return taken.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
}

}  // namespace

std::span<const AblationEntry> ablation_table() { return kKinds; }

AblationKind find_ablation(const std::string& name) {
  std::vector<std::string> names;
  for (const AblationEntry& entry : kKinds) {
    if (name == entry.name) return entry.kind;
    names.emplace_back(entry.name);
  }
  throw unknown_name("kind of ablation", name, names);
}

const char* name_of(AblationKind kind) {
  return std::ranges::find(kKinds, kind, &AblationEntry::kind)->name;
}

Ablation::Ablation(const Transformer& model, Batch examples, const AblationOptions& options)
    : model_(model),
      modules_(model.attention_modules()),
      examples_(std::move(examples)),
      options_(options),
      targets_(targets_by_example(examples_)),
      target_count_(std::accumulate(targets_.begin(), targets_.end(), 0.0)) {
  require(examples_.size >= 2 && options_.batch >= 1,
          "an ablation needs at least two examples, got ", examples_.size, " in batches of ",
          options_.batch);
  require(target_count_ > 0, "the examples have no target at all, so no loss can change");
  find_replacements();
}

void Ablation::find_replacements() {
  replacements_.resize(modules_.size());
  if (options_.kind == AblationKind::zero) return;
  std::vector<std::vector<Tensor>> outputs(modules_.size());  // z of all examples, part by part
  for_parts(examples_, options_.batch, [&](const Batch& part, Index) {
    const Activations activations(model_, part, false);
    for (std::size_t m = 0; m < modules_.size(); ++m)
      outputs[m].push_back(activations.captures().attention[m].z);
  });
  const NoGrad no_grad;
  const Key key = streams::seeded(options_.seed).fold("resample");
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    std::vector<Index> lengths;
    for (Index b = 0; b < examples_.size; ++b)
      lengths.push_back(examples_.queries_of(modules_[m].kind, b));
    if (const Index heads = modules_[m].attention->head_count(); heads > 0) {
      const Tensor z = concat(outputs[m], 0);
      replacements_[m] = options_.kind == AblationKind::mean
                             ? mean_output(z, lengths, heads)
                             : donated_output(z, lengths, heads, key);
    }
  }
}

std::vector<HeadEdits> Ablation::edits_for(const HeadSet& set,
                                           std::span<const Tensor> replacements) const {
  std::vector<HeadEdits> edits(modules_.size());
  for (const HeadId& head : set) {
    const Index place = place_of(model_, head);
    HeadEdits& edit = edits[head.layer];
    if (!edit.gate.defined()) {
      edit = {.gate = Tensor::full({modules_[head.layer].attention->head_count()}, 1),
              .replacement = replacements[head.layer]};
    }
    edit.gate.data()[place] = 0;
  }
  return edits;
}

/// The residual streams from which a pass with these edits can start: all before the block of the
/// first edited module is as it was.
std::vector<Tensor> Ablation::residual_before(std::span<const HeadEdits> edits,
                                              std::span<const Tensor> residual) const {
  const auto first = std::ranges::find_if(edits, [](const auto& e) { return e.gate.defined(); });
  const AttentionModule* module = first == edits.end() ? nullptr : &modules_[first - edits.begin()];
  std::vector<Tensor> given(residual.size());
  const std::size_t start = module == nullptr ? residual.size() - 1 : module->stream;
  given[start] = residual[start];
  const bool edits_encoder = module != nullptr && module->kind == AttentionKind::encoder;
  if (model_.config().has_source() && !edits_encoder) {
    const Index read = model_.config().encoder_layers;  // what the encoder ends in
    given[read] = residual[read];
  }
  return given;
}

std::vector<std::vector<double>> Ablation::losses(std::span<const HeadSet> sets) const {
  const NoGrad no_grad;
  std::vector<std::vector<double>> all(sets.size(), std::vector<double>(examples_.size));
  for_parts(examples_, options_.batch, [&](const Batch& part, Index first) {
    const Activations whole(model_, part, false);
    std::vector<Tensor> replacements = replacements_;
    for (Tensor& one : replacements)
      if (one.defined() && one.size(0) > 1) one = slice(one, 0, first, first + part.size);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      ModelHooks hooks{.edits = edits_for(sets[i], replacements)};
      hooks.residual = residual_before(hooks.edits, whole.captures().residual);
      add_losses(model_.forward(part, {}, hooks), part, first, 1, all[i]);
    }
  });
  return all;
}

double Ablation::mean(std::span<const double> losses) const {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / target_count_;
}

std::vector<double> Ablation::mean_losses(std::span<const HeadSet> sets) const {
  std::vector<double> means;
  for (const std::vector<double>& one : losses(sets)) means.push_back(mean(one));
  return means;
}

AblationReport ablate_heads(const Transformer& model, const Batch& examples,
                            const AblationOptions& options) {
  const Ablation ablation(model, examples, options);
  const std::vector<HeadId> heads = all_heads(model);
  std::vector<HeadSet> sets = {{}};
  for (const HeadId& head : heads) sets.push_back({head});
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::vector<double>> losses = ablation.losses(sets);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  AblationReport report{.attention = module_names(model),
                        .options = options,
                        .examples = examples.size,
                        .loss = ablation.mean(losses[0]),
                        .heads = {},
                        .sets_per_second = static_cast<double>(sets.size()) / seconds.count()};
  for (std::size_t i = 0; i < heads.size(); ++i) {
    report.heads.push_back({heads[i], ablation.mean(losses[i + 1]),
                            paired_change(losses[i + 1], losses[0], ablation.targets())});
  }
  return report;
}

static Json to_json(const HeadAblation& one) {
  return Json::object({{"layer", one.head.layer},
                       {"head", one.head.head},
                       {"loss", one.loss},
                       {"change", one.change.change},
                       {"low", one.change.low},
                       {"high", one.change.high},
                       {"p", one.change.p}});
}

Json to_json(const AblationReport& report) {
  return stamped({{"attention", report.attention},
                  {"kind", name_of(report.options.kind)},
                  {"examples", report.examples},
                  {"seed", report.options.seed},
                  {"loss", report.loss},
                  {"sets_per_s", report.sets_per_second},
                  {"heads", report.heads}});
}

}  // namespace headlab
