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
#include "headlab/base/version.h"
#include "headlab/ops/layout.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/evaluate.h"

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
      const Scalar* row = z.data() + (static_cast<Index>(b) * T + t) * width;
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
    const std::int64_t drawn = Generator(key.fold(b)).below(std::ssize(among));
    donors.push_back(among[drawn]);
  }
  return donors;
}

/// z [N, T, H*Dv] with the positions of each example taken from its donor, as [N, T, H, Dv].
Tensor donated_output(const Tensor& z, std::span<const Index> lengths, Index heads, Key key) {
  const Index each = z.size(1) * z.size(2);
  const std::vector<std::size_t> donors = draw_donors(lengths, key);
  Tensor taken = z.clone();
  for (std::size_t b = 0; b < donors.size(); ++b) {
    std::copy_n(z.data() + static_cast<Index>(donors[b]) * each, lengths[donors[b]] * z.size(2),
                taken.data() + static_cast<Index>(b) * each);
  }
  return taken.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
}

/// Appends the sum of losses [B, T, K] over each example.
void add_by_example(const Tensor& losses, std::vector<double>& sums) {
  const Index each = losses.shape().count(1, 3);
  for (const Scalar* row = losses.data(); row < losses.data() + losses.count(); row += each)
    sums.push_back(std::accumulate(row, row + each, 0.0));
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
  return std::find_if(kKinds.begin(), kKinds.end(),
                      [kind](const AblationEntry& entry) { return entry.kind == kind; })
      ->name;
}

Ablation::Ablation(const Transformer& model, Batch examples, const AblationOptions& options)
    : model_(model),
      modules_(model_.attention_modules()),
      examples_(std::move(examples)),
      options_(options) {
  require(examples_.size >= 2 && options_.batch >= 1,
          "an ablation needs at least two examples, got ", examples_.size, " in batches of ",
          options_.batch);
  for (Index b = 0; b < examples_.size; ++b)
    targets_.push_back(static_cast<double>(examples_.rows(b, b + 1).target_count()));
  target_count_ = std::accumulate(targets_.begin(), targets_.end(), 0.0);
  require(target_count_ > 0, "the examples have no target at all, so no loss can change");
  find_replacements();
}

/// The output z of every module on all examples.
std::vector<Tensor> Ablation::outputs() const {
  const NoGrad no_grad;
  std::vector<std::vector<Tensor>> parts(modules_.size());
  for (Index first = 0; first < examples_.size; first += options_.batch) {
    ModelCaptures captures;
    captures.wants_patterns = false;
    const Index end = std::min(examples_.size, first + options_.batch);
    model_.forward(examples_.rows(first, end), {}, {.captures = &captures});
    for (std::size_t m = 0; m < modules_.size(); ++m)
      if (captures.attention[m].z.defined()) parts[m].push_back(captures.attention[m].z);
  }
  std::vector<Tensor> all(modules_.size());
  for (std::size_t m = 0; m < modules_.size(); ++m)
    if (!parts[m].empty()) all[m] = concat(parts[m], 0);
  return all;
}

void Ablation::find_replacements() {
  replacements_.resize(modules_.size());
  if (options_.kind == AblationKind::zero) return;
  const Key key = Key{static_cast<std::uint64_t>(options_.seed)}.fold("resample");
  const std::vector<Tensor> z = outputs();
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    std::vector<Index> lengths;
    for (Index b = 0; b < examples_.size; ++b)
      lengths.push_back(examples_.queries_of(modules_[m].kind, b));
    if (const Index heads = modules_[m].attention->head_count(); heads > 0) {
      replacements_[m] = options_.kind == AblationKind::mean
                             ? mean_output(z[m], lengths, heads)
                             : donated_output(z[m], lengths, heads, key);
    }
  }
}

