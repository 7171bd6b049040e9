// Strict loading: every tensor is checked before the first is changed, so a file that does not fit
// does not change the model. Numbers are stored as F32 for both number types. Read next:
// headlab/core/base/safetensors.h.
#include "headlab/core/model/checkpoint.h"

#include <algorithm>
#include <set>

#include "headlab/core/base/error.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Throws an Error if name, shape or dtype in the header of `from` do not fit.
void check_form(const StoredTensor& from, const Shape& expected) {
  require(from.dtype == "F32", "cannot load the parameters: tensor ", from.name, " has dtype ",
          from.dtype, ", expected F32");
  require(std::equal(from.shape.begin(), from.shape.end(), expected.begin(), expected.end()),
          "cannot load the parameters: tensor ", from.name, " has shape ", Json(from.shape).dump(1),
          ", expected ", expected);
}

void check_values(const std::string& name, const std::vector<float>& values) {
  const bool finite = std::all_of(values.begin(), values.end(), [](float v) { return v - v == 0; });
  require(finite, "cannot load the parameters: tensor ", name,
          " holds numbers that are not finite");
}

/// Throws an Error if anything about `from` does not fit, before the model changes.
void check(const StoredTensor& from, const Shape& expected) {
  check_form(from, expected);
  check_values(from.name, from.numbers<float>());
}

}  // namespace

StoredTensor stored(const std::string& name, const Tensor& tensor) {
  const std::vector<float> values(tensor.values().begin(), tensor.values().end());
  const std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  return StoredTensor::of(name, shape, std::span<const float>(values));
}

void read_into(const StoredTensor& from, const Tensor& to) {
  check(from, to.shape());
  const std::vector<float> values = from.numbers<float>();
  std::copy(values.begin(), values.end(), to.data());
}

void store_parameters(const Model& model, TensorFile& file, const std::string& prefix) {
  model.visit([&](const std::string& name, const Tensor& parameter) {
    file.tensors.push_back(stored(prefix + name, parameter));
  });
}

void load_parameters(Model& model, const TensorFile& file, const std::string& prefix) {
  std::set<std::string> expected;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    expected.insert(prefix + name);
    check(file.at(prefix + name), parameter.shape());
  });
  for (const StoredTensor& tensor : file.tensors) {
    require(!tensor.name.starts_with(prefix) || expected.contains(tensor.name),
            "cannot load the parameters: tensor ", tensor.name, " is no parameter of this model");
  }
  model.visit([&](const std::string& name, const Tensor& parameter) {
    read_into(file.at(prefix + name), parameter);
  });
}

void load_parameters(Model& model, const TensorReader& file) {
  std::set<std::string> expected;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    expected.insert(name);
    check_form(file.header().at(name), parameter.shape());
    check_values(name, file.floats(name));
  });
  for (const StoredTensor& tensor : file.header().tensors) {
    require(expected.contains(tensor.name), "cannot load the parameters: tensor ", tensor.name,
            " is no parameter of this model");
  }
  model.visit([&](const std::string& name, const Tensor& parameter) {
    std::ranges::copy(file.floats(name), parameter.data());
  });
}

void write_model(const std::filesystem::path& path, const Model& model) {
  TensorFile file;
  store_parameters(model, file);
  write_safetensors(path, file);
}

void read_model(const std::filesystem::path& path, Model& model) {
  const TensorReader file(path);
  try {
    load_parameters(model, file);
  } catch (const Error& error) {
    throw Error(text("cannot read ", path.string(), ": ", error.what()),
                "use the file and the config.json that were written together");
  }
}

}}  // namespace headlab
