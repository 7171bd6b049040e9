// Helpers for the tests of train/ and of later layers: a folder that is deleted when the test ends,
// a run that trains in milliseconds, and the parts of a run that must be equal bit for bit, which
// are all except times.
#pragma once

#include <algorithm>

#include "headlab/core/base/files.h"
#include "headlab/core/base/threads.h"
#include "headlab/lab/runs/run.h"
#include "support/folders.h"
#include "support/tensors.h"

namespace headlab {

namespace fs = std::filesystem;

/// Runs of toy size are fastest on one thread, above all when other programs run; what they compute
/// does not depend on it (Trainer.ComputesTheSameBitsOnAnyNumberOfThreads).
inline const bool kOnOneThread = (set_thread_count(1), true);

using TrainedRun = Run;  // inside a test, `Run` is a member of testing::Test

/// `relations` with two relations and a model of two small heads. Saves and evaluations share no
/// rhythm, and there is dropout, so that resuming has to find its random numbers again.
inline RunConfig tiny_config(const std::string& settings = "") {
  RunConfig config;
  config.task = "relations:length=8,vocab=6,classes=3,relations=1+same";
  user_settings_of(config).set_all_text(
      "heads=2 d_model=8 d_ff=12 dropout=0.1 steps=60 batch=4 lr=1e-2 warmup=5 eval_every=7 "
      "eval_examples=8 save_every=10 " +
      settings);
  return config;
}

/// All of state.safetensors but the seconds, which are the third number of "trainer.sums".
inline std::string timeless_state(const Run& run) {
  std::string all;
  for (const StoredTensor& tensor : read_safetensors(state_file(run)).tensors) {
    std::string bytes = tensor.bytes;
    if (tensor.name == "trainer.sums") bytes.resize(2 * sizeof(double));
    all += text(tensor.name, " ", tensor.dtype, " ", Shape(tensor.shape), " ") + bytes + "\n";
  }
  return all;
}

/// metrics.jsonl without times.
inline std::string timeless_metrics(const Run& run) {
  std::string all;
  for (Json json : read_log(metrics_file(run))) {
    json["seconds"] = json["tokens_per_s"] = json["run"] = nullptr;
    all += json.dump() + "\n";
  }
  return all;
}

/// The names of the files in a folder, sorted, without the locks of runs, which live as long as a
/// Run does.
inline std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() != ".lock") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// All parameters, one after the other.
inline std::vector<double> parameters_in(const Transformer& model) {
  std::vector<double> all;
  Transformer copy = model;
  copy.visit([&](const std::string&, const Tensor& parameter) {
    const std::vector<double> values = numbers(parameter);
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

}  // namespace headlab
