// The parameters of a model by their names, for the study of weights: handles that share storage
// with the model, off the tape. Private to this layer.
// Read next: circuits.cc, attribution.cc.
#pragma once

#include <string>

#include "headlab/base/error.h"
#include "headlab/model/transformer.h"

namespace headlab {

/// Error for a name that the model does not have.
inline Tensor parameter_of(const Transformer& model, const std::string& name) {
  Tensor found;
  model.visit([&](const std::string& other, const Tensor& parameter) {
    if (other == name) found = parameter.detach();
  });
  require(found.defined(), "the model has no parameter ", name);
  return found;
}

}  // namespace headlab
