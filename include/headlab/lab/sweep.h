// A grid of trainings: every combination of some settings, each with several seeds. A cell of the
// grid is a run like any other, in a folder of its own that is named after it; what is finished is
// never made twice, so a sweep that was killed can be continued, and any number of processes or
// machines may work on one folder. The results: means with 95% intervals over seeds, heads aligned
// between seeds by what they do (head 2 of one seed may be head 0 of the next), and one head
// against several. Read next: src/lab/studies/sweep.cc, src/lab/studies/sweep_report.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlab/base/comparison.h"
#include "headlab/base/error.h"
#include "headlab/heads/edits.h"
#include "headlab/heads/scores.h"
#include "headlab/train/cells.h"

namespace headlab {

/// A setting of runs and the values it takes, as text: {"heads", {"1", "2", "4"}}.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};

struct SweepCell {
  std::string name;    // of its folder, from all that changes: "layers=2,heads=4,seed=2"
  std::string group;   // without the seed, "layers=2,heads=4": cells of one group are averaged
  std::string family;  // nor the heads, "layers=2", or "all": groups of one family are compared
  RunConfig config;
};

/// The values of a list on a command line, "1,2,4". In a list of tasks a part that gives a
/// parameter (NAME=VALUE) belongs to the task before it: "sort,relations:length=8,vocab=6" are two.
std::vector<std::string> sweep_values(const std::string& list);

/// All cells, the seeds of one combination side by side. Settings that no axis names are those of
/// the first run of the group (see SweepCell) in `folder`, if one is given and holds any; else
/// those that the task recommends. d_head is floor(d_model / heads) unless it is given. Errors: an
/// unknown setting, an impossible value or combination, two cells that are the same. Settings are
/// compared as they are read: lr=0.01 and lr=1e-2 are one cell, so a grid with both is refused.
std::vector<SweepCell> sweep_cells(const std::vector<SweepAxis>& grid,
                                   const std::filesystem::path& folder = {});

using SweepGrid = std::vector<SweepAxis>;

/// The lock for the files of a sweep as a whole, its grids and its results, to be held while they
/// are read and written. Waits while another process holds it, which takes milliseconds; RunBusy
/// after 10 seconds.
RunLock lock_sweep(const std::filesystem::path& folder);

/// Adds a grid to those of a sweep's folder, which grid.json holds, under the sweep's lock, unless
/// it is there already. Before, it throws the errors of cell_state, unless the grid is there and
/// all its cells are finished. Error if a cell is in the sweep already in another spelling.
void add_grid(const std::filesystem::path& folder, const SweepGrid& grid);
/// The cells of all grids of a sweep's folder, each once, with the settings of the runs that are
/// there: their task may recommend others by now. Error if there is no such sweep.
std::vector<SweepCell> kept_cells(const std::filesystem::path& folder);

enum class CellState { missing, started, finished };
/// How far a cell is. Error if its folder holds a run with other settings.
CellState cell_state(const std::filesystem::path& folder, const SweepCell& cell);

/// Which head does what in a finished cell.
struct SweepRole {
  std::string relation;
  std::optional<HeadId> head;  // no two relations share one; none where heads are too few
  double lift = 0;             // on split B; NaN without a head
  bool owned = false;          // p < kOwnerP and lift >= kOwnerLift

  void members(auto&& f) {
    f("relation", relation), f("head", head), f("lift", lift), f("owned", owned);
  }
};

/// How much one query of a task must read at once, by its ground truth: the most over examples.
struct ReadAtOnce {
  Index relations = 0;  // with different keys
  Index keys = 0;       // of all of them together, each counted once
};
ReadAtOnce read_at_once(const Task& task);

/// What came out of a cell: cell.json.
struct CellResult {
  double loss = 0, accuracy = 0;
  Index parameters = 0;
  double keys = 0;  // ReadAtOnce::relations of the task
  std::vector<SweepRole> roles;
  std::optional<double> diversity{};  // of its heads, see heads/scores.h; older cells do not say
  std::optional<Index> keys_read{};   // ReadAtOnce::keys of the task; older cells do not say
  std::optional<Index> targets{};     // that the accuracy is over; older cells do not say

