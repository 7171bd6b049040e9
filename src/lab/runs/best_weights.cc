// Best weights are chosen by the held-out loss of the run's evaluations, so they must be judged on
// examples that did not choose them (Split::test). Files of earlier versions do not state their
// step: it is then that of the lowest loss in the log. Read next: run.cc.
#include "lab/runs/best_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "headlab/core/base/text.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

constexpr std::string_view kBest = "@best";

/// Returns the held-out loss of a line of the log; infinity if none was measured.
double loss_of(const Json& line) {
  const double loss = number_or_nan(line, "loss");
  return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

/// Returns the step that a file of best weights states; nothing if it states none.
std::optional<Index> step_in(const std::filesystem::path& file) {
  const TensorReader reader(file);
  const auto& metadata = reader.header().metadata;
  const auto said = metadata.find("step");
  double step = 0;
  if (said == metadata.end() || !parse_number(said->second, step)) return std::nullopt;
  return static_cast<Index>(step);
}

/// Returns the line of the log that belongs to the best weights; nothing if there is none.
std::optional<Json> best_line(const Run& run) {
  const std::vector<Json> log = read_log(metrics_file(run), identity_of(run.config));
  const std::optional<Index> step = step_in(best_file(run));
  for (const Json& line : log) {
    if (step && line.at("step").integer() == *step) return line;
  }
  if (log.empty()) return std::nullopt;
  return *std::ranges::min_element(log, {}, loss_of);
}

}  // namespace

bool keeps_best(const Run& run) {
  return run.config.patience > 0 || run.task->different(Split::train) > 0;
}

void save_best(const Run& run, Index step) {
  TensorFile file;
  file.metadata["config"] = identity_of(run.config);
  file.metadata["step"] = text(step);
  store_parameters(run.model, file);
  write_safetensors(best_file(run), file);
}

double lowest_loss(const Run& run) {
  if (!is_there(best_file(run))) return std::numeric_limits<double>::infinity();
  const std::optional<Json> line = best_line(run);
  return line ? loss_of(*line) : std::numeric_limits<double>::infinity();
}

void load_best(Run& run) {
  if (!is_there(best_file(run))) {
    throw Error(text("cannot read the best weights of ", run.path.string(),
                     ": it has its last parameters alone"),
                "train with --patience N, or on a task that reads a file (text, file): such runs "
                "keep the best");
  }
  read_model(best_file(run), run.model);
  const std::optional<Json> line = best_line(run);
  run.step = step_in(best_file(run)).value_or(line ? line->at("step").integer() : run.step);
  run.best = true;
}

NamedRun named_run(const std::filesystem::path& path) {
  const std::string name = path.string();
  const bool asks = name.size() > kBest.size() && name.ends_with(kBest);
  if (!asks || is_there(path / "config.json")) return {path, false};
  return {name.substr(0, name.size() - kBest.size()), true};
}

std::string name_of(const Run& run) {
  return run.path.string() + std::string(run.best ? kBest : std::string_view());
}

std::filesystem::path result_file(const Run& run, const std::string& name) {
  if (!run.best) return run.path / name;
  const std::filesystem::path file(name);
  return run.path / (file.stem().string() + std::string(kBest) + file.extension().string());
}

}  // namespace headlab
