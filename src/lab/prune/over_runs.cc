// Curves of several runs as one: losses become geometric means with intervals on logarithms,
// because they differ by factors, and methods are compared run by run. The runs must have been
// pruned by the same methods to the same sizes. Read next: lab/results/statistics.h.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <tuple>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/results/ratio_fields.h"

namespace headlab {
namespace {

/// Returns the properties that two points must share: their size, and the trainings done at it.
std::tuple<Index, bool, bool> kind_of(const CurvePoint& point) {
  return {point.kept, point.finetuned.has_value(), point.from_scratch.has_value()};
}

void check_alike(const Curve& first, const Curve& other) {
  require(first.task == other.task, "cannot average curves of different tasks: ", first.task,
          " and ", other.task);
  require(first.methods.size() == other.methods.size(),
          "cannot average curves of different methods");
  for (std::size_t m = 0; m < first.methods.size(); ++m) {
    const MethodCurve &a = first.methods[m], &b = other.methods[m];
    require(a.method == b.method, "cannot average curves of different methods: ", a.method, " and ",
            b.method);
    require(std::ranges::equal(a.points, b.points, {}, kind_of, kind_of),
            "cannot average curves of different sizes: runs have ", first.heads, " and ",
            other.heads, " heads");
  }
}

PointOverRuns point_over(std::span<const Curve> curves, std::size_t m, std::size_t p) {
  const CurvePoint& first = curves[0].methods[m].points[p];
  const auto losses = [&](const auto& judged) {
    return mapped(curves, [&](const Curve& c) { return judged(c.methods[m].points[p])->loss; });
  };
  const auto tuned = [](const CurvePoint& point) { return point.finetuned; };
  const auto scratch = [](const CurvePoint& point) { return point.from_scratch; };
  PointOverRuns result{.kept = first.kept};
  result.pruned = geometric_interval(losses([](const CurvePoint& point) { return &point.pruned; }));
  if (first.finetuned) result.finetuned = geometric_interval(losses(tuned));
  if (first.from_scratch) result.from_scratch = geometric_interval(losses(scratch));
  const auto all_have_unpruned = [&](const Curve& c) {
    return c.methods[m].points[p].unpruned.has_value();  // missing in older curves
  };
  const bool unpruned = std::ranges::all_of(curves, all_have_unpruned);
  const auto whole = [](const CurvePoint& point) { return point.unpruned; };
  if (unpruned) result.unpruned = geometric_interval(losses(whole));
  if (first.finetuned && first.from_scratch) {
    result.against_scratch = compared(log_ratios(losses(tuned), losses(scratch)));
  }
  if (first.finetuned && unpruned) {
    result.against_unpruned = compared(log_ratios(losses(tuned), losses(whole)));
  }
  return result;
}

/// Compares the methods at each size with the one whose mean loss is lowest there.
void compare_with_best(std::span<const Curve> curves, CurveOverRuns& all) {
  for (std::size_t p = 0; !all.methods.empty() && p < all.methods[0].points.size(); ++p) {
    const auto mean_loss = [p](const MethodOverRuns& m) { return m.points[p].pruned.mean; };
    const auto best = std::ranges::min_element(all.methods, {}, mean_loss) - all.methods.begin();
    std::vector<SeedValues> losses;
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
      losses.push_back({all.methods[m].method, {}, mapped(curves, [&](const Curve& c) {
                          return c.methods[m].points[p].pruned.loss;
                        })});
    }
    for (const Compared& one : against_picked(losses, static_cast<std::size_t>(best))) {
      all.methods[one.arm].points[p].against_best = one;
    }
  }
}

/// Corrects p over all methods and sizes at which losses differ in some run: if methods chose the
/// same heads, nothing is tested.
template <class Pair>
void correct_all(CurveOverRuns& all, const Pair& pair) {
  std::vector<Test*> tests;
  for (MethodOverRuns& method : all.methods) {
    for (PointOverRuns& point : method.points) {
      std::optional<Compared>& one = point.*pair;
      if (one && !one->difference.is_same()) tests.push_back(&one->test);
    }
  }
  correct(tests);
}

/// Returns the rows of `table` in each curve, each starting with the name of its run.
Table by_run(Table table, std::span<const Curve> curves, const std::vector<std::string>& runs) {
  const std::string name = table.name;
  std::vector<Json::Array> rows;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    table.name = "methods";
    for (Json::Array& row : table_of(curves[i], table).rows) {
      row.insert(row.begin(), runs[i]);
      rows.push_back(std::move(row));
    }
  }
  table.name = name;
  table.rows = std::move(rows);
  const bool several = curves.size() != 1;
  table.columns.insert(table.columns.begin(), Column("run", "run").hidden_unless(several));
  return table;
}

