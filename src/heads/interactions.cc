// The interval is that of (joint + whole) - (first + second), example by example: all four losses
// are paired, so that what is common to them cancels.
// Read next: patching.cc.
#include "headlab/heads/interactions.h"

#include <algorithm>
#include <functional>

#include "headlab/base/error.h"

namespace headlab {
namespace {

std::vector<double> plus(std::vector<double> a, const std::vector<double>& b) {
  std::ranges::transform(a, b, a.begin(), std::plus<>());
  return a;
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
  InteractionReport report{.attention = module_names(model),
                           .options = options,
                           .examples = examples.size,
                           .loss = ablation.mean(losses[0]),
                           .pairs = {}};
  std::size_t pair = heads.size() + 1;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (std::size_t j = i + 1; j < heads.size(); ++j, ++pair) {
      const std::vector<double> apart = plus(losses[i + 1], losses[j + 1]);
      const std::vector<double> together = plus(losses[pair], losses[0]);
      report.pairs.push_back({heads[i], heads[j], ablation.mean(losses[pair]) - report.loss,
                              ablation.mean(apart) - 2 * report.loss,
                              paired_change(together, apart, ablation.targets())});
    }
  }
  return report;
}

static Json to_json(const Interaction& pair) {
  return Json::object({{"first", pair.first},
                       {"second", pair.second},
                       {"joint", pair.joint},
                       {"sum", pair.sum},
                       {"interaction", pair.interaction}});
}

Json to_json(const InteractionReport& report) {
  return stamped({{"attention", report.attention},
                  {"kind", name_of(report.options.kind)},
                  {"examples", report.examples},
                  {"seed", report.options.seed},
                  {"loss", report.loss},
                  {"pairs", report.pairs}});
}

}  // namespace headlab
