// Heads are patched by edits, streams by given residuals: both are hooks of the forward pass, so
// what is patched is what the model computed, bit for bit.
// Read next: model/transformer.h, ModelHooks.
#include "headlab/heads/patching.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/tensor/tape.h"

namespace headlab {
namespace {

/// The two columns of a row of logits [B*T*K, V] whose difference is judged.
struct Contrast {
  Index row, clean, corrupted;
};

std::vector<Contrast> contrasts_of(const Batch& clean, const Batch& corrupted) {
  std::vector<Contrast> contrasts;
  for (std::size_t i = 0; i < clean.targets.size(); ++i) {
    const Index a = clean.targets[i], b = corrupted.targets[i];
    if (a >= 0 && b >= 0 && a != b) contrasts.push_back({static_cast<Index>(i), a, b});
  }
  return contrasts;
}

/// The mean logit difference.
double difference(const Tensor& logits, Index vocab, const std::vector<Contrast>& contrasts) {
  double sum = 0;
  for (const Contrast& one : contrasts) {
    const Scalar* row = logits.data() + one.row * vocab;
    sum += static_cast<double>(row[one.clean]) - static_cast<double>(row[one.corrupted]);
  }
  return sum / static_cast<double>(contrasts.size());
}

/// A module's edits that put `z` [B, T, H*Dv] of the clean pass in the place of one head's.
HeadEdits put_head(const Tensor& z, Index heads, Index place) {
  HeadEdits edits{.gate = Tensor::full({heads}, 1)};
  edits.gate.data()[place] = 0;
  edits.replacement = z.viewed_as({z.size(0), z.size(1), heads, z.size(2) / heads});
  return edits;
}

/// `stream` [B, T, C] with position t from `other`.
Tensor put_position(const Tensor& stream, const Tensor& other, Index t) {
  Tensor patched = stream.clone();
  const Index T = stream.size(1), C = stream.size(2);
  for (Index b = 0; b < stream.size(0); ++b)
    std::copy_n(other.data() + (b * T + t) * C, C, patched.data() + (b * T + t) * C);
  return patched;
}

/// Both passes, and how a patched one is judged.
class Experiment {
 public:
  Experiment(const Transformer& model, const Batch& clean, const Batch& corrupted)
      : model_(model), corrupted_(corrupted), contrasts_(contrasts_of(clean, corrupted)) {
    require(!contrasts_.empty(),
            "the clean and the corrupted inputs ask for the same answers: there is nothing to "
            "restore");
    from_.wants_patterns = into_.wants_patterns = false;
    clean_difference_ = judge(clean, {.captures = &from_});
    corrupted_difference_ = judge(corrupted, {.captures = &into_});
    require(clean_difference_ != corrupted_difference_,
            "the model answers the clean and the corrupted inputs alike");
  }

  double judge(const Batch& batch, const ModelHooks& hooks) const {
    return difference(model_.forward(batch, {}, hooks), model_.config().vocab, contrasts_);
  }
  double restored(const ModelHooks& hooks) const {
    return (judge(corrupted_, hooks) - corrupted_difference_) /
           (clean_difference_ - corrupted_difference_);
  }
  /// With z of one head of module m from the clean pass.
  double with_head(std::size_t m, Index place) const {
    ModelHooks hooks;
    hooks.edits.resize(from_.attention.size());
    const Index heads = std::ssize(model_.head_numbers()[m]);
    hooks.edits[m] = put_head(from_.attention[m].z, heads, place);
    return restored(hooks);
  }
  /// With the clean stream at one place and position.
  double with_stream(std::size_t place, Index t) const {
    ModelHooks hooks;
    hooks.residual.resize(place + 1);
    hooks.residual[place] = put_position(into_.residual[place], from_.residual[place], t);
    return restored(hooks);
  }
  void write_to(PatchReport& report) const {
    report.targets = std::ssize(contrasts_);
    report.clean = clean_difference_;
    report.corrupted = corrupted_difference_;
    for (const Tensor& stream : from_.residual) {
      const std::size_t place = report.residual.size();
      std::vector<double>& row = report.residual.emplace_back();
      for (Index t = 0; t < stream.size(1); ++t) row.push_back(with_stream(place, t));
    }
  }

 private:
  const Transformer& model_;
  const Batch& corrupted_;
  std::vector<Contrast> contrasts_;
  ModelCaptures from_, into_;
  double clean_difference_ = 0, corrupted_difference_ = 0;
};

}  // namespace

PatchReport patch_activations(const Transformer& model, const Batch& clean,
                              const Batch& corrupted) {
  const NoGrad no_grad;
  const bool alike = clean.shape() == corrupted.shape() &&
                     clean.targets.size() == corrupted.targets.size() &&
                     clean.source_length == corrupted.source_length;
  require(alike, "patching needs clean and corrupted inputs of the same shape, got ", clean.shape(),
          " and ", corrupted.shape());
  const Experiment experiment(model, clean, corrupted);
  PatchReport report;
  report.attention = module_names(model);
  report.pairs = clean.size;
  for (const HeadId& head : all_heads(model)) {
    const auto m = static_cast<std::size_t>(head.layer);
    report.heads.push_back({head, experiment.with_head(m, place_of(model, head))});
  }
  experiment.write_to(report);
  return report;
}

Json PatchReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["pairs"] = pairs;
  json["targets"] = targets;
  json["clean"] = clean;
  json["corrupted"] = corrupted;
  Json& list = json["heads"] = Json::array();
  for (const Head& one : heads) {
    Json entry = Json::object();
    entry["layer"] = one.head.layer;
    entry["head"] = one.head.head;
    entry["restored"] = one.restored;
    list.push_back(std::move(entry));
  }
  Json& rows = json["residual"] = Json::array();
  for (const std::vector<double>& row : residual) rows.push_back(Json(row));
  return json;
}

}  // namespace headlab
