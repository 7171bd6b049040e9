// Ablation by gates and replacements. The outer loop goes over parts of the examples and the inner
// one over head sets, so that what a part needs is made once: its slice of the replacements, the
// unchanged residual streams, from which each set starts at the block of its first silenced head,
// and what the heads of that module put out. Read next: gold_edges.cc.
#include "headlab/heads/ablation.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/timing.h"
#include "headlab/base/error.h"
#include "headlab/base/progress.h"
#include "headlab/base/threads.h"
#include "headlab/heads/activations.h"
#include "headlab/ops/arithmetic.h"
#include "headlab/ops/layout.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/streams.h"

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

/// The positions of each example that count.
std::vector<Index> lengths_of(const Batch& examples, AttentionKind kind) {
  std::vector<Index> lengths;
  for (Index b = 0; b < examples.size; ++b) lengths.push_back(examples.queries_of(kind, b));
  return lengths;
}

Key key_of_donors(std::int64_t seed) { return streams::seeded(seed).fold("resample"); }

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

std::vector<std::size_t> ablation_donors(const Batch& examples, AttentionKind kind,
                                         std::int64_t seed) {
  return draw_donors(lengths_of(examples, kind), key_of_donors(seed));
}

std::span<const AblationEntry> ablation_table() { return kKinds; }

