// The interval is that of (joint + whole) - (first + second), example by example: all four losses
// are paired, so that what is common to them cancels.
// Read next: patching.cc.
#include "headlab/heads/interactions.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/version.h"

namespace headlab {
namespace {

std::vector<double> plus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::plus<>());
  return result;
}

}  // namespace

InteractionReport ablate_pairs(const Transformer& model, const Batch& examples,
                               const AblationOptions& options) {
  const HeadSet heads = all_heads(model);
  require(heads.size() >= 2, "pairs of heads need two heads, the model has ", heads.size());
  const Ablation ablation(model, examples, options);
  std::vector<HeadSet> sets = {{}};
  for (const HeadId& head : heads) sets.push_back({head});
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (std::size_t j = i + 1; j < heads.size(); ++j) sets.push_back({heads[i], heads[j]});
  const std::vector<std::vector<double>> losses = ablation.losses(sets);
  const auto mean = [&](const std::vector<double>& sums) {
    return std::accumulate(sums.begin(), sums.end(), 0.0) / ablation.target_count();
  };
  InteractionReport report;
  report.attention = module_names(model);
  report.options = options;
  report.examples = examples.size;
  report.loss = mean(losses[0]);
  std::size_t pair = heads.size() + 1;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (std::size_t j = i + 1; j < heads.size(); ++j, ++pair) {
      const std::vector<double> apart = plus(losses[i + 1], losses[j + 1]);
      const std::vector<double> together = plus(losses[pair], losses[0]);
      report.pairs.push_back({heads[i], heads[j], mean(losses[pair]) - report.loss,
                              mean(apart) - 2 * report.loss,
                              paired_change(together, apart, ablation.targets())});
    }
  }
  return report;
}

Json InteractionReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["kind"] = name_of(options.kind);
  json["examples"] = examples;
  json["seed"] = options.seed;
  json["loss"] = loss;
  Json& list = json["pairs"] = Json::array();
  for (const Interaction& one : pairs) {
    Json entry = Json::object();
    entry["first"] = Json::Array{one.first.layer, one.first.head};
    entry["second"] = Json::Array{one.second.layer, one.second.head};
    entry["joint"] = one.joint;
    entry["sum"] = one.sum;
    one.interaction.write_to(entry["interaction"] = Json::object());
    list.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