  void members(auto&& f) {
    f("loss", loss), f("accuracy", accuracy), f("parameters", parameters), f("keys", keys);
    f("roles", roles), f("diversity", diversity), f("keys_read", keys_read);
    f("targets", targets);
  }
};
/// Reads the result of the cell in this folder. Error if it has none.
CellResult read_cell(const std::filesystem::path& cell);

/// Callbacks for the training of a cell, made when it begins.
using WatchCell = std::function<RunCallbacks(const SweepCell& cell)>;
/// The training of a cell as work that is done once: its result is cell.json, written last. It is
/// locked as the run that it is. What it throws: Stopped if should_stop of its callbacks ended it
/// (it is saved), the errors of cell_state and train_run.
Cell training_cell(const std::filesystem::path& folder, const SweepCell& cell,
                   const WatchCell& watch = {});

// ---- what came out

/// One relation over the seeds of a group.
struct SweepRoles {
  std::string relation;
  Interval lift{};                             // of the relation's head
  Index owned = 0;                             // seeds in which that head owns it
  std::vector<std::optional<HeadId>> heads{};  // the head in each seed, if there is one

  void members(auto&& f) {
    f("name", relation), f("lift", lift), f("owned", owned), f("heads", heads);
  }
};

/// Cells that differ by the seed alone.
struct SweepGroup {
  std::string name, family;
  RunConfig config;  // of its first seed
  std::vector<std::int64_t> seeds;
  std::vector<double> losses, accuracies, diversities;  // by seed
  Interval loss;                                        // geometric
  Interval accuracy, diversity;
  Interval specialization;  // share of relations that own a head, no head counted twice
  Index parameters = 0;
  Index relations_at_once = 0;       // see ReadAtOnce
  std::optional<Index> keys_read{};  // the same; older cells do not say
  std::vector<SweepRoles> roles;

  void members(auto&& f) {
    const Json model = settings_of(config.model).to_json();
    f("name", name), f("task", config.task), f("model", model), f("seeds", seeds);
    f("parameters", parameters), f("losses", losses), f("loss", loss), f("accuracy", accuracy);
    f("diversities", diversities), f("diversity", diversity);
    f("specialization", specialization), f("relations", roles);
  }
};

/// The least gain in accuracy that counts: with less two groups are equally accurate.
inline constexpr double kGain = 0.005;

/// Groups that differ by their number of heads alone: is one head as good as several? They are
/// compared on the seeds that all of them have.
struct SweepComparison {
  std::string family;
  std::size_t one = 0, best = 0;  // groups: that with one head, that with the lowest mean loss
  /// The fewest heads that are as accurate as the best, by two one-sided tests within kGain; or the
  /// best, if all with fewer heads are told to have more loss. None where the seeds tell neither.
  /// Both tests are corrected by Holm for all groups of all families.
  std::optional<std::size_t> enough{};
  /// log(loss with one head / loss of the best). p is p_of_picked, two-sided, and accounts for the
  /// choice of the best; the interval inverts the test of this pair.
  Paired loss{};
  double accuracy_gain = 0;  // of the best over one head
  bool equal_parameters = true;
  Index relations_at_once = 0;       // see ReadAtOnce
  std::optional<Index> keys_read{};  // the same
  bool several_win = false;          // accuracy gains by kGain, and Holm's p < .05
  bool one_is_equal = false;         // as accurate as the best within kGain, Holm's p < .05
};

struct SweepReport {
  std::vector<SweepGroup> groups;            // of finished cells
  std::vector<SweepComparison> comparisons;  // where there is a group with one head and another
  std::vector<std::string> missing;          // cells that are not finished
  std::vector<CellFailure> failed{};         // of these
  std::size_t cells = 0;
};
Finding finding_of(const SweepReport& report);

/// Reads the finished cells below `folder`. Errors: those of cell_state; damaged files.
SweepReport collect_sweep(const std::filesystem::path& folder, const std::vector<SweepCell>& cells);

}  // namespace headlab
