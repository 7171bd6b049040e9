// What commands share that do the same to several runs: --shard, which cuts their cells (a pruning
// method or a training of one run) into slices for any scheduler, and what becomes of the runs; one
// that fails does not keep the others from being done. Read next: curve.cc, the shortest of them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"
#include "headlab/lab/sweep.h"
#include "headlab/train/run.h"

namespace headlab::cli {

/// What --shard I/N says. UsageError for anything else, and where a picture is wanted of one slice
/// of several.
SweepSlice parse_slice(const Invocation& call);

struct RunsFlags {
  std::string shard;
  bool force = false;  // do anew what is there

  void add_to(Settings& settings, const std::string& file);
};

/// Which cells of a run a slice does.
using Cells = std::vector<bool>;

/// What became of the runs of a slice, in their order.
struct RunsDone {
  std::vector<std::string> paths{};                           // that were done
  std::vector<Json> found{};                                  // of each of these
  std::vector<std::pair<std::string, std::string>> failed{};  // path and error
  bool stopped = false;              // by Ctrl-C, within the run after these
  Index cells = 0;                   // of these runs, in this slice
  std::optional<Error> unwritten{};  // what could not be kept

  /// The keys that every command on several runs prints, for one run too.
  Json to_json() const;
  /// A line for each run that failed, "" where none did.
  std::string failures_text() const;
};

/// Calls work(run, mine), which returns what it found, or nothing where it was stopped, for each
/// run of which the slice has one of the `cells` that every run has. Slices are cut from the first
/// cells of all runs, then the second ones ... The error of a single run is thrown; of several it
/// is counted.
RunsDone do_runs(std::vector<Run>& runs, std::size_t cells, const SweepSlice& slice,
                 const std::function<std::optional<Json>(Run& run, const Cells& mine)>& work);

/// All settings as a slice keeps them with what it found, which is the same whoever finds it.
Json unsliced_settings(const Invocation& call);

/// What a command says that did one slice of several, or was stopped.
Result slice_result(const Invocation& call, const RunsDone& done, const std::string& shard);

}  // namespace headlab::cli
