// Tables of pruning curves: means over several runs, and each run's methods with their points. The
// JSON of a curve is that of its members; its columns are those of the tables.
// Read next: over_runs.cc, which averages.
#include <iomanip>

#include "headlab/core/base/text.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/results/ratio_fields.h"

namespace headlab {
namespace {

const Column kMethod = Column("method", "method", "how heads are chosen").no_legend();
const Column kKept = Column("kept", "heads kept", "number of heads kept").no_legend();
const Column kRuns = Column("runs", "runs", "number of runs averaged").hidden();

/// Returns the columns of a curve's methods, as in its JSON.
Fields<MethodCurve> method_fields() {
  using Row = MethodCurve;
  Fields<Row> fields;
  fields.add(kMethod, &Row::method);
  fields.add({"area", "area",
              "area under the curve of loss against the share of heads kept: lower is better"},
             &Row::area);
  fields.add(Column("regret", "regret",
                    "mean loss minus that of the best subset of the same size, on the examples "
                    "used to choose: 0 is best")
                 .mean_over("sizes"),
             &Row::regret);
  fields.add(Column("sizes", "sizes", "number of sizes over which regret is a mean").hidden(),
             &Row::sizes);
  fields.add(Column("rank_correlation", "rank corr",
                    "Spearman correlation between how long a head is kept and the cost of "
                    "ablating it")
                 .fixed(2),
             &Row::rank_correlation);
  fields.add({"used", "used", kUsedHeads}, &Row::used);
  fields.add({"needed", "needed", kNeededHeads}, &Row::needed);
  fields.add(Column("steps", "steps",
                    "training steps of each model, including the steps that train gates")
                 .shown_as(Form::grouped),
             &Row::steps);
  fields.add(Column("sequences_forward", "forward", "sequences run forward to choose heads")
                 .shown_as(Form::grouped),
             [](const Row& row) { return row.cost.forward; });
  fields.add(Column("sequences_backward", "backward", "sequences run backward to choose heads")
                 .shown_as(Form::grouped),
             [](const Row& row) { return row.cost.backward; });
  fields.add(Column("seconds", "seconds", "time to choose the heads").fixed(2), &Row::seconds);
  return fields;
}

/// A point of a curve with its method.
struct MethodPoint : CurvePoint {
  std::string method;
};

/// Returns the columns of the points of a curve's methods, as in its JSON.
Fields<MethodPoint> point_fields() {
  using Row = MethodPoint;
  const auto loss_of = [](const std::optional<Judged>& judged) {
    return judged ? std::optional(judged->loss) : std::nullopt;
  };
  Fields<Row> fields;
  fields.add(kMethod, &Row::method);
  fields.add(kKept, &Row::kept);
  fields.add({"loss", "loss", "after removal, on held-out examples"},
             [](const Row& row) { return row.pruned.loss; });
  fields.add({"accuracy", "accuracy", "after removal"},
             [](const Row& row) { return row.pruned.accuracy; });
  fields.add({"choosing_loss", "loss where chosen", "loss on the examples used to choose heads"},
             &Row::chosen_on);
  fields.add({"finetuned.loss", "fine-tuned", "loss after fine-tuning the heads kept"},
             [=](const Row& row) { return loss_of(row.finetuned); });
  fields.add({"from_scratch.loss", "from scratch",
              "loss of a new model with as many heads in each layer, trained for as many steps"},
             [=](const Row& row) { return loss_of(row.from_scratch); });
  fields.add(Column("recall", "owners kept", "share of owned relations that still have an owner")
                 .fixed(2)
                 .mean_over("owned"),
             &Row::recall);
  fields.add(Column("owned", "owned", "number of relations with an owner").hidden(), &Row::owned);
  fields.add(Column("precision", "with a role", "share of heads kept that own a relation")
                 .fixed(2)
                 .mean_over("kept"),
             &Row::precision);
  fields.add(Column("heads", "heads", "the heads kept").of(CellKind::heads), &Row::heads);
  return fields;
}

/// A part of a run's curve with the name of the run.
template <class Part>
struct OfRun {
  std::string run;
  Part part;
};

template <class Part>
Fields<OfRun<Part>> by_run(const Fields<Part>& part, bool several) {
  Fields<OfRun<Part>> fields;
  fields.add(Column("run", "run").hidden_unless(several), &OfRun<Part>::run);
  fields.add_part(part, &OfRun<Part>::part);
  return fields;
}

/// Returns the tables of each run's curve: its methods and their points.
std::vector<Table> tables_by_run(std::span<const Curve> curves,
                                 const std::vector<std::string>& runs) {
  std::vector<OfRun<MethodCurve>> methods;
  std::vector<OfRun<MethodPoint>> points;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const MethodCurve& method : curves[i].methods) {
      methods.push_back({runs[i], method});
      for (const CurvePoint& point : method.points) {
        points.push_back({runs[i], {point, method.method}});
      }
    }
  }
  const bool several = curves.size() != 1;
  return {by_run(method_fields(), several).table({.name = "choices", .shown = !several}, methods),
          by_run(point_fields(), several)
              .table({.name = "losses", .inner = "points", .shown = false}, points)};
}

/// A point over runs with its method.
struct PointRow : PointOverRuns {
  std::string method;
  Index runs;
};

