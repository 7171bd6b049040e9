// Activation patching. Heads are patched by interventions, streams by given residuals: both are
// hooks of the forward pass, so the patched values are those of the model, bit for bit.
// Read next: core/model/transformer.h, ModelHooks.
#include "headlab/lab/heads/causes/patching.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/heads/causes/contrasts.h"

namespace headlab {
namespace {

/// Returns the interventions of an attention layer that replace one head's z by `z` [B, T, H*Dv] of
/// the clean pass.
HeadInterventions put_head(const Tensor& z, Index heads, Index slot) {
  HeadInterventions interventions{.gate = Tensor::full({heads}, 1)};
  interventions.gate.data()[slot] = 0;
  interventions.replacement = z.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
  return interventions;
}

/// Returns `stream` [B, T, C] with position t from `other`.
Tensor put_position(const Tensor& stream, const Tensor& other, Index t) {
  Tensor patched = stream.clone();
  const Index T = stream.size(1), C = stream.size(2);
  for (Index b = 0; b < stream.size(0); ++b) {
    std::copy_n(other.data() + (b * T + t) * C, C, patched.data() + (b * T + t) * C);
  }
  return patched;
}

/// Returns the hooks that take one head's z from the clean pass.
ModelHooks hooks_with_head(const Transformer& model, const Activations& clean, const HeadId& head) {
  const auto numbers = model.head_numbers();
  const auto m = static_cast<std::size_t>(head.attention_layer);
  ModelHooks hooks{.interventions = std::vector<HeadInterventions>(numbers.size())};
  hooks.interventions[m] =
      put_head(clean.cache().attention[m].z, std::ssize(numbers[m]), slot_of(model, head));
  return hooks;
}

/// The mean quantity of each pair.
class PairMeans {
 public:
  PairMeans(const Batch& batch, Index outputs, std::vector<Contrast> contrasts)
      : outputs_(outputs),
        rows_(batch.length * batch.targets_per_position),
        contrasts_(std::move(contrasts)),
        counts_(static_cast<std::size_t>(batch.size)) {
    for (const Contrast& one : contrasts_) ++counts_[static_cast<std::size_t>(one.row / rows_)];
  }

  bool has_targets(std::size_t pair) const { return counts_[pair] > 0; }
  std::vector<double> of(const Tensor& logits) const {
    std::vector<double> means = differences_by_pair(logits, outputs_, rows_, contrasts_);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] /= counts_[i];
    return means;
  }

 private:
  Index outputs_, rows_;
  std::vector<Contrast> contrasts_;
  std::vector<double> counts_;  // of targets, by pair
};

/// Returns the lines of the clean examples in the task's file; none for other tasks.
std::vector<std::int32_t> lines_of_pairs(const Task& task, const PatchPairs& pairs) {
  if (pairs.examples.empty()) return {};
  const std::vector<std::int32_t> all =
      places_in_file(task, Split::validation, 0, pairs.examples.back() + 1).of_examples;
  if (all.empty()) return {};
  return mapped(pairs.examples, [&](Index i) { return all[static_cast<std::size_t>(i)]; });
}

}  // namespace

PatchReport patch_activations(const Transformer& model, const Batch& clean,
                              const Batch& corrupted) {
  return patch_activations(model, PatchPairs{clean, corrupted});
}

PatchReport patch_activations(const Transformer& model, const PatchPairs& pairs) {
  const NoGrad no_grad;
  const Batch& corrupted = pairs.corrupted;
  const std::vector<Contrast> contrasts = contrasts_of(pairs);
  const Activations from(model, pairs.clean, false), into(model, corrupted, false);
  const Index outputs = model.config().outputs();
  PatchReport report{.attention = attention_layer_names(model),
                     .pairs = corrupted.size,
                     .targets = std::ssize(contrasts),
                     .clean = mean_difference(from.logits(), outputs, contrasts),
                     .corrupted = mean_difference(into.logits(), outputs, contrasts),
                     .quantity = pairs.quantity(),
                     .is_named = !pairs.contrasts.empty()};
  require(report.clean != report.corrupted,
          "cannot patch: the model gives the clean and the corrupted inputs the same answers");
  const std::vector<HeadId> heads = all_heads(model);
  Steps steps(std::ssize(heads) + std::ssize(from.cache().residual) * corrupted.length);
  const auto restored = [&](const ModelHooks& hooks) {
    steps.done();
    const double patched = mean_difference(model.forward(corrupted, {}, hooks), outputs, contrasts);
    return (patched - report.corrupted) / (report.clean - report.corrupted);
  };
  for (const HeadId& head : heads) {
    report.heads.push_back({head, restored(hooks_with_head(model, from, head))});
  }
  for (std::size_t slot = 0; slot < from.cache().residual.size(); ++slot) {
    std::vector<double>& row = report.residual.emplace_back();
    for (Index t = 0; t < from.residual(slot).size(1); ++t) {
      ModelHooks hooks{.residual = std::vector<Tensor>(slot + 1)};
      hooks.residual[slot] = put_position(into.residual(slot), from.residual(slot), t);
      row.push_back(restored(hooks));
    }
  }
  return report;
}

