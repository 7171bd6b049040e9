// The parameters of a model by their names, for the study of weights: a table of handles that share
// storage with the model. Private to this layer.
// Read next: circuits.cc, attribution.cc.
#pragma once

#include <map>
#include <string>

#include "headlab/base/error.h"
#include "headlab/model/transformer.h"

namespace headlab {

class Parameters {
 public:
  explicit Parameters(Transformer model) {
    model.visit([&](const std::string& name, Tensor& parameter) {
      by_name_.emplace(name, parameter.detach());
    });
  }
  /// Error for a name that the model does not have.
  const Tensor& at(const std::string& name) const {
    const auto found = by_name_.find(name);
    require(found != by_name_.end(), "the model has no parameter ", name);
    return found->second;
  }

 private:
  std::map<std::string, Tensor> by_name_;
};

}  // namespace headlab
