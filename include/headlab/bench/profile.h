// Where time goes: while a profile lives, it is told of every op, forward and backward, that ends
// on this thread, and of the trainer's other work, and adds up what each took and had to do at
// least: its operations and the bytes that it moved. The clock is read once for each; without a
// profile it is never read. Read next: bench.h.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/tensor/watch.h"

namespace headlab {

struct Cost {
  double operations = 0;  // of matrix products, a multiply-add counting two; 0: bound by memory
  double bytes = 0;       // every array read or written once
};

/// The cost of an op, forward or backward, from the shapes of its output and inputs. Attention
/// counts all T x S scores, whether the mask hides them or not, and backward the five products that
/// the fused kernel runs. An op that is not in the table of src/lab/bench/profile.cc reads its
/// inputs and writes its output.
Cost cost_of(const WorkEvent& event);

/// One kind of work. `pass` is "forward", "backward" or "" for what is no op.
struct ProfileRow {
  std::string name, pass;
  Index calls = 0;
  double seconds = 0;
  Cost cost;  // of all calls together
};

/// What so many steps took each, with the speed of what has operations or bytes; beside the limits
/// of the machine, 10^9 operations and bytes a second, where they are known.
struct Limits {
  double gflops, gbs;
};
Table profile_table(const std::vector<ProfileRow>& rows, double steps = 1,
                    const Limits& limits = {std::nan(""), std::nan("")});

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
