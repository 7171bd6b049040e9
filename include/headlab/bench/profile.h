// Where time goes: while a profile lives, it is told of every op, forward and backward, that ends
// on this thread, and of the trainer's other work, and adds up what each took. The clock is read
// once for each, about 0.1 us; without a profile nothing is read at all. Read next: costs.h,
// bench.h.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "headlab/bench/bench_table.h"
#include "headlab/bench/costs.h"

namespace headlab {

/// One kind of work. `pass` is "forward", "backward" or "" for what is no op.
struct ProfileRow {
  std::string name, pass;
  Index calls = 0;
  double seconds = 0;
  Cost cost;  // of all calls together
};

/// name, pass, calls, milliseconds, share of all.
BenchTable profile_table(const std::vector<ProfileRow>& rows);

class Profile {
 public:
  Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// From here on: what was before belongs to nothing.
  void start();
  /// The longest first. All that ran without recording is one row, "evaluation".
  std::vector<ProfileRow> rows() const;

 private:
  using Clock = std::chrono::steady_clock;
  void add(const WorkEvent& event);

  std::vector<ProfileRow> rows_;
  Clock::time_point last_;
  WorkWatch watch_;
};

}  // namespace headlab
