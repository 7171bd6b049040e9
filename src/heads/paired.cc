// The interval of a ratio: examples differ in how many targets they have, so the mean loss per
// target is a ratio of two sums, and both of them vary.
// Read next: ablation.cc, which makes the differences.
#include "headlab/heads/paired.h"

#include <cmath>
#include <numeric>

#include "headlab/base/error.h"

namespace headlab {

Json to_json(const PairedChange& change) {
  return Json::object(
      {{"change", change.change}, {"low", change.low}, {"high", change.high}, {"p", change.p}});
}

PairedChange paired_change(std::span<const double> after, std::span<const double> before,
                           std::span<const double> targets) {
  constexpr double kNormal95 = 1.959963984540054;  // the 97.5% point of the normal distribution
  const std::size_t n = targets.size();
  require(after.size() == n && before.size() == n && n >= 2, "a change over ", after.size(), ", ",
          before.size(), " and ", n, " examples cannot be judged: it takes two or more, the same");
  const double count = std::accumulate(targets.begin(), targets.end(), 0.0);
  if (count <= 0) return {};
  PairedChange result;
  for (std::size_t i = 0; i < n; ++i) result.change += (after[i] - before[i]) / count;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double residual = after[i] - before[i] - result.change * targets[i];
    squares += residual * residual;
  }
  const auto examples = static_cast<double>(n);
  const double error = std::sqrt(squares * examples / (examples - 1)) / count;
  result.low = result.change - kNormal95 * error;
  result.high = result.change + kNormal95 * error;
  if (error > 0)
    result.p = std::erfc(std::abs(result.change) / (error * std::sqrt(2.0)));
  else
    result.p = result.change == 0 ? 1 : 0;
  return result;
}

}  // namespace headlab
