// The profile: the clock is read once, at the end of each op, and the time since the last reading
// is charged to the op that has just ended. So no time between two ops is lost, and the rows add up
// to the time since the start.
// Costs come from shapes alone. A gradient costs what its products cost: one for each input that
// wants it. Memory is counted as if every array came from it once, so that a share of the triad
// above 1 means that arrays stayed in the caches. Read next: bench.cc.
#include "headlab/lab/bench/profile.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

using Kind = WorkEvent::Kind;

double numbers(Index count) { return static_cast<double>(count) * sizeof(Scalar); }

/// Forward reads the inputs and writes the output; backward reads the gradient of the output and
/// the inputs that want a gradient, and writes theirs.
Cost moved(const WorkEvent& event) {
  Cost cost{0, numbers(event.output->count())};
  for (const Tensor& input : event.inputs) {
    if (!input.defined()) {
      continue;
    }
    const double once = numbers(input.count());
    if (event.kind == Kind::forward) {
      cost.bytes += once;
    } else if (input.requires_grad()) {
      cost.bytes += 2 * once;
    }
  }
  return cost;
}

/// x through one weight matrix after the other: linear, feed_forward.
Cost weights(const WorkEvent& event) {
  Cost cost = moved(event);
  const Tensor& x = event.inputs[0];
  const double rows = static_cast<double>(x.count()) / static_cast<double>(x.size(-1));
  for (const Tensor& weight : event.inputs.subspan(1)) {
    if (weight.defined() && weight.rank() == 2) {
      cost.operations += 2 * rows * static_cast<double>(weight.count());
    }
  }
  if (event.kind == Kind::backward) cost.operations *= x.requires_grad() ? 2 : 1;
  return cost;
}

/// All products of a linear map and its cross-entropy, which the forward pass computes; backward
/// passes the gradients on.
Cost weights_of_loss(const WorkEvent& event) {
  if (event.kind == Kind::backward) return {};
  const Tensor &x = event.inputs[0], &W = event.inputs[1];
  const bool graded = grad_enabled();
  const double rows = static_cast<double>(x.count()) / static_cast<double>(x.size(-1));
  const double once = 2 * rows * static_cast<double>(W.count());
  Cost cost = moved(event);
  cost.operations = once;
  for (const Tensor& input : {x, W}) {
    if (!graded || !input.requires_grad()) continue;
    cost.operations += once;
    cost.bytes += numbers(input.count());
  }
  return cost;
}

Cost product(const WorkEvent& event) {
  Cost cost = moved(event);
  const Shape& y = *event.output;
  const double matrices =
      event.inputs[0].rank() > 2 ? static_cast<double>(y.count(0, y.rank() - 2)) : 1;
  const double inner =
      static_cast<double>(event.inputs[0].count()) / matrices / static_cast<double>(y[-2]);
  const auto wanted = event.inputs[0].requires_grad() + event.inputs[1].requires_grad();
  cost.operations = 2 * inner * static_cast<double>(y.count());
  if (event.kind == Kind::backward) cost.operations *= wanted;
  return cost;
}

/// Q K^T and P V forward; Q K^T again, dZ V^T, P^T dZ, dS K and dS^T Q backward.
Cost attention_products(const WorkEvent& event) {
  Cost cost = moved(event);
  const Tensor &q = event.inputs[0], &k = event.inputs[1];
  const auto scores = static_cast<double>(q.size(0) * q.size(1) * k.size(1));
  const auto queries = static_cast<double>(q.size(2)),
             values = static_cast<double>((*event.output)[2]);
  cost.operations =
      2 * scores * (event.kind == Kind::forward ? queries + values : 3 * queries + 2 * values);
  return cost;
}

/// Only the rows that are looked up; backward adds them to a table of zeros.
Cost looked_up(const WorkEvent& event) {
  const double rows = numbers(event.output->count());
  return {0, event.kind == Kind::forward ? 2 * rows : 3 * rows + numbers(event.inputs[0].count())};
}

