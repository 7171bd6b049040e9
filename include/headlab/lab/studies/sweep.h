// Sweep: a grid of trainings over every combination of some settings, each with several seeds. Each
// trial is a run in a folder named after it. Finished trials are never repeated, so a killed sweep
// can be continued, and any number of processes or machines may work on one folder. Results: means
// with 95% intervals over seeds, heads aligned between seeds by role (head 2 of one seed may be
// head 0 of the next), and one head compared with several. Read next: src/lab/studies/sweep.cc,
// src/lab/studies/sweep_report.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/arms.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/jobs.h"

namespace headlab {

/// Setting of runs with its values as text: {"heads", {"1", "2", "4"}}.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};

struct SweepTrial {
  std::string name;  // name of its folder, from all settings that vary: "layers=2,heads=4,seed=2"
  std::string
      group;  // the name without the seed, "layers=2,heads=4": trials of one group are averaged
  std::string
      family;  // without the heads too, "layers=2", or "all": groups of one family are compared
  RunConfig config;
  /// Settings of the group with their values as given: {"layers", "2"}, {"heads", "4"}.
  std::vector<std::pair<std::string, std::string>> settings{};
};

/// Returns the values of a list on a command line, "1,2,4". In a list of tasks, a part that gives a
/// parameter (NAME=VALUE) belongs to the task before it: "sort,relations:length=8,vocab=6" has two
/// tasks.
std::vector<std::string> sweep_values(const std::string& list);

/// Returns all trials, with the seeds of one combination in sequence. Settings that no axis names
/// come from the first run of the group (see SweepTrial) in `folder`, if one is given and holds
/// any; otherwise from the task's recommendation. d_head is floor(d_model / heads) unless it is
/// given. Errors: an unknown setting, an impossible value or combination, two identical trials.
/// Settings are compared by value: lr=0.01 and lr=1e-2 are one trial, so a grid with both is
/// refused.
std::vector<SweepTrial> sweep_trials(const std::vector<SweepAxis>& grid,
                                     const std::filesystem::path& folder = {});

using SweepGrid = std::vector<SweepAxis>;

/// Locks the files of a sweep as a whole, its grids and its results; hold the lock while reading
/// and writing them. Waits while another process holds it, which takes milliseconds; RunBusy after
/// 10 seconds.
RunLock lock_sweep(const std::filesystem::path& folder);

/// Adds a grid to grid.json in a sweep's folder, under the sweep's lock, unless it is there
/// already. First throws the errors of trial_state, unless the grid is there and all its trials are
/// finished. Error if a trial is already in the sweep in another spelling.
void add_grid(const std::filesystem::path& folder, const SweepGrid& grid);
/// Returns the trials of all grids of a sweep's folder, each once. Existing runs keep their
/// settings, because the recommendations of their task may have changed. Error if there is no such
/// sweep.
std::vector<SweepTrial> kept_trials(const std::filesystem::path& folder);

enum class TrialState { missing, started, finished };
/// Returns the state of a trial. Error if its folder holds a run with other settings.
TrialState trial_state(const std::filesystem::path& folder, const SweepTrial& trial);

/// Role of a head in a finished trial.
struct SweepRole {
  std::string relation;
  std::optional<HeadId>
      head;            // a different head for each relation; empty if there are too few heads
  double lift = 0;     // lift on split B; NaN without a head
  bool owned = false;  // p < kOwnerP and lift >= kOwnerLift

  void members(auto&& f) {
    f("relation", relation), f("head", head), f("lift", lift), f("owned", owned);
  }
};

/// Number of relations and keys that one query of a task must read at once, from the ground truth:
/// the maximum over examples.
struct ReadAtOnce {
  Index relations = 0;  // relations with different keys
  Index keys = 0;       // keys of all relations together, each counted once
};
ReadAtOnce read_at_once(const Task& task);

/// Result of a trial: cell.json.
struct TrialResult {
  double loss = 0, accuracy = 0;
  Index parameters = 0;
  double keys = 0;  // ReadAtOnce::relations of the task
  std::vector<SweepRole> roles;
  std::optional<double> diversity{};  // diversity of its heads, see lab/heads/scores/scores.h
  std::optional<Index> keys_read{};   // ReadAtOnce::keys of the task
  std::optional<Index> targets{};     // number of targets in the accuracy
  std::optional<bool> at_guessing{};  // whether the model is at guessing

  void members(auto&& f) {
    f("loss", loss), f("accuracy", accuracy), f("parameters", parameters), f("keys", keys);
    f("roles", roles), f("diversity", diversity), f("keys_read", keys_read);
    f("targets", targets), f("at_guessing", at_guessing);
  }
};
/// Reads the result of the trial in this folder. Error if it has none.
TrialResult read_trial(const std::filesystem::path& trial);

/// Returns whether a seed fails: its accuracy is below that of the task's row in the table of
/// tasks, or, if the row has none, its model is at guessing.
bool seed_fails(const std::string& task, double accuracy, bool at_guessing);

/// Function that returns the callbacks for the training of a trial; called when it begins.
using WatchTrial = std::function<RunCallbacks(const SweepTrial& trial)>;
/// Returns the training of a trial as a job that runs once: its results are heads.json, the scores
/// of its heads, and cell.json, written last. It is locked like any run. Throws Stopped if
/// should_stop of its callbacks ended it (it is saved), and the errors of trial_state and
/// train_run.
Job training_job(const std::filesystem::path& folder, const SweepTrial& trial,
                 const WatchTrial& watch = {});

// ---- results

/// One relation over the seeds of a group.
struct SweepRoles {
  std::string relation;
  Interval lift{};                             // lift of the relation's head
  Index owned = 0;                             // number of seeds in which that head owns it
  std::vector<std::optional<HeadId>> heads{};  // the head in each seed, if there is one

