// Models as others store them, for tests: the fixtures of tests/golden/make_layouts.py, and copies
// of them that a test changes.
// Read next: tests/model/layouts_test.cc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/core/base/files.h"
#include "headlab/core/base/safetensors.h"
#include "headlab/lab/layouts/layouts.h"
#include "support/errors.h"
#include "support/folders.h"
#include "support/golden.h"

namespace headlab {

namespace fs = std::filesystem;

inline const fs::path kLayouts = fs::path(HEADLAB_SOURCE_DIR) / "tests/golden/layouts";

inline std::vector<float> values_of(const Transformer& model) {
  std::vector<float> values;
  model.visit([&](const std::string&, const Tensor& parameter) {
    values.insert(values.end(), parameter.values().begin(), parameter.values().end());
  });
  return values;
}

inline Json settings_json(TransformerConfig config) { return settings_of(config).to_json(); }

/// A copy of a fixture, to be damaged.
class DamagedModel : public InAFolder {
 protected:
  void copy(const std::string& name) {
    path = folder / name;
    fs::copy(kLayouts / name, path);
  }
  /// Puts one text in place of another, of the same length in a file of tensors.
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string bytes = read_file(path / file);
    ASSERT_NE(bytes.find(from), bytes.npos) << from;
    write_file(path / file, bytes.replace(bytes.find(from), from.size(), to));
  }
  void expect_refused(const std::vector<std::string>& parts) const {
    expect_error([&] { import_model(path); }, parts);
  }
  fs::path path;
};

}  // namespace headlab
