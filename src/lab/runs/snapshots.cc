// Snapshots are gathered in memory and written with the run's state, just before it: writing the
// file again for each of them would cost more than the training of a small model. Read next:
// run.cc.
#include "lab/runs/snapshots.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "headlab/core/base/build.h"
#include "headlab/core/base/text.h"
#include "headlab/core/model/checkpoint.h"

namespace headlab {
namespace {

std::string prefix_of(Index step) { return text(step, "."); }

/// Returns the step that a tensor's name begins with. Error for a name without one.
Index step_of(const std::string& name) {
  double step = -1;
  const bool whole = parse_number(split(name, '.').front(), step) && step >= 0 &&
                     step == std::floor(step) && step <= 9e15;
  require(whole, "its tensor ", name, " does not begin with the step that it was kept after");
  return static_cast<Index>(step);
}

std::vector<Index> steps_in(const TensorFile& file) {
  std::set<Index> steps;
  for (const StoredTensor& tensor : file.tensors) steps.insert(step_of(tensor.name));
  return {steps.begin(), steps.end()};
}

/// The file as it grows.
class Keeper {
 public:
  Keeper(const Run& run, Index step) : run_(run) {
    const RunConfig& config = run.config;
    refuse_link(snapshots_file(run));
    wanted_ = snapshot_steps(config.keep_weights, config.train.steps);
    if (step > 0) file_ = read_snapshots(run).file;
    std::erase_if(file_.tensors,
                  [&](const StoredTensor& tensor) { return step_of(tensor.name) > step; });
    file_.metadata["headlab"] = version();
    file_.metadata["config"] = identity_of(config);
    keep(step);
  }

  void keep(Index step) {
    const std::vector<Index> there = steps_in(file_);
    const bool wanted = std::ranges::binary_search(wanted_, step);
    if (wanted && std::ranges::find(there, step) == there.end()) {
      store_parameters(run_.model, file_, prefix_of(step));
    }
  }

  /// A run that was extended has kept steps that are not wanted any more: they are dropped where
  /// there would be too many.
  void write() {
    std::vector<Index> there = steps_in(file_);
    for (const Index step : std::vector<Index>(there)) {
      const bool wanted = std::ranges::binary_search(wanted_, step);
      if (std::ssize(there) <= run_.config.keep_weights || wanted) continue;
      std::erase_if(file_.tensors,
                    [&](const StoredTensor& tensor) { return step_of(tensor.name) == step; });
      std::erase(there, step);
    }
    write_safetensors(snapshots_file(run_), file_, Links::refuse);
  }

 private:
  const Run& run_;
  std::vector<Index> wanted_;
  TensorFile file_;
};

}  // namespace

std::filesystem::path snapshots_file(const Run& run) { return run.path / "snapshots.safetensors"; }

std::vector<Index> snapshot_steps(Index count, Index steps) {
  if (count <= 0) return {};
  std::set<Index> kept = {steps};
  const double parts = static_cast<double>(std::max<Index>(1, count - 2));
  for (Index i = 0; i + 2 < count; ++i) {
    const double share = static_cast<double>(i) / parts;
    kept.insert(static_cast<Index>(std::lround(std::pow(static_cast<double>(steps), share))));
  }
  if (count >= 2) kept.insert(0);
  kept.erase(kept.upper_bound(steps), kept.end());  // without steps, where pow(0, 0) gave 1
  return {kept.begin(), kept.end()};
}

RunCallbacks keep_weights(const Run& run, Index step, RunCallbacks callbacks) {
  if (run.config.keep_weights == 0) return callbacks;
  const auto keeper = std::make_shared<Keeper>(run, step);
  callbacks.after_step = [keeper, inner = callbacks.after_step](Index done) {
    if (inner) inner(done);
    keeper->keep(done);
  };
  callbacks.store_extra = [keeper, inner = callbacks.store_extra](TensorFile& state) {
    if (inner) inner(state);
    keeper->write();
  };
  return callbacks;
}

Transformer Snapshots::model(const Run& run, std::size_t i) const {
  Transformer model = run.model.clone();
  load_parameters(model, file, prefix_of(steps[i]));
  return model;
}

Snapshots read_snapshots(const Run& run) {
  Snapshots snapshots;
  const std::filesystem::path path = snapshots_file(run);
  if (!is_there(path)) return snapshots;
  snapshots.file = read_safetensors(path);
  try {
    const auto owner = snapshots.file.metadata.find("config");
    require(owner == snapshots.file.metadata.end() || owner->second == identity_of(run.config),
            "it holds the weights of another run");
    snapshots.steps = steps_in(snapshots.file);
    for (std::size_t i = 0; i < snapshots.steps.size(); ++i) snapshots.model(run, i);
  } catch (const Error& error) {
    throw Error(text("cannot read ", path.string(), ": ", error.what()),
                "delete the file, which does not belong to this run, or train the run again");
  }
  return snapshots;
}

}  // namespace headlab