Table patched_pairs(const Transformer& model, const Task& task, const PatchPairs& pairs) {
  const NoGrad no_grad;
  const Activations from(model, pairs.clean, false);
  const PairMeans means(pairs.clean, model.config().outputs(), contrasts_of(pairs));
  const std::vector<double> clean = means.of(from.logits());
  const std::vector<double> corrupted = means.of(model.forward(pairs.corrupted));
  const std::vector<std::int32_t> lines = lines_of_pairs(task, pairs);
  std::vector<PatchedPair> rows;
  for (const HeadId& head : all_heads(model)) {
    const std::vector<double> patched =
        means.of(model.forward(pairs.corrupted, {}, hooks_with_head(model, from, head)));
    for (std::size_t i = 0; i < patched.size(); ++i) {
      if (!means.has_targets(i)) continue;
      PatchedPair& row = rows.emplace_back();
      row.example = pairs.examples[i];
      if (!lines.empty()) row.line = lines[i];
      row.head = head;
      row.clean = clean[i];
      row.corrupted = corrupted[i];
      row.patched = patched[i];
    }
  }
  return patched_pairs_table(rows);
}

Table patched_pairs_table(const std::vector<PatchedPair>& rows) {
  using Row = PatchedPair;
  Fields<Row> fields;
  fields.add(
      Column("example", "example", "index of the clean one among the held-out ones").no_legend(),
      &Row::example);
  fields.add(Column("line", "line",
                    "its line in the task's file, from 1; in a .npz its index, from 0")
                 .no_legend(),
             &Row::line);
  fields.add(Column(kHeadColumn).no_legend(), &Row::head);
  fields.add(Column("clean", "clean", "quantity of the clean input").no_legend(), &Row::clean);
  fields.add(Column("corrupted", "corrupted", "quantity of the corrupted input").no_legend(),
             &Row::corrupted);
  fields.add(Column("patched", "patched",
                    "quantity of the corrupted input with the head's output of the clean one")
                 .no_legend(),
             &Row::patched);
  return fields.table({.name = kSinglePairs}, rows);
}

Result result_of(const PatchReport& report) {
  using Head = PatchReport::Head;
  Fields<Head> fields;
  fields.add(kHeadColumn, &Head::head);
  fields.add(Column("restored", "restored",
                    text("share of the ", report.quantity, " that patching this head restores"))
                 .percent(1)
                 .mean_over("pairs"),
             &Head::restored);
  fields.add(Column("pairs", "pairs", "number of pairs of sequences").hidden().no_legend(),
             [&](const Head&) { return report.pairs; });
  const Table table{.name = "heads",
                    .note = text(report.pairs, " pairs of examples, ", report.targets,
                                 report.is_named ? " targets" : " targets that differ", "; mean ",
                                 report.quantity, ": clean ", report.clean, ", corrupted ",
                                 report.corrupted)};
  return {.about = stamped({{"attention", report.attention},
                            {"pairs", report.pairs},
                            {"targets", report.targets},
                            {"clean", report.clean},
                            {"corrupted", report.corrupted}}),
          .tables = {fields.table(table, report.heads)},
          .figures = {{"residual",
                       "what the residual stream restores: a row for each place (before each "
                       "block, and after the last), a column for each position",
                       report.residual}}};
}

}  // namespace headlab
