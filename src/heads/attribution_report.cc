// Shares of logits, averaged over the held-out examples of a task. Apart from attribution.cc
// because that needs a model and a batch alone: its sums are tested in double as well. Read next:
// attribution.cc.
#include <algorithm>

#include "headlab/base/version.h"
#include "headlab/heads/ablation.h"
#include "headlab/heads/attribution.h"

namespace headlab {

AttributionReport attribute_logits(const Transformer& model, const Task& task, Index examples) {
  constexpr Index kBatch = 64;
  AttributionReport report;
  report.attention = module_names(model);
  report.targets = task.target_names();
  report.examples = examples;
  const std::size_t K = report.targets.size();
  std::vector<double> counts(K);
  const Batch all = held_out_examples(task, examples).batch;
  for (Index first = 0; first < all.size; first += kBatch) {
    const Batch part = all.rows(first, std::min(all.size, first + kBatch));
    if (part.target_count() == 0) continue;
    const Attribution found = attribute_logits(model, part);
    report.parts = found.parts;
    report.shares.resize(found.parts.size(), std::vector<double>(K));
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(found.rows[i]) % K;
      ++counts[k];
      for (std::size_t p = 0; p < found.parts.size(); ++p)
        report.shares[p][k] += found.shares[p][i];
    }
  }
  report.logits.resize(K);
  for (std::vector<double>& shares : report.shares) {
    for (std::size_t k = 0; k < K; ++k) {
      shares[k] /= std::max(1.0, counts[k]);
      report.logits[k] += shares[k];
    }
  }
  return report;
}

Json AttributionReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["examples"] = examples;
  json["targets"] = Json(targets);
  json["logits"] = Json(logits);
  Json& list = json["parts"] = Json::array();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Json entry = Json::object();
    entry["name"] = parts[p];
    entry["shares"] = Json(shares[p]);
    list.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
