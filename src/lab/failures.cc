// Cells that could not be made: a file for each, so that slices need not share one, and
// collect_sweep finds all of them.
// Read next: sweep_cell.cc.
#include <system_error>

#include "headlab/base/files.h"
#include "headlab/lab/sweep.h"
#include "headlab/train/trainer.h"

namespace headlab {
namespace {

std::filesystem::path failure_file(const std::filesystem::path& folder, const std::string& cell) {
  return folder / "failed" / (cell + ".json");
}

}  // namespace

Json to_json(const CellFailure& failure) {
  return Json::object(
      {{"cell", failure.cell}, {"error", failure.error}, {"diverged", failure.diverged}});
}

void keep_failure(const std::filesystem::path& folder, const std::string& cell,
                  const Error& error) {
  const bool diverged = dynamic_cast<const NotFinite*>(&error) != nullptr;
  make_directories(folder / "failed");
  write_json(failure_file(folder, cell),
             stamped(to_json(CellFailure{cell, error.what(), diverged}).members()));
}

void forget_failure(const std::filesystem::path& folder, const std::string& cell) {
  std::error_code ignored;
  std::filesystem::remove(failure_file(folder, cell), ignored);
}

std::vector<CellFailure> failures_of(const std::filesystem::path& folder,
                                     const std::vector<std::string>& cells) {
  std::vector<CellFailure> failures;
  std::error_code ignored;
  for (const std::string& cell : cells) {
    const std::filesystem::path file = failure_file(folder, cell);
    if (!std::filesystem::exists(file, ignored)) continue;
    const Json json = read_json(file);
    failures.push_back({cell, json.at("error").string(), json.at("diverged").boolean()});
  }
  return failures;
}

}  // namespace headlab
