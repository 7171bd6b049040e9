// Direct logit attribution on one prompt, to the quantity that its named answers define. No part is
// a remainder: the part "softmax" is computed from the logits, not from the other parts.
// Read next: attribution.cc.
#include <algorithm>
#include <limits>
#include <numeric>

#include "headlab/core/tensor/tape.h"
#include "headlab/lab/heads/causes/attribution.h"

namespace headlab {
namespace {

constexpr double kNoInterval = std::numeric_limits<double>::quiet_NaN();

/// Returns the contributions of all parts to the logit of one answer above the mean logit.
std::vector<double> shares_of(const Transformer& model, Batch prompt, const NamedAnswer& asked,
                              std::int32_t answer, std::vector<std::string>& parts) {
  std::ranges::fill(prompt.targets, -1);
  prompt.target(0, asked.position, asked.target) = answer;
  const Attribution found = attribute_logits(model, prompt);
  parts = found.parts;
  std::vector<double> shares;
  for (const std::vector<double>& of_part : found.shares) shares.push_back(of_part[0]);
  return shares;
}

/// Returns -log(sum over outputs v of exp(logit(v) - mean logit)) at the position of a contrast.
double softmax_share(const Transformer& model, const Batch& prompt, const Contrast& contrast) {
  const NoGrad no_grad;
  const Tensor logits = model.forward(prompt);
  const Index outputs = model.config().outputs();
  const Scalar* row = logits.data() + contrast.row * outputs;
  const double mean = std::accumulate(row, row + outputs, 0.0) / static_cast<double>(outputs);
  const double above_mean = static_cast<double>(row[contrast.clean]) - mean;
  return value_at(logits, outputs, contrast) - above_mean;
}

}  // namespace

AttributionReport attribute_logits(const Transformer& model, const Batch& prompt,
                                   const NamedAnswer& asked) {
  AttributionReport report{.attention = attention_layer_names(model),
                           .targets = {"share"},
                           .counts = {1},
                           .examples = 1,
                           .quantity = asked.said,
                           .is_prompt = true};
  std::vector<double> shares = shares_of(model, prompt, asked, asked.answer, report.parts);
  if (asked.against >= 0) {
    const std::vector<double> others = shares_of(model, prompt, asked, asked.against, report.parts);
    for (std::size_t p = 0; p < shares.size(); ++p) shares[p] -= others[p];
  } else {
    report.parts.emplace_back("softmax");
    shares.push_back(softmax_share(model, prompt, asked.contrast(prompt.targets_per_position)));
  }
  for (const double share : shares) {
    report.shares.push_back({share});
    report.low.push_back({kNoInterval});
    report.high.push_back({kNoInterval});
  }
  report.logits = {std::accumulate(shares.begin(), shares.end(), 0.0)};
  return report;
}

}  // namespace headlab