  void members(auto&& f) {
    f("name", relation), f("lift", lift), f("owned", owned), f("heads", heads);
  }
};

/// Trials that differ only in the seed.
struct SweepGroup {
  std::string name, family;
  RunConfig config;                                             // settings of its first seed
  std::vector<std::pair<std::string, std::string>> settings{};  // as in SweepTrial
  std::vector<std::int64_t> seeds;
  /// Seeds that fail: see seed_fails().
  std::vector<std::int64_t> failed{};
  Index at_guessing = 0;  // number of seeds whose model is at guessing
  std::vector<double> losses, accuracies, diversities;  // one per seed
  Interval loss;                                        // geometric mean
  Interval accuracy, diversity;
  Interval specialization;  // share of relations with an owner, no head counted twice
  Index parameters = 0;
  Index relations_at_once = 0;       // see ReadAtOnce
  std::optional<Index> keys_read{};  // see ReadAtOnce
  std::vector<SweepRoles> roles;

  /// Returns whether half of the models or more are at guessing.
  bool is_at_guessing() const { return at_guessing > 0 && 2 * at_guessing >= std::ssize(seeds); }

  void members(auto&& f) {
    const Json model = settings_of(config.model).to_json();
    f("name", name), f("task", config.task), f("model", model), f("seeds", seeds);
    f("parameters", parameters), f("losses", losses), f("loss", loss), f("accuracy", accuracy);
    f("diversities", diversities), f("diversity", diversity);
    f("specialization", specialization), f("relations", roles);
    f("failed", failed), f("at_guessing", at_guessing);
  }
};

/// Minimum gain in accuracy that counts: groups that differ by less are equally accurate.
inline constexpr double kGain = 0.005;

/// Comparison of groups that differ only in their number of heads: are the fewest heads, one if it
/// was tried, as good as more? They are compared on the seeds that all of them have.
struct SweepComparison {
  std::string family;
  /// Indices of the group with the fewest heads and of the one with the lowest mean loss.
  std::size_t one = 0, best = 0;
  /// Group with the fewest heads that is as accurate as the best, by two one-sided tests within
  /// kGain, if no seed of either fails; or the best, if all groups with fewer heads have
  /// significantly more loss. Empty if the seeds show neither. The differences of all groups of all
  /// families are one Holm correction, the tests of equal accuracy another.
  std::optional<std::size_t> enough{};
  /// log(loss with the fewest heads / loss of the best). p is p_of_picked, two-sided, and accounts
  /// for the choice of the best; if seeds of the pair fail, it is that of the sign test. The
  /// interval inverts the test of this pair on means.
  Compared loss{};
  double accuracy_gain = 0;  // gain of the best over the fewest heads
  bool equal_parameters = true;
  Index relations_at_once = 0;       // see ReadAtOnce
  std::optional<Index> keys_read{};  // the same
  bool several_win = false;   // accuracy rises by at least kGain, and the loss is lower (p < 0.05)
  bool one_is_equal = false;  // as accurate as the best within kGain (p < 0.05), and no seed fails
  std::string conclusion{}, reason{};  // sentences
  std::string guard{};                 // name of the guard that refused a conclusion, or ""
};

/// Comparison of groups that differ only in one setting other than the heads, such as layers,
/// d_head or norm: the group with the lowest mean loss with each of the others.
struct SettingComparison {
  std::string setting;   // "layers"
  std::string family;    // the settings that the groups share, "heads=4", or "all"
  std::size_t best = 0;  // index of the group with the lowest mean loss
  std::size_t next = 0;  // of the one with the next lowest
  /// Groups whose loss is higher than that of the best: p_of_picked below 0.05 after Holm's
  /// correction over all these comparisons of the sweep, and higher in most seeds.
  std::vector<std::size_t> higher{};
  Compared loss{};  // log(loss of the next / loss of the best)
  bool equal_parameters = true;
  std::string conclusion{}, reason{};  // sentences
  std::string guard{};                 // name of the guard that refused a conclusion, or ""
};

struct SweepReport {
  std::vector<SweepGroup> groups;            // groups of finished trials
  std::vector<SweepComparison> comparisons;  // families that have a group with one head and another
  std::vector<SettingComparison> settings{};  // families that differ in one other setting
  std::vector<std::string> missing;           // unfinished trials
  std::vector<JobFailure> failed{};           // the failed ones among these
  std::size_t trials = 0;
};
Result result_of(const SweepReport& report);

/// Groups that differ in heads alone, or all groups if no two do, and what is concluded about them.
struct SweepFamily {
  std::string name{};
  std::vector<std::size_t> groups{};   // indices
  std::size_t opening = 0;             // the group with as many heads as are used, or the best
  std::string conclusion{}, reason{};  // sentences

  void members(auto&& f) {
    f("name", name), f("groups", groups), f("opening", opening);
    f("conclusion", conclusion), f("reason", reason);
  }
};
/// Returns the families in the order of their first groups.
std::vector<SweepFamily> families_of(const SweepReport& report);

/// Reads the finished trials below `folder`. Errors: those of trial_state; damaged files.
SweepReport collect_sweep(const std::filesystem::path& folder,
                          const std::vector<SweepTrial>& trials);

}  // namespace headlab
