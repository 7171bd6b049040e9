// The profile: the clock is read once, at the end of each op, and the time since the last reading
// is charged to the op that has just ended. So no time between two ops is lost, and the rows add up
// to the time since the start. Read next: costs.cc.
#include "headlab/bench/profile.h"

#include <algorithm>

namespace headlab {
namespace {

const char* pass_of(const WorkEvent& event) {
  if (event.kind == WorkEvent::Kind::other) return "";
  return event.kind == WorkEvent::Kind::forward ? "forward" : "backward";
}

}  // namespace

BenchTable profile_table(const std::vector<ProfileRow>& rows) {
  double all = 0;
  for (const ProfileRow& row : rows) all += row.seconds;
  BenchTable table;
  table.columns = {{"work", "where the time went"},
                   {"pass", "pass"},
                   {"calls", "calls", 0},
                   {"ms", "ms", 1},
                   {"share", "share", 3}};
  for (const ProfileRow& row : rows)
    table.rows.push_back({row.name, row.pass, row.calls, row.seconds * 1e3, row.seconds / all});
  return table;
}

Profile::Profile() : last_(Clock::now()), watch_([this](const WorkEvent& event) { add(event); }) {}

void Profile::start() {
  rows_.clear();
  last_ = Clock::now();
}

void Profile::add(const WorkEvent& event) {
  const bool counts = grad_enabled();
  const char *name = counts ? event.name : "evaluation", *pass = counts ? pass_of(event) : "";
  auto row = std::find_if(rows_.begin(), rows_.end(),
                          [&](const ProfileRow& r) { return r.name == name && r.pass == pass; });
  if (row == rows_.end()) row = rows_.insert(rows_.end(), {name, pass, 0, 0, {}});
  const Cost cost = counts ? cost_of(event) : Cost{};
  const Clock::time_point now = Clock::now();
  ++row->calls;
  row->seconds += std::chrono::duration<double>(now - last_).count();
  row->cost.operations += cost.operations;
  row->cost.bytes += cost.bytes;
  last_ = now;
}

std::vector<ProfileRow> Profile::rows() const {
  std::vector<ProfileRow> sorted = rows_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return sorted;
}

}  // namespace headlab
