// What commands share that do much: cells are made side by side (--jobs), by as many processes as
// are given the same command; and what becomes of several runs, of which one that fails does not
// keep the others from being done. Read next: train/cells.h; curve.cc.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"
#include "headlab/train/cells.h"

namespace headlab::cli {

struct WorkFlags {
  Index jobs = 0;

  void add_to(Flags& settings);
};

/// Makes cells, as many at once as --jobs says, with a line for each. Ctrl-C stops all.
CellsMade make_shown(const WorkFlags& flags, const std::vector<Cell>& cells);
/// Whether this process is one of several that make_shown started.
bool is_worker();

/// All settings as they are kept with what was found, which is the same however it was made.
Json work_settings(const Invocation& call);
/// What a command says that was stopped.
Result stopped_result(const Invocation& call);

/// What became of runs, in their order.
struct RunsDone {
  std::vector<std::string> paths{};                           // that were done
  std::vector<Json> found{};                                  // of each of these
  std::vector<std::pair<std::string, std::string>> failed{};  // path and error
  std::optional<Error> unwritten{};                           // what could not be kept
  /// What to return where all is not there yet: it was stopped.
  std::optional<Result> ended{};

  /// The keys that every command on several runs prints, for one run too.
  Json to_json() const;
  /// `result` with a line for each run that failed.
  Result with_failures(Result result) const;
};
struct RunsWork {
  WorkFlags flags;
  bool force = false;  // forget what is kept of the runs
  std::vector<std::string> paths;
  /// What can be made side by side, of runs that can be written.
  std::function<std::vector<Cell>(const std::vector<std::filesystem::path>& paths)> cells{};
  /// Puts the parts together; they are kept where in_run is true.
  std::function<Result(const Run& run, const Keeping& keeping)> show{};
};
/// The error of a single run is thrown; of several it is counted.
RunsDone do_runs(const Invocation& call, const RunsWork& work);

}  // namespace headlab::cli
