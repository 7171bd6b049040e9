// Contributions to logits, averaged over the held-out examples of a task. This is a separate file
// because attribution.cc, which needs no task, is also built and tested in double. Read next:
// attribution.cc.
#include <algorithm>

#include "headlab/heads/activations.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/paired.h"
#include "headlab/train/evaluate.h"

namespace headlab {

AttributionReport attribute_logits(const Transformer& model, const Task& task, Index examples) {
  constexpr Index kBatch = 64;
  AttributionReport report{.attention = module_names(model),
                           .targets = task.target_names(),
                           .examples = at_most_different(task, examples)};
  const std::size_t K = report.targets.size();
  std::vector<double> counts(K);
  for_parts(held_out_examples(task, examples).batch, kBatch, [&](const Batch& part, Index) {
    if (part.target_count() == 0) return;
    const Attribution found = attribute_logits(model, part);
    report.parts = found.parts;
    report.shares.resize(found.parts.size(), std::vector<double>(K));
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const std::size_t k = found.rows[i] % K;
      ++counts[k];
      for (std::size_t p = 0; p < found.parts.size(); ++p) {
        report.shares[p][k] += found.shares[p][i];
      }
    }
  });
  report.logits.resize(K);
  for (std::vector<double>& shares : report.shares) {
    for (std::size_t k = 0; k < K; ++k) {
      shares[k] /= std::max(1.0, counts[k]);
      report.logits[k] += shares[k];
    }
  }
  return report;
}

Finding finding_of(const AttributionReport& report) {
  Table table{"parts",
              {{"name", "part", "the embedding, a head, a bias or a feed-forward network"}},
              {},
              "what each part adds to the right answer's logit above the mean logit: mean, in "
              "logits, by target"};
  std::vector<std::string> sums;
  for (std::size_t k = 0; k < report.targets.size(); ++k) {
    table.columns.push_back(element_column("shares", k, report.targets[k]).fixed(3));
    sums.push_back(text(report.targets[k], " ", report.logits[k]));
  }
  if (!sums.empty()) table.note = "all parts together: " + join(sums, ", ");
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    table.rows.push_back(row_with({report.parts[p]}, Json(report.shares[p]).items()));
  }
  return {.about = stamped({{"attention", report.attention},
                            {"examples", report.examples},
                            {"targets", report.targets},
                            {"logits", report.logits}}),
          .tables = {table}};
}

}  // namespace headlab
