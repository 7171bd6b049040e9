// Activation patching. Heads are patched by interventions, streams by given residuals: both are
// hooks of the forward pass, so the patched values are those of the model, bit for bit.
// Read next: core/model/transformer.h, ModelHooks.
#include "headlab/lab/heads/causes/patching.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/tensor/tape.h"
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
                     .quantity = pairs.quantity()};
  require(report.clean != report.corrupted,
          "cannot patch: the model gives the clean and the corrupted inputs the same answers");
  const auto numbers = model.head_numbers();
  const std::vector<HeadId> heads = all_heads(model);
  Steps steps(std::ssize(heads) + std::ssize(from.cache().residual) * corrupted.length);
  const auto restored = [&](const ModelHooks& hooks) {
    steps.done();
    const double patched = mean_difference(model.forward(corrupted, {}, hooks), outputs, contrasts);
    return (patched - report.corrupted) / (report.clean - report.corrupted);
  };
  for (const HeadId& head : heads) {
    ModelHooks hooks{.interventions = std::vector<HeadInterventions>(numbers.size())};
    hooks.interventions[head.attention_layer] =
        put_head(from.cache().attention[head.attention_layer].z,
                 std::ssize(numbers[head.attention_layer]), slot_of(model, head));
    report.heads.push_back({head, restored(hooks)});
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
                                 " targets that differ; mean ", report.quantity, ": clean ",
                                 report.clean, ", corrupted ", report.corrupted)};
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
