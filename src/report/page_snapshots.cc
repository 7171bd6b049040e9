// Weights over training, in 16 bits: half the bytes, and what that costs is measured on held-out
// examples and said. Where there are more than a page has room for, steps are left out evenly, the
// first and the last never. Read next: page_history.cc.
#include <algorithm>
#include <cmath>

#include "report/page_parts.h"
#include "train/snapshots.h"

namespace headlab {
namespace {

/// The places of at most `most` of `count` snapshots.
std::vector<std::size_t> chosen_snapshots(std::size_t count, Index most) {
  std::vector<std::size_t> places;
  if (most < 2) return places;
  const std::size_t kept = std::min(count, static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < kept; ++i)
    places.push_back(kept == 1 ? 0 : i * (count - 1) / (kept - 1));
  return places;
}

Transformer in_half(const Transformer& model) {
  Transformer rounded = model.clone();
  rounded.visit([](const std::string&, const Tensor& parameter) {
    for (Index i = 0; i < parameter.count(); ++i)
      parameter.data()[i] = float_of_half(half_of(parameter.data()[i]));
  });
  return rounded;
}

}  // namespace

std::vector<RunStudy::Snapshot> study_snapshots(const Run& run, Index examples) {
  std::vector<RunStudy::Snapshot> studied;
  const Snapshots kept = read_snapshots(run);
  for (std::size_t i = 0; i < kept.steps.size(); ++i) {
    const Transformer model = kept.model(run, i);
    RunStudy::Snapshot& snapshot = studied.emplace_back();
    snapshot.step = kept.steps[i];
    model.visit([&](const std::string&, const Tensor& parameter) {
      const auto values = parameter.values();
      snapshot.weights.insert(snapshot.weights.end(), values.begin(), values.end());
    });
    snapshot.loss = evaluate(model, *run.task, {.examples = examples}).loss;
    snapshot.half_loss = evaluate(in_half(model), *run.task, {.examples = examples}).loss;
  }
  return studied;
}

Json snapshots_facts(const RunStudy& study, const PagePlan& plan, PageBlocks& blocks) {
  const std::vector<std::size_t> places =
      chosen_snapshots(study.snapshots.size(), plan.weights ? plan.snapshots : 0);
  if (places.empty()) return {};
  Json steps = Json::array(), losses = Json::array();
  std::vector<float> weights;
  double error = 0;
  for (const std::size_t place : places) {
    const RunStudy::Snapshot& snapshot = study.snapshots[place];
    steps.push_back(snapshot.step);
    losses.push_back(snapshot.loss);
    weights.insert(weights.end(), snapshot.weights.begin(), snapshot.weights.end());
    error = std::max(error, std::abs(snapshot.half_loss - snapshot.loss));
  }
  const auto each = static_cast<Index>(study.snapshots[0].weights.size());
  Json json = Json::object({{"steps", steps},
                            {"held_out", losses},
                            {"examples", study.snapshot_examples},
                            {"error", error}});
  json["block"] = blocks.halves("snapshots", {std::ssize(places), each}, weights);
  return json;
}

}  // namespace headlab