std::vector<HeadEdits> Ablation::edits_for(const HeadSet& set,
                                           std::span<const Tensor> replacements) const {
  std::vector<HeadEdits> edits(modules_.size());
  for (const HeadId& id : set) {
    const bool known = id.layer >= 0 && id.layer < std::ssize(modules_);
    const auto m = static_cast<std::size_t>(known ? id.layer : 0);
    const std::vector<std::int32_t>& heads = modules_[m].attention->heads;
    const auto at = std::find(heads.begin(), heads.end(), id.head);
    require(known && at != heads.end(), "head ", id.layer, ".", id.head,
            " cannot be silenced: the model has no such head");
    if (!edits[m].gate.defined())
      edits[m] = {.gate = Tensor::full({std::ssize(heads)}, 1), .replacement = replacements[m]};
    edits[m].gate.data()[at - heads.begin()] = 0;
  }
  return edits;
}

/// The residual streams from which a pass with these edits can start: all before the block of the
/// first edited module is as it was.
std::vector<Tensor> Ablation::unchanged(std::span<const HeadEdits> edits,
                                        std::span<const Tensor> residual) const {
  const auto first = std::ranges::find_if(edits, [](const auto& e) { return e.gate.defined(); });
  const bool none = first == edits.end();
  const AttentionModule* module = none ? nullptr : &modules_[first - edits.begin()];
  std::vector<Tensor> given(residual.size());
  const std::size_t start = none ? residual.size() - 1 : module->stream;
  given[start] = residual[start];
  if (model_.config().has_source() && (none || module->kind != AttentionKind::encoder)) {
    const Index read = model_.config().encoder_layers;  // what the encoder ends in
    given[read] = residual[read];
  }
  return given;
}

std::vector<std::vector<double>> Ablation::losses(std::span<const HeadSet> sets) const {
  const NoGrad no_grad;
  std::vector<std::vector<double>> all(sets.size());
  for (Index first = 0; first < examples_.size; first += options_.batch) {
    const Index end = std::min(examples_.size, first + options_.batch);
    const Batch part = examples_.rows(first, end);
    ModelCaptures whole;
    whole.wants_patterns = false;
    model_.forward(part, {}, {.captures = &whole});
    std::vector<Tensor> replacements = replacements_;
    for (Tensor& one : replacements)
      if (one.defined() && one.size(0) > 1) one = slice(one, 0, first, end);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      ModelHooks hooks{.edits = edits_for(sets[i], replacements)};
      hooks.residual = unchanged(hooks.edits, whole.residual);
      add_by_example(target_losses(model_.forward(part, {}, hooks), part), all[i]);
    }
  }
  return all;
}

std::vector<double> Ablation::mean_losses(std::span<const HeadSet> sets) const {
  std::vector<double> means;
  for (const std::vector<double>& one : losses(sets))
    means.push_back(std::accumulate(one.begin(), one.end(), 0.0) / target_count_);
  return means;
}

Example held_out_examples(const Task& task, Index count) {
  return task.make(Key{}.fold("evaluate"), count, Split::validation);
}

AblationReport ablate_heads(const Transformer& model, const Batch& examples,
                            const AblationOptions& options) {
  AblationReport report;
  report.options = options;
  report.examples = examples.size;
  report.attention = module_names(model);
  const Ablation ablation(model, examples, options);
  const std::vector<HeadId> heads = all_heads(model);
  std::vector<HeadSet> sets = {{}};
  for (const HeadId& head : heads) sets.push_back({head});
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::vector<double>> losses = ablation.losses(sets);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  report.sets_per_second = static_cast<double>(sets.size()) / seconds.count();
  const auto mean = [&](const std::vector<double>& sums) {
    return std::accumulate(sums.begin(), sums.end(), 0.0) / ablation.target_count();
  };
  report.loss = mean(losses[0]);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    report.heads.push_back({heads[i], mean(losses[i + 1]),
                            paired_change(losses[i + 1], losses[0], ablation.targets())});
  }
  return report;
}

Json AblationReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["kind"] = name_of(options.kind);
  json["examples"] = examples;
  json["seed"] = options.seed;
  json["loss"] = loss;
  json["sets_per_s"] = sets_per_second;
  Json& list = json["heads"] = Json::array();
  for (const HeadAblation& one : heads) {
    Json entry = Json::object();
    entry["layer"] = one.head.layer;
    entry["head"] = one.head.head;
    entry["loss"] = one.loss;
    one.change.write_to(entry);
    list.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
