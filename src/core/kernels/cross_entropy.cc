// Cross-entropy of the rows of a matrix. If there are few classes, reducing a row takes longer than
// reading it; kLanes rows are then taken side by side in lanes (lane_rows.h), so that maximum, sum
// and logarithm are vector operations. The results have the bits of one row at a time. The bound is
// exp. Read next: row_sums.h, vector_math.h.
#include <algorithm>

#include "core/kernels/lane_rows.h"
#include "core/kernels/pieces.h"
#include "core/kernels/row_sums.h"
#include "core/kernels/rows.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns log(sum(exp(x))); -inf for a row of -inf.
Scalar row_log_sum_exp(Index n, const Scalar* x) {
  const Scalar m = row_max(n, x);
  const auto share = [m](Vec v) { return exp_bounded(v - m); };
  return m == kLowest ? kLowest : m + log_of_sum(broadcast(sum_of(n, kLowest, share, x)))[0];
}

/// Rows of at most so many numbers are computed in lanes.
constexpr Index kFewNumbers = 64;

/// Computes row_log_sum_exp of kLanes rows of n <= kFewNumbers numbers, one per lane, with the same
/// bits: number j is added to the partial sum of the lane in which sum_of has it, and the partial
/// sums are added by halving, as by sum_lanes.
Vec log_sum_exp_in_lanes(const LaneRows<const Scalar>& rows) {
  const Index n = rows.width;
  Vec x[kFewNumbers];
  pack_row(rows, 0, 1, x);
  Vec m = broadcast(kLowest);
  for (Index j = 0; j < n; ++j) m = max(m, x[j]);
  Vec sums[kLanes] = {};
  const Index whole = n / kLanes * kLanes;
  for (Index j = 0; j < whole; ++j) sums[j % kLanes] += exp_bounded(x[j] - m);
  const Index first_of_last = std::max<Index>(0, n - kLanes);
  for (Index j = whole; j < n; ++j) sums[j - first_of_last] += exp_bounded(x[j] - m);
  return select(m == kLowest, m, m + log_of_sum(sum_by_halving(sums)));
}

/// Computes log_sum_exp of rows [first, first + count): one row, or up to kLanes with few numbers.
void log_sum_exp_of_rows(const CrossEntropyForward& p, Index first, Index count) {
  const Scalar* x = p.x + first * p.n;
  if (count == 1) {
    p.log_sum_exp[first] = row_log_sum_exp(p.n, x);
    return;
  }
  LaneRows<const Scalar> rows{{}, p.n, p.n};
  for (Index lane = 0; lane < kLanes; ++lane) {
    rows.first[lane] = x + std::min(lane, count - 1) * p.n;
  }
  store_first(p.log_sum_exp + first, count, log_sum_exp_in_lanes(rows));
}

}  // namespace

void cross_entropy_forward(const CrossEntropyForward& p) {
  const Index together = p.n <= kFewNumbers ? kLanes : 1;
  for_row_groups(p.rows, p.n, together, [&](Index first, Index count) {
    log_sum_exp_of_rows(p, first, count);
    for (Index row = first; row < first + count; ++row) {
      const std::int32_t target = p.targets[row];
      if (target < 0) p.log_sum_exp[row] = 0;
      p.losses[row] = target < 0 ? 0 : p.log_sum_exp[row] - p.x[row * p.n + target];
    }
  });
}

void cross_entropy_backward(const CrossEntropyBackward& p) {
  for_rows(p.rows, p.n, [&](Index row) {
    Scalar* dx = p.dx.data + row * p.n;
    if (p.targets[row] < 0) {
      if (!p.dx.accumulate) std::fill_n(dx, p.n, Scalar{0});
      return;
    }
    const auto slope = [lse = p.log_sum_exp[row], scale = p.scale](Vec v) {
      return scale * exp_bounded(v - lse);
    };
    map_or_add(p.dx, row * p.n, p.n, slope, p.x + row * p.n);
    dx[p.targets[row]] -= p.scale;
  });
}

}}  // namespace headlab
