// What a sweep measured: means with 95% intervals over seeds, heads aligned between seeds by what
// they do (head 2 of one seed may be head 0 of the next), and one head against several. Read next:
// report/sweep_text.h.
#pragma once

#include <optional>

#include "headlab/base/statistics.h"
#include "headlab/lab/sweep.h"

namespace headlab {

/// One relation over the seeds of a group.
struct SweepRoles {
  std::string relation;
  Interval lift;                             // of the relation's head
  Index owned = 0;                           // seeds in which that head owns it
  std::vector<std::optional<HeadId>> heads;  // the head in each seed, if there is one
};

/// Cells that differ by the seed alone.
struct SweepGroup {
  std::string name, family;
  RunConfig config;  // of its first seed
  std::vector<std::int64_t> seeds;
  std::vector<double> losses;  // by seed
  Interval loss, accuracy;
  Interval specialization;  // share of relations that own a head, no head counted twice
  Index parameters = 0;
  double keys = 0;
  std::vector<SweepRoles> roles;
};

/// Groups that differ by their number of heads alone: is one head as good as several?
struct SweepComparison {
  std::string family;
  std::size_t one = 0, best = 0;  // groups: that with one head, that with the lowest mean loss
  std::size_t enough = 0;  // the fewest heads whose loss is not measurably above that of the best
  Interval loss_gain;      // loss with one head - loss of the best (Welch)
  double accuracy_gain = 0;
  bool equal_parameters = true;
  double keys = 0;           // the most keys that one query of the task must read at once
  bool several_win = false;  // both gains count: accuracy by kGain, loss beyond its interval
};

/// The accuracy from which on several heads count as better than one.
inline constexpr double kGain = 0.005;

struct SweepReport {
  std::vector<SweepGroup> groups;            // of finished cells
  std::vector<SweepComparison> comparisons;  // where there is a group with one head and another
  std::vector<std::string> missing;          // cells that are not finished
  std::size_t cells = 0;
};
Json to_json(const SweepReport& report);

/// Reads the finished cells below `folder`. Errors: those of cell_state; damaged files.
SweepReport collect_sweep(const std::filesystem::path& folder, const std::vector<SweepCell>& cells);

}  // namespace headlab
