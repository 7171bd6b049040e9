// Initial values by name: each parameter draws from its own stream, so that its values depend
// neither on the other parameters nor on the order of creation. Renaming a parameter therefore
// changes its initial values. Read next: transformer.cc.
#include "headlab/core/model/initial.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns the number of attention and feed-forward sublayers in all blocks of the stack that a
/// parameter belongs to.
double sublayers_beside(const std::string& name, const TransformerConfig& config) {
  if (name.starts_with("encoder.")) return static_cast<double>(2 * config.encoder_layers);
  const Index in_block = config.has_source() ? 3 : 2;
  return static_cast<double>(in_block * config.layers);
}

void fill(const TransformerConfig& config, const std::string& name, const Tensor& parameter,
          Generator random) {
  const auto fill_normal = [&](double deviation) {
    for (Scalar& value : parameter.values()) {
      value = static_cast<Scalar>(deviation * random.normal());
    }
  };
  if (parameter.rank() < 2) {
    const bool gain = name.ends_with(".w");
    std::ranges::fill(parameter.values(), Scalar(gain ? 1 : 0));
  } else if (config.init == InitialValues::gpt2) {
    const bool into_residual = name.ends_with(".W_O") || name.ends_with(".W_out");
    fill_normal(into_residual ? 0.02 / std::sqrt(sublayers_beside(name, config)) : 0.02);
  } else if (name.ends_with(".W_E") || name.ends_with(".W_pos")) {
    fill_normal(0.5);
  } else {
    const double bound = 1 / std::sqrt(static_cast<double>(parameter.size(0)));
    for (Scalar& value : parameter.values()) {
      value = static_cast<Scalar>(random.uniform(-bound, bound));
    }
  }
}

}  // namespace

void initialize(Transformer& model, Key key) {
  std::vector<std::pair<std::string, Tensor>> all;
  model.visit(
      [&](const std::string& name, const Tensor& values) { all.emplace_back(name, values); });
  parallel_for(std::ssize(all), [&](Index i) {
    const auto& [name, values] = all[i];
    fill(model.config(), name, values, Generator(key.fold(name)));
  });
}

}}  // namespace headlab
