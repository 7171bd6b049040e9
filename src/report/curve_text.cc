// Rows are methods and columns are numbers of heads, so that a column is a contest: a star marks
// its winner, which is the lowest loss up to one part in ten thousand.
// Read next: table.h.
#include "headlab/report/curve_text.h"

#include <algorithm>
#include <limits>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

/// A row for each method, a column for each number of heads; cell(point, column) is what stands
/// there.
template <class Method, class Cell>
std::string grid(const std::vector<Method>& methods, const Cell& cell) {
  std::vector<std::string> header{"heads kept"};
  for (const auto& point : methods[0].points) header.push_back(std::to_string(point.kept));
  Table table(header);
  for (const Method& method : methods) {
    std::vector<std::string> row{method.method};
    for (std::size_t i = 0; i < method.points.size(); ++i) row.push_back(cell(method.points[i], i));
    table.add(std::move(row));
  }
  return table.text();
}

/// Losses; the lowest of each column is marked.
std::string grid_of_losses(const Curve& curve,
                           std::optional<Judged> (*judged)(const CurvePoint& point)) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto loss = [&](const CurvePoint& point) {
    return judged(point).value_or(Judged{kNone}).loss;
  };
  std::vector<double> lowest(curve.methods[0].points.size(),
                             std::numeric_limits<double>::infinity());
  for (const MethodCurve& method : curve.methods)
    for (std::size_t i = 0; i < method.points.size(); ++i)
      lowest[i] = std::min(lowest[i], loss(method.points[i]));
  return grid(curve.methods, [&](const CurvePoint& point, std::size_t i) {
    return significant(loss(point)) + (loss(point) <= lowest[i] * (1 + 1e-4) ? "*" : "");
  });
}

std::string summary(const Curve& curve) {
  Table table({"method", "area", "regret", "rank corr", "knee", "forward", "backward", "seconds"});
  for (const MethodCurve& method : curve.methods) {
    table.add({method.method, significant(method.area),
               method.regret ? significant(*method.regret) : "-", fixed(method.rank_correlation, 2),
               method.knee ? std::to_string(*method.knee) : "-", grouped(method.cost.forward),
               grouped(method.cost.backward), fixed(method.seconds, 2)});
  }
  return table.text();
}

std::string grid_of_intervals(const CurveOverRuns& curve,
                              std::optional<Interval> (*loss)(const PointOverRuns& point)) {
  return grid(curve.methods, [&](const PointOverRuns& point, std::size_t) {
    const std::optional<Interval> interval = loss(point);
    return interval ? interval_text(*interval) : "-";
  });
}

std::string summary_over_runs(const CurveOverRuns& curve) {
  Table table({"method", "area", "regret", "knee of each run"});
  for (const MethodOverRuns& method : curve.methods) {
    std::vector<std::string> knees;
    for (const auto& knee : method.knees) knees.push_back(knee ? std::to_string(*knee) : "-");
    table.add({method.method, interval_text(method.area),
               method.regret ? interval_text(*method.regret) : "-", join(knees, " ")});
  }
  return table.text();
}

}  // namespace

std::string curve_text(const CurveOverRuns& curve) {
  if (curve.methods.empty() || curve.methods[0].points.empty()) return "nothing was pruned\n";
  const PointOverRuns& first = curve.methods[0].points[0];
  std::string out =
      text("mean ± 95% interval over ", curve.runs, " runs (Student's t)",
           curve.needed > 0 ? text("; the task needs ", curve.needed, " heads") : std::string(),
           "\n\nloss after removal\n") +
      grid_of_intervals(curve, [](const PointOverRuns& p) { return std::optional(p.pruned); });
  if (first.finetuned)
    out += "\nloss after fine-tuning\n" +
           grid_of_intervals(curve, [](const PointOverRuns& p) { return p.finetuned; });
  if (first.from_scratch)
    out += "\nloss of as many heads in each layer, trained from scratch\n" +
           grid_of_intervals(curve, [](const PointOverRuns& p) { return p.from_scratch; });
  return out + "\n" + summary_over_runs(curve);
}

std::string curve_text(const Curve& curve) {
  if (curve.methods.empty() || curve.methods[0].points.empty()) return "nothing was pruned\n";
  std::string out =
      text("loss with all ", curve.heads, " heads ", significant(curve.full.loss), ", with none ",
           significant(curve.none.loss),
           curve.needed > 0 ? text("; the task needs ", curve.needed) : std::string(),
           "\n\nloss after removal (* lowest)\n") +
      grid_of_losses(curve, [](const CurvePoint& p) { return std::optional(p.pruned); });
  if (curve.methods[0].points[0].finetuned)
    out += "\nloss after fine-tuning (* lowest)\n" +
           grid_of_losses(curve, [](const CurvePoint& p) { return p.finetuned; });
  if (curve.methods[0].points[0].from_scratch)
    out += "\nloss of as many heads in each layer, trained from scratch (* lowest)\n" +
           grid_of_losses(curve, [](const CurvePoint& p) { return p.from_scratch; });
  if (!curve.owners.empty())
    out +=
        text("\nshare of the ", curve.owners.size(), " relations with an owner that keep one\n") +
        grid(curve.methods, [](const CurvePoint& p, std::size_t) { return fixed(p.recall, 2); });
  return out + "\n" + summary(curve);
}

}  // namespace headlab