const Column kMethod = Column("method", "method", "how heads are chosen").no_legend();
const Column kKept = Column("kept", "heads kept", "number of heads kept").no_legend();

const Column kRuns = Column("runs", "runs", "number of runs averaged").hidden();

/// Returns the tables of each run's curve: its methods and their points.
std::vector<Table> tables_by_run(std::span<const Curve> curves,
                                 const std::vector<std::string>& runs) {
  Table methods = choices_table();
  methods.shown = curves.size() == 1;
  Table losses = points_table();
  losses.shown = false;
  return {by_run(methods, curves, runs), by_run(losses, curves, runs)};
}

}  // namespace

Table choices_table() {
  return {
      "choices",
      {kMethod,
       {"area", "area",
        "area under the curve of loss against the share of heads kept: lower is better"},
       Column("regret", "regret",
              "mean loss minus that of the best subset of the same size, on the examples used to "
              "choose: 0 is best")
           .mean_over("sizes"),
       Column("sizes", "sizes", "number of sizes over which regret is a mean").hidden(),
       Column("rank_correlation", "rank corr",
              "Spearman correlation between how long a head is kept and the cost of ablating it")
           .fixed(2),
       {"used", "used", kUsedHeads},
       {"needed", "needed", kNeededHeads},
       Column("steps", "steps",
              "training steps of each model, including the steps that train gates")
           .shown_as(Form::grouped),
       Column("sequences_forward", "forward", "sequences run forward to choose heads")
           .shown_as(Form::grouped),
       Column("sequences_backward", "backward", "sequences run backward to choose heads")
           .shown_as(Form::grouped),
       Column("seconds", "seconds", "time to choose the heads").fixed(2)}};
}

Table points_table() {
  return {.name = "losses",
          .columns =
              {kMethod,
               kKept,
               {"loss", "loss", "after removal, on held-out examples"},
               {"accuracy", "accuracy", "after removal"},
               {"choosing_loss", "loss where chosen", "loss on the examples used to choose heads"},
               {"finetuned.loss", "fine-tuned", "loss after fine-tuning the heads kept"},
               {"from_scratch.loss", "from scratch",
                "loss of a new model with as many heads in each layer, trained for as many steps"},
               Column("recall", "owners kept", "share of owned relations that still have an owner")
                   .fixed(2)
                   .mean_over("owned"),
               Column("owned", "owned", "number of relations with an owner").hidden(),
               Column("precision", "with a role", "share of heads kept that own a relation")
                   .fixed(2)
                   .mean_over("kept"),
               Column("heads", "heads", "the heads kept").of(CellKind::heads)},
          .inner = "points"};
}

Result result_of(const Curve& curve) {
  std::vector<Table> tables = {choices_table(), points_table()};
  for (Table& table : tables) {
    table.name = "methods";
    table.rows_in_about = true;
  }
  return {.about = stamped(to_json<Curve>(curve).members()), .tables = std::move(tables)};
}

Json to_json(const Curve& curve) { return result_of(curve); }

CurveOverRuns over_runs(std::span<const Curve> curves) {
  require(!curves.empty(), "cannot average curves: there is none");
  for (const Curve& curve : curves) check_alike(curves[0], curve);
  CurveOverRuns all{.runs = std::ssize(curves), .needed = curves[0].needed, .methods = {}};
  const auto is_at_guessing = [](const Curve& one) { return one.at_guessing.value_or(false); };
  if (std::ranges::any_of(curves, is_at_guessing)) all.needed.reset();
  for (std::size_t m = 0; m < curves[0].methods.size(); ++m) {
    const MethodCurve& first = curves[0].methods[m];
    MethodOverRuns& method = all.methods.emplace_back();
    method.method = first.method;
    method.runs = std::ssize(curves);
    method.steps = first.steps;
    for (std::size_t p = 0; p < first.points.size(); ++p) {
      method.points.push_back(point_over(curves, m, p));
    }
    method.area =
        geometric_interval(mapped(curves, [&](const auto& c) { return c.methods[m].area; }));
    const auto regret_of = [&](const Curve& c) { return c.methods[m].regret; };
    if (std::ranges::all_of(curves, [&](const Curve& c) { return regret_of(c).has_value(); })) {
      const auto regrets = mapped(curves, [&](const Curve& c) { return *regret_of(c); });
      method.regret = sign_flip_interval(regrets);
    }
    method.schedule = first.schedule;
    for (const Curve& curve : curves) {
      method.used.push_back(curve.methods[m].used);
      method.needed.push_back(curve.methods[m].needed);
    }
  }
  compare_with_best(curves, all);
  correct_all(all, &PointOverRuns::against_best);
  correct_all(all, &PointOverRuns::against_scratch);
  correct_all(all, &PointOverRuns::against_unpruned);
  return all;
}

