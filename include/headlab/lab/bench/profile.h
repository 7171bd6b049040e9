// Profile of the ops of a thread. While a Profile exists, it is notified of every op, forward and
// backward, that ends on this thread, and of the trainer's other work. It sums their times and
// minimum costs: operations and bytes moved. The clock is read once per op, and never without a
// profile. Read next: bench.h.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "headlab/core/tensor/watch.h"
#include "headlab/lab/results/table.h"

namespace headlab {

struct Cost {
  double operations =
      0;  // operations of matrix products, a multiply-add counting two; 0: bound by memory
  double bytes = 0;  // bytes if every array is read or written once
};

/// Returns the cost of an op, forward or backward, from the shapes of its output and inputs.
/// Attention counts all T x S scores, masked or not, and backward the five products that the fused
/// kernel computes. An op that is not in the table of src/lab/bench/profile.cc counts as reading
/// its inputs and writing its output.
Cost cost_of(const WorkEvent& event);

/// Returns "forward", "backward", or "" if the work is no op.
const char* pass_of(const WorkEvent& event);

/// One kind of work. `pass` is "forward", "backward", or "" if it is no op.
struct ProfileRow {
  std::string name, pass;
  Index calls = 0;
  double seconds = 0;
  Cost cost;  // cost of all calls together
};

/// Limits of the machine, 10^9 operations and bytes a second; NaN if unknown. profile_table shows
/// the work per step, with the speed of work that has operations or bytes, compared with these
/// limits.
struct Limits {
  double gflops, gbs;
  double product_gflops = std::nan("");  // of the fastest product
};
Table profile_table(const std::vector<ProfileRow>& rows, double steps = 1,
                    const Limits& limits = {std::nan(""), std::nan("")});

class Profile {
 public:
  Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Starts the profile: earlier work is not counted.
  void start();
  /// Returns the rows, longest first. All work without recording is one row, "evaluation".
  std::vector<ProfileRow> rows() const;

 private:
  using Clock = std::chrono::steady_clock;
  void add(const WorkEvent& event);

  std::vector<ProfileRow> rows_;
  Clock::time_point last_;
  WorkWatch watch_;
};

}  // namespace headlab