/// Returns the table of points over runs: losses, and ratios of losses.
Table points_table(const CurveOverRuns& all, bool several) {
  using Row = PointRow;
  std::vector<Row> rows;
  for (const MethodOverRuns& method : all.methods) {
    for (const PointOverRuns& point : method.points) {
      rows.push_back({point, method.method, method.runs});
    }
  }
  Fields<Row> fields;
  std::vector<Grid> grids;
  fields.add(kMethod, &Row::method);
  fields.add(kKept, &Row::kept);
  fields.add(kRuns, &Row::runs);
  const auto add_loss = [&](const char* key, const char* title, auto loss) {
    fields.add(interval_column(key, title).mean_over("runs").no_legend(), loss);
    grids.push_back({title, "method", "kept", key});
  };
  add_loss("loss", "loss after removal", &Row::pruned);
  add_loss("finetuned", "loss after fine-tuning", &Row::finetuned);
  add_loss("from_scratch",
           "loss of a new model with as many heads in each layer, trained on the same schedule",
           &Row::from_scratch);
  add_loss("unpruned", "loss of the unpruned model, trained further on the same schedule",
           &Row::unpruned);
  const auto add_ratio = [&](const char* key, const char* title, auto compared) {
    fields.add_part(ratio_fields(key, title), compared);
    if (!several) return;
    grids.push_back({title, "method", "kept", text(key, ".ratio")});
    grids.push_back({"Holm's p of this ratio", "method", "kept", text(key, ".p_holm")});
  };
  add_ratio("against_best", "loss after removal, as a multiple of the best method",
            &Row::against_best);
  add_ratio("against_scratch", "loss after fine-tuning, as a multiple of training from scratch",
            &Row::against_scratch);
  add_ratio("against_unpruned", "loss after fine-tuning, as a multiple of the unpruned model",
            &Row::against_unpruned);
  return fields.table({.name = "points", .inner = "points", .grids = std::move(grids)}, rows);
}

Table methods_table(const CurveOverRuns& all, bool several) {
  using Row = MethodOverRuns;
  Fields<Row> fields;
  fields.add(kMethod, &Row::method);
  fields.add(interval_column(
                 "area", "area",
                 "area under the curve of loss against the share of heads kept: lower is better")
                 .mean_over("runs"),
             &Row::area);
  fields.add(interval_column("regret", "regret",
                             "mean loss minus that of the best subset of the same size: 0 is best")
                 .mean_over("runs"),
             &Row::regret);
  fields.add(kRuns, &Row::runs);
  fields.add({"used", "used", text("in each run, ", kUsedHeads)}, &Row::used);
  fields.add({"needed", "needed", text("in each run, ", kNeededHeads)}, &Row::needed);
  fields.add(Column("steps", "steps", "training steps").shown_as(Form::grouped), &Row::steps);
  return fields.table({.name = "methods", .shown = several}, all.methods);
}

/// Returns the schedule of each arm, a line for each different one; "" if nothing was trained.
std::string schedules_text(const CurveOverRuns& all) {
  std::string said;
  for (const MethodOverRuns& method : all.methods) {
    if (!method.schedule) continue;
    const std::string one =
        text("\nSchedule of all arms (fine-tuned, from scratch, unpruned): ", *method.schedule,
             ".");
    if (said.find(one) == std::string::npos) said += one;
  }
  return said;
}

}  // namespace

Result result_of(const Curve& curve) {
  const Table methods{.name = "methods",
                      .columns = method_fields().columns(),
                      .title = "methods of choosing heads",
                      .rows_in_about = true};
  const Table points{.name = "methods",
                     .columns = point_fields().columns(),
                     .title = "losses of each method by heads kept",
                     .inner = "points",
                     .rows_in_about = true};
  return {.about = stamped(to_json<Curve>(curve).members()), .tables = {methods, points}};
}

Json to_json(const Curve& curve) { return result_of(curve); }

std::vector<Table> curve_tables(std::span<const Curve> curves,
                                const std::vector<std::string>& runs) {
  const CurveOverRuns all = curves.empty() ? CurveOverRuns{} : over_runs(curves);
  const bool several = all.runs > 1;
  Table points = points_table(all, several);
  if (several) {
    points.title = text("geometric means over ", all.runs, " runs with 95% intervals");
    points.note =
        "A - marks the best method of each size. It is selected from all methods, and p accounts "
        "for the selection: each flip is compared by its largest difference from any other method. "
        "A ratio of 1 without an interval and with a p of 1 means that both methods removed the "
        "same heads in every run. " +
        chance_text(all.runs);
  } else if (!curves.empty()) {
    points.title = text("loss with all ", curves[0].heads, " heads ", std::setprecision(4),
                        curves[0].full.loss, ", with none ", curves[0].none.loss);
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string refused = refused_text(curves[i]);
    if (!refused.empty())
      points.note += text(points.note.empty() ? "" : "\n", runs[i], ": ", refused);
  }
  if (all.needed) points.title += text("; the task needs ", *all.needed);
  points.note += schedules_text(all);
  std::vector<Table> tables = {std::move(points), methods_table(all, several)};
  for (Table& table : tables_by_run(curves, runs)) tables.push_back(std::move(table));
  return tables;
}

}  // namespace headlab
