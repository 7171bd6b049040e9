// Rows are methods and columns are numbers of heads, so that a column is a contest: a star marks
// its winner, which is the lowest loss up to one part in ten thousand.
// Read next: table.h.
#include "headlab/report/curve_text.h"

#include <algorithm>
#include <limits>

#include "headlab/base/error.h"
#include "headlab/report/sweep_text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

double pruned_loss(const CurvePoint& point) { return point.pruned.loss; }
double loss_or_nan(const std::optional<Judged>& judged) {
  return judged ? judged->loss : std::numeric_limits<double>::quiet_NaN();
}
double finetuned_loss(const CurvePoint& point) { return loss_or_nan(point.finetuned); }
double loss_from_scratch(const CurvePoint& point) { return loss_or_nan(point.from_scratch); }
double recall(const CurvePoint& point) { return point.recall; }

/// A row for each method, a column for each number of heads.
std::string grid(const Curve& curve, double (*value)(const CurvePoint&), bool mark_lowest) {
  std::vector<std::string> header{"heads kept"};
  for (const CurvePoint& point : curve.methods[0].points)
    header.push_back(std::to_string(point.kept));
  std::vector<double> lowest(header.size(), std::numeric_limits<double>::infinity());
  for (const MethodCurve& method : curve.methods)
    for (std::size_t i = 0; i < method.points.size(); ++i)
      lowest[i] = std::min(lowest[i], value(method.points[i]));
  Table table(header);
  for (const MethodCurve& method : curve.methods) {
    std::vector<std::string> row{method.method};
    for (std::size_t i = 0; i < method.points.size(); ++i) {
      const double v = value(method.points[i]);
      const bool wins = mark_lowest && v <= lowest[i] * (1 + 1e-4);
      row.push_back(mark_lowest ? significant(v) + (wins ? "*" : "") : fixed(v, 2));
    }
    table.add(std::move(row));
  }
  return table.text();
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

std::string grid_over_runs(const CurveOverRuns& curve,
                           std::optional<Interval> (*value)(const PointOverRuns&)) {
  std::vector<std::string> header{"heads kept"};
  for (const PointOverRuns& point : curve.methods[0].points)
    header.push_back(std::to_string(point.kept));
  Table table(header);
  for (const MethodOverRuns& method : curve.methods) {
    std::vector<std::string> row{method.method};
    for (const PointOverRuns& point : method.points) {
      const auto interval = value(point);
      row.push_back(interval ? interval_text(*interval) : "-");
    }
    table.add(std::move(row));
  }
  return table.text();
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
      grid_over_runs(curve, [](const PointOverRuns& p) { return std::optional(p.pruned); });
  if (first.finetuned)
    out += "\nloss after fine-tuning\n" +
           grid_over_runs(curve, [](const PointOverRuns& p) { return p.finetuned; });
  if (first.from_scratch)
    out += "\nloss of as many heads in each layer, trained from scratch\n" +
           grid_over_runs(curve, [](const PointOverRuns& p) { return p.from_scratch; });
  return out + "\n" + summary_over_runs(curve);
}

std::string curve_text(const Curve& curve) {
  if (curve.methods.empty() || curve.methods[0].points.empty()) return "nothing was pruned\n";
  std::string out = text("loss with all ", curve.heads, " heads ", significant(curve.full.loss),
                         ", with none ", significant(curve.none.loss),
                         curve.needed > 0 ? text("; the task needs ", curve.needed) : std::string(),
                         "\n\nloss after removal (* lowest)\n") +
                    grid(curve, pruned_loss, true);
  if (curve.methods[0].points[0].finetuned)
    out += "\nloss after fine-tuning (* lowest)\n" + grid(curve, finetuned_loss, true);
  if (curve.methods[0].points[0].from_scratch)
    out += "\nloss of as many heads in each layer, trained from scratch (* lowest)\n" +
           grid(curve, loss_from_scratch, true);
  if (!curve.owners.empty())
    out +=
        text("\nshare of the ", curve.owners.size(), " relations with an owner that keep one\n") +
        grid(curve, recall, false);
  return out + "\n" + summary(curve);
}

}  // namespace headlab