Json to_json(const PointOverRuns& point) {
  Json json = Json::object({{"kept", point.kept},
                            {"loss", point.pruned},
                            {"finetuned", point.finetuned},
                            {"from_scratch", point.from_scratch},
                            {"unpruned", point.unpruned},
                            {"against_best", point.against_best},
                            {"against_scratch", point.against_scratch},
                            {"against_unpruned", point.against_unpruned}});
  std::erase_if(json.members(), [](const Json::Member& one) { return one.second.is_null(); });
  return json;
}

Json to_json(const MethodOverRuns& method) {
  return Json::object({{"method", method.method},
                       {"runs", method.runs},
                       {"area", method.area},
                       {"regret", method.regret},
                       {"used", method.used},
                       {"needed", method.needed},
                       {"steps", method.steps},
                       {"schedule", method.schedule},
                       {"points", method.points}});
}

Json to_json(const CurveOverRuns& curve) {
  return stamped({{"runs", curve.runs}, {"needed", curve.needed}, {"methods", curve.methods}});
}

/// Returns the columns of points over runs, with their format in text.
static Table points_over_runs(bool several) {
  Table points{.name = "methods", .columns = {kMethod, kKept, kRuns}, .inner = "points"};
  const std::pair<const char*, const char*> losses[] = {
      {"loss", "loss after removal"},
      {"finetuned", "loss after fine-tuning"},
      {"from_scratch",
       "loss of a new model with as many heads in each layer, trained on the same schedule"},
      {"unpruned", "loss of the unpruned model, trained further on the same schedule"}};
  for (const auto& [key, title] : losses) {
    points.columns.push_back(interval_column(key, title).mean_over("runs").no_legend());
    points.grids.push_back({title, "method", "kept", points.columns.back().key});
  }
  const std::pair<const char*, const char*> ratios[] = {
      {"against_best", "loss after removal, as a multiple of the best method"},
      {"against_scratch", "loss after fine-tuning, as a multiple of training from scratch"},
      {"against_unpruned", "loss after fine-tuning, as a multiple of the unpruned model"}};
  for (const auto& [key, title] : ratios) {
    points.append(ratio_fields(key, title).columns());
    if (!several) {
      continue;
    }
    points.grids.push_back({title, "method", "kept", text(key, ".ratio")});
    points.grids.push_back({"Holm's p of this ratio", "method", "kept", text(key, ".p_holm")});
  }
  return points;
}

static Table methods_over_runs() {
  return {.name = "methods",
          .columns = {
              kMethod,
              interval_column(
                  "area", "area",
                  "area under the curve of loss against the share of heads kept: lower is better")
                  .mean_over("runs"),
              interval_column("regret", "regret",
                              "mean loss minus that of the best subset of the same size: 0 is best")
                  .mean_over("runs"),
              kRuns,
              {"used", "used", text("in each run, ", kUsedHeads)},
              {"needed", "needed", text("in each run, ", kNeededHeads)},
              Column("steps", "steps", "training steps").shown_as(Form::grouped)}};
}

/// Returns the schedule of each arm, a line for each different one; "" if nothing was trained.
static std::string schedules_text(const CurveOverRuns& all) {
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

std::vector<Table> curve_tables(std::span<const Curve> curves,
                                const std::vector<std::string>& runs) {
  const CurveOverRuns all = curves.empty() ? CurveOverRuns{} : over_runs(curves);
  const Json json = all;
  const bool several = all.runs > 1;
  Table points = table_of(json, points_over_runs(several));
  points.name = "points";
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
  std::vector<Table> tables = {std::move(points), table_of(json, methods_over_runs())};
  tables[1].shown = several;
  for (Table& table : tables_by_run(curves, runs)) tables.push_back(std::move(table));
  return tables;
}

}  // namespace headlab
