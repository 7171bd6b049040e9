// Reference values from PyTorch: the files of tests/golden, read into tensors, and comparisons with
// them. An error is measured against the largest magnitude in the tensor, because float sums err in
// proportion to it.
#pragma once

#include <filesystem>

#include "headlab/core/base/safetensors.h"
#include "headlab/core/nn/layers.h"
#include "headlab/core/ops/layout.h"
#include "support/tensors.h"

namespace headlab {

constexpr double kValueTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;

class Golden {
 public:
  explicit Golden(const std::string& name)
      : file_(read_safetensors(std::filesystem::path(HEADLAB_SOURCE_DIR) / "tests/golden" /
                               (name + ".safetensors"))) {}

  bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  bool has_note(const std::string& name) const { return file_.metadata.contains(name); }
  const std::string& note(const std::string& name) const { return file_.metadata.at(name); }

  Tensor tensor(const std::string& name) const {
    const StoredTensor& stored = file_.at(name);
    const std::vector<double> values = stored.numbers<double>();
    Tensor x = Tensor::empty(Shape(stored.shape));
    std::transform(values.begin(), values.end(), x.data(),
                   [](double value) { return static_cast<Scalar>(value); });
    return x;
  }

  Ids ids(const std::string& name) const {
    Ids ids;
    for (std::int64_t id : file_.at(name).numbers<std::int64_t>())
      ids.push_back(static_cast<std::int32_t>(id));
    return ids;
  }

  /// Fills a parameter with the values stored under its name.
  void fill(const std::string& name, const Tensor& parameter) const {
    const Tensor values = tensor(name);
    ASSERT_EQ(values.shape(), parameter.shape()) << name;
    std::copy_n(values.data(), values.count(), parameter.data());
  }

  void expect(const Tensor& actual, const std::string& name, double tolerance) const {
    const Tensor expected = tensor(name);
    expect_near(actual, expected, tolerance * largest(numbers(expected)), name);
  }

  /// A parameter's gradient. b_K adds one constant to a whole row of scores, so its true gradient
  /// is 0. The file holds rounding, bounded by that of W_K.
  void expect_gradient(const Tensor& parameter, const std::string& name,
                       double tolerance = kGradientTolerance) const {
    const std::size_t at = name.rfind("b_K");
    if (at == std::string::npos) {
      expect(parameter.grad(), "grad." + name, tolerance);
      return;
    }
    const double scale = largest(numbers(tensor("grad." + name.substr(0, at) + "W_K")));
    ASSERT_TRUE(parameter.grad().defined()) << name;
    EXPECT_LE(largest(numbers(parameter.grad())), 1e-5 * scale) << name;
  }

 private:
  TensorFile file_;
};

}  // namespace headlab