/// Returns the cost of the gradient of a sum, which goes to one input unchanged and to the other as
/// a copy.
Cost passed_on(const WorkEvent& event) {
  return event.kind == Kind::forward ? moved(event) : Cost{0, 2 * numbers(event.output->count())};
}

Cost part(const WorkEvent& event) {
  return {0, event.kind == Kind::forward
                 ? 2 * numbers(event.output->count())
                 : numbers(event.output->count() + event.inputs[0].count())};
}

Cost nothing(const WorkEvent&) { return {}; }

struct OpCost {
  std::string_view op;
  Cost (*cost)(const WorkEvent&);
};

constexpr OpCost kCosts[] = {
    {"linear", weights},
    {"feed_forward", weights},
    {"matmul", product},
    {"attention", attention_products},
    {"embedding", looked_up},
    {"add", passed_on},
    {"slice", part},
    {"reshape", nothing},
    {"linear_cross_entropy", weights_of_loss},
};

/// Returns 10^9 of these a second; NaN if the op has none.
double speed_of(double done, const ProfileRow& row) {
  return done > 0 ? done / row.seconds / 1e9 : NAN;
}
double gflops_of(const ProfileRow& row) { return speed_of(row.cost.operations, row); }
double gbytes_of(const ProfileRow& row) { return speed_of(row.cost.bytes, row); }

}  // namespace

const char* pass_of(const WorkEvent& event) {
  if (event.kind == WorkEvent::Kind::other) return "";
  return event.kind == WorkEvent::Kind::forward ? "forward" : "backward";
}

Cost cost_of(const WorkEvent& event) {
  if (event.kind == Kind::other) return {};
  for (const OpCost& row : kCosts) {
    if (row.op == event.name) return row.cost(event);
  }
  return moved(event);
}

Table profile_table(const std::vector<ProfileRow>& rows, double steps, const Limits& limits) {
  double all = 0;
  for (const ProfileRow& row : rows) all += row.seconds;
  Fields<ProfileRow> fields;
  fields.add({"work", "where the time went"}, &ProfileRow::name);
  fields.add({"pass", "pass", "forward or backward"}, &ProfileRow::pass);
  fields.add({"calls", "calls"},
             [&](const ProfileRow& row) { return static_cast<double>(row.calls) / steps; });
  fields.add(Column("ms", "ms").fixed(1),
             [&](const ProfileRow& row) { return row.seconds / steps * 1e3; });
  fields.add(Column("share", "share", "share of the whole time").fixed(3),
             [&](const ProfileRow& row) { return row.seconds / all; });
  fields.add(Column("gflops", "GFLOP/s").fixed(1), gflops_of);
  fields.add(Column("fraction_of_peak", "of peak", "GFLOP/s / the limit of multiply-adds").fixed(3),
             [&](const ProfileRow& row) { return gflops_of(row) / limits.gflops; });
  fields.add(
      Column("fraction_of_best", "of best", "GFLOP/s / those of the fastest product").fixed(3),
      [&](const ProfileRow& row) { return gflops_of(row) / limits.product_gflops; });
  fields.add(Column("gbs", "GB/s").fixed(1), gbytes_of);
  fields.add(Column("fraction_of_triad", "of triad").fixed(3),
             [&](const ProfileRow& row) { return gbytes_of(row) / limits.gbs; });
  return fields.table({.name = "profile"}, rows);
}

Profile::Profile() : last_(Clock::now()), watch_([this](const WorkEvent& event) { add(event); }) {}

void Profile::start() {
  rows_.clear();
  last_ = Clock::now();
}

void Profile::add(const WorkEvent& event) {
  const bool counts = grad_enabled();
  const char *name = counts ? event.name : "evaluation", *pass = counts ? pass_of(event) : "";
  auto row = std::ranges::find_if(rows_, [&](const ProfileRow& r) {
    return r.name == name && r.pass == pass;
  });
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
  std::ranges::stable_sort(sorted, std::greater<>{}, &ProfileRow::seconds);
  return sorted;
}

}  // namespace headlab