AblationKind find_ablation(const std::string& name) {
  for (const AblationEntry& entry : kKinds)
    if (name == entry.name) return entry.kind;
  throw unknown_name("kind of ablation", name, texts_of(kKinds, &AblationEntry::name));
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
  const Key key = key_of_donors(options_.seed);
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    const std::vector<Index> lengths = lengths_of(examples_, modules_[m].kind);
    const Index heads = modules_[m].attention->head_count();
    if (heads == 0) continue;
    const Tensor z = concat(outputs[m], 0);
    if (options_.kind == AblationKind::mean) {
      replacements_[m] = mean_output(z, lengths, heads);
    } else {
      donors_ = draw_donors(lengths, key);
      replacements_[m] = donated_output(z, lengths, heads, donors_);
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

/// Hooks for a pass with these edits that starts at the block of the first edited module: residual
/// streams before it, and the heads' outputs up to it, are those of the unchanged model.
ModelHooks Ablation::from_unchanged(std::vector<HeadEdits> edits,
                                    const ModelCaptures& unchanged) const {
  const auto edited = std::ranges::find_if(edits, [](const auto& e) { return e.gate.defined(); });
  const std::size_t first = edited - edits.begin();
  const AttentionModule* module = edited == edits.end() ? nullptr : &modules_[first];
  ModelHooks hooks{.edits = std::move(edits)};
  hooks.residual.resize(unchanged.residual.size());
  const std::size_t start = module == nullptr ? unchanged.residual.size() - 1 : module->stream;
  hooks.residual[start] = unchanged.residual[start];
  const bool edits_encoder = module != nullptr && module->kind == AttentionKind::encoder;
  if (model_.config().has_source() && !edits_encoder) {
    const Index read = model_.config().encoder_layers;  // what the encoder ends in
    hooks.residual[read] = unchanged.residual[read];
  }
  for (std::size_t m = 0; m < modules_.size() && m <= first; ++m)
    hooks.z.push_back(unchanged.attention[m].z);
  return hooks;
}

/// Calls use(logits_of, part, first, steps) for parts of `size` examples: logits_of(i), which any
/// thread may call, gives the logits with set i silenced; `use` counts a step for each set.
template <class Use>
void Ablation::for_logits(std::span<const HeadSet> sets, Index size, Use&& use) const {
  const NoGrad no_grad;
  for_parts(examples_, size, [&](const Batch& part, Index first) {
    Steps steps(std::ssize(sets));
    const Activations whole(model_, part, false);
    std::vector<Tensor> replacements = replacements_;
    for (Tensor& one : replacements)
      if (one.defined() && one.size(0) > 1) one = slice(one, 0, first, first + part.size);
    const auto logits_of = [&](std::size_t i) {
      const NoGrad nothing_recorded;  // on this thread
      return model_.forward(part, {},
                            from_unchanged(edits_for(sets[i], replacements), whole.captures()));
    };
    use(logits_of, part, first, steps);
  });
}

std::vector<std::vector<double>> Ablation::losses(std::span<const HeadSet> sets) const {
  constexpr Index kAtOnce = 32;  // sets: a whole pass for each thread, not a part of each loop
  std::vector<std::vector<double>> all(sets.size(), std::vector<double>(examples_.size));
  for_logits(sets, options_.batch,
             [&](const auto& logits_of, const Batch& part, Index first, Steps& steps) {
               for (Index begin = 0; begin < std::ssize(sets); begin += kAtOnce) {
                 const Index count = std::min(kAtOnce, std::ssize(sets) - begin);
                 parallel_for(count, [&](std::int64_t i) {
                   add_losses(logits_of(begin + i), part, first, 1, all[begin + i]);
                 });
                 for (Index i = 0; i < count; ++i) steps.done();
               }
             });
  return all;
}

std::vector<std::vector<double>> Ablation::independent_losses(
    std::span<const HeadSet> sets,
    std::span<const std::pair<std::size_t, std::size_t>> pairs) const {
  std::vector<HeadSet> with_none(sets.begin(), sets.end());
  with_none.emplace_back();
  std::vector<std::vector<double>> all(pairs.size(), std::vector<double>(examples_.size));
  // The logits of all sets are in memory at once, 2^24 numbers at most.
  const TransformerConfig& config = model_.config();
  const Index each = examples_.length * config.targets * config.vocab * std::ssize(with_none);
  const Index size = std::clamp<Index>((Index{1} << 24) / each, 1, options_.batch);
  for_logits(with_none, size,
             [&](const auto& logits_of, const Batch& part, Index first, Steps& steps) {
               std::vector<Tensor> logits;
               for (std::size_t i = 0; i < with_none.size(); ++i, steps.done())
                 logits.push_back(logits_of(i));
               for (std::size_t p = 0; p < pairs.size(); ++p) {
                 const auto& [a, b] = pairs[p];
                 add_losses(logits[a] + logits[b] - logits.back(), part, first, 1, all[p]);
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

namespace {

AblationFacts facts_of(const Transformer& model, const Batch& examples,
                       const AblationOptions& options, double loss) {
  return {module_names(model), options, examples.size, examples.target_count(), loss};
}

/// The sets {}, {head} for each head.
std::vector<HeadSet> single_sets(const HeadSet& heads) {
  std::vector<HeadSet> sets = {{}};
  for (const HeadId& head : heads) sets.push_back({head});
  return sets;
}

Json about_of(const AblationFacts& facts) {
  return stamped({{"attention", facts.attention},
                  {"kind", name_of(facts.options.kind)},
                  {"examples", facts.examples},
                  {"targets", facts.targets},
                  {"seed", facts.options.seed},
                  {"loss", facts.loss}});
}

std::string note_of(const AblationFacts& facts) {
  return text("loss of the whole model: ", facts.loss, ", on ", facts.targets, " targets");
}

const char* verdict_of(const Interaction& pair) {
  const PairedChange& change = pair.interaction;
  return !change.enough()                     ? "too few examples"
         : pair.backs_up()                    ? "back each other up"
         : change.low > Interaction::kLeast   ? "cost more together"
         : change.high < -Interaction::kLeast ? "share a path"
                                              : "";
}

}  // namespace

AblationReport ablate_heads(const Transformer& model, const Batch& examples,
                            const AblationOptions& options) {
  const Ablation ablation(model, examples, options);
  const HeadSet heads = all_heads(model);
  std::vector<std::vector<double>> losses;
  const double ms = milliseconds([&] { losses = ablation.losses(single_sets(heads)); });
  AblationReport report{facts_of(model, examples, options, ablation.mean(losses[0])), {}, 0};
  report.sets_per_second = static_cast<double>(losses.size()) / (ms / 1e3);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    report.heads.push_back(
        {heads[i], ablation.mean(losses[i + 1]), ablation.change(losses[i + 1], losses[0])});
  }
  return report;
}

/// The first relation that both heads own; "" if there is none.
static std::string shared_relation(const HeadsReport& scores, const HeadId& a, const HeadId& b) {
  const auto holds = [&](const HeadId& id, std::size_t r) {
    const auto head = std::ranges::find_if(scores.heads, [&](const HeadId& h) { return h == id; });
    return head != scores.heads.end() && head->relations[r].owns();
  };
  for (std::size_t r = 0; r < scores.relations.size(); ++r)
    if (holds(a, r) && holds(b, r)) return scores.relations[r].relation.name;
  return "";
}

InteractionReport ablate_pairs(const Transformer& model, const Batch& examples,
                               const AblationOptions& options, const HeadsReport* scores) {
  const HeadSet heads = all_heads(model);
  require(heads.size() >= 2, "pairs of heads need two heads, the model has ", heads.size());
  const Ablation ablation(model, examples, options);
  std::vector<HeadSet> sets;
  for (const HeadId& head : heads) sets.push_back({head});
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (std::size_t j = i + 1; j < heads.size(); ++j) pairs.emplace_back(i, j);
  const std::vector<std::vector<double>> independent = ablation.independent_losses(sets, pairs);
  sets.emplace_back();
  for (const auto& [i, j] : pairs) sets.push_back({heads[i], heads[j]});
  const std::vector<std::vector<double>> losses = ablation.losses(sets);
  const double loss = ablation.mean(losses[heads.size()]);
  InteractionReport report{facts_of(model, examples, options, loss), {}};
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto& [i, j] = pairs[p];
    const std::vector<double>& both = losses[heads.size() + 1 + p];
    report.pairs.push_back({heads[i], heads[j], ablation.mean(both) - loss,
                            ablation.mean(losses[i]) + ablation.mean(losses[j]) - 2 * loss,
                            ablation.mean(independent[p]) - loss,
                            ablation.change(both, independent[p])});
    if (scores != nullptr)
      report.pairs.back().relation = shared_relation(*scores, heads[i], heads[j]);
  }
  return report;
}

Finding finding_of(const AblationReport& report) {
  Table table{"heads", {kHeadColumn, {"loss", "loss", "nats per target", kPlain, "", false}}};
  std::ranges::copy(change_columns("", "change",
                                   "rise of the loss in nats per target when the head is silenced"),
                    std::back_inserter(table.columns));
  table.columns[3].digits = kPlain;  // p is shown
  table.note = note_of(report);
  Figure map{
      "what it costs to silence a head: a row for each attention module, a column for each "
      "head"};
  for (const HeadAblation& one : report.heads) {
    table.rows.push_back(row_with({one.head, one.loss}, cells_of(one.change)));
    map.values.resize(std::max<std::size_t>(map.values.size(), one.head.layer + 1));
    auto& row = map.values[one.head.layer];
    row.resize(std::max<std::size_t>(row.size(), one.head.head + 1));
    row[one.head.head] = one.change.change;
  }
  Finding found{about_of(report), {table}, {map}};
  found.about["sets_per_s"] = report.sets_per_second;
  return found;
}

Finding finding_of(const InteractionReport& report) {
  Table table{.name = "pairs",
              .columns = {{"first", "first", "a head", kPlain, "head", false},
                          {"second", "second", "and another", kPlain, "head", false},
                          {"joint", "both", "rise of the loss when both are silenced, nats",
                           kSigned},
                          {"sum", "sum", "of the rises with each silenced alone", kHidden},
                          {"independent", "independent",
                           "the rise if each one's effect on the logits were added", kSigned}},
              .title = "pairs of heads, the strongest interactions",
              .note = note_of(report),
              .most = 12,
              .by = "interaction.change,low,high"};
  std::ranges::copy(
      change_columns("interaction.", "difference",
                     "both - independent; surely above .01, heads of one relation back each other "
                     "up and others cost more together; below -.01 they share a path"),
      std::back_inserter(table.columns));
  table.columns.push_back({"relation", "relation", "that both own"});
  table.columns.push_back({"backs_up", "backs up", "whether each does the other's work", kHidden});
  table.columns.push_back({"verdict", "verdict", "what the numbers say", kPlain, "", false});
  for (const Interaction& pair : report.pairs)
    table.rows.push_back(row_with({pair.first, pair.second, pair.joint, pair.sum, pair.independent},
                                  cells_of(pair.interaction),
                                  {pair.relation.empty() ? Json() : Json(pair.relation),
                                   pair.backs_up(), verdict_of(pair)}));
  return {about_of(report), {table}};
}

}  // namespace headlab
