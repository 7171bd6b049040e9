// Tables of pruning. In those of curves rows are methods and columns are numbers of heads, so that
// a column is a contest: a star marks its winner, the lowest loss up to one part in ten thousand.
// Published numbers are quoted with their source; "as transcribed" marks those that we have from
// transcriptions of the papers' tables and not from the authors' own pages. Read next: table.h.
#include "headlab/report/prune_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/finding_text.h"
#include "headlab/report/table.h"
#include "report/columns.h"

namespace headlab {
namespace {

/// A row for each method, a column for each number of heads; cell(point, column) is what stands
/// there.
template <class Method, class Cell>
std::string grid(const std::vector<Method>& methods, const Cell& cell) {
  Texts table(row_of("heads kept", texts_of(methods[0].points, [](const auto& point) {
                       return std::to_string(point.kept);
                     })));
  for (const Method& method : methods) {
    std::vector<std::string> row{method.method};
    for (std::size_t i = 0; i < method.points.size(); ++i) row.push_back(cell(method.points[i], i));
    table.add(std::move(row));
  }
  return table.to_string();
}

/// Losses after removal, and where there are any, after fine-tuning and from scratch; `grid` makes
/// a table of the losses that it is told to take from a point.
template <class AnyCurve, class Grid>
std::string grids_of_losses(const AnyCurve& curve, const std::string& mark, const Grid& grid) {
  const auto& first = curve.methods[0].points[0];
  std::string out = "\n\nloss after removal" + mark + "\n" +
                    grid([](const auto& point) { return std::optional(point.pruned); });
  if (first.finetuned)
    out += "\nloss after fine-tuning" + mark + "\n" +
           grid([](const auto& point) { return point.finetuned; });
  if (first.from_scratch)
    out += "\nloss of as many heads in each layer, trained from scratch" + mark + "\n" +
           grid([](const auto& point) { return point.from_scratch; });
  return out;
}

std::string knee_text(const std::optional<Index>& knee) {
  return knee ? std::to_string(*knee) : "-";
}

std::string summary(const Curve& curve) {
  Texts table(
      {"method", "area", "regret", "rank corr", "knee", "steps", "forward", "backward", "seconds"});
  for (const MethodCurve& method : curve.methods) {
    table.add({method.method, significant(method.area),
               method.regret ? significant(*method.regret) : "-", fixed(method.rank_correlation, 2),
               knee_text(method.knee), grouped(method.steps), grouped(method.cost.forward),
               grouped(method.cost.backward), fixed(method.seconds, 2)});
  }
  return table.to_string();
}

/// The best of all subsets where it was chosen and held out, beside the best held out of what any
/// method chose.
std::string exhaustive_grid(const Curve& curve) {
  const auto best = std::ranges::find(curve.methods, "exhaustive", &MethodCurve::method);
  if (best == curve.methods.end()) return "";
  std::vector<std::string> header{"heads kept"}, chosen{"where it was chosen"}, held{"held out"},
      lowest{"lowest of all methods"};
  for (std::size_t i = 0; i < best->points.size(); ++i) {
    const auto loss = [i](const MethodCurve& method) { return method.points[i].pruned.loss; };
    header.push_back(std::to_string(best->points[i].kept));
    chosen.push_back(significant(best->points[i].chosen_on.value_or(NAN)));
    held.push_back(significant(loss(*best)));
    lowest.push_back(significant(loss(*std::ranges::min_element(curve.methods, {}, loss))));
  }
  Texts table(header);
  for (const auto& row : {chosen, held, lowest}) table.add(row);
  return "\nexhaustive: of all subsets the best on the examples that it was chosen on\n" +
         table.to_string();
}

std::string summary_over_runs(const CurveOverRuns& curve) {
  Texts table({"method", "area", "regret", "knee of each run", "steps"});
  for (const MethodOverRuns& method : curve.methods) {
    table.add({method.method, interval_text(method.area),
               method.regret ? interval_text(*method.regret) : "-",
               join(texts_of(method.knees, knee_text), " "), grouped(method.steps)});
  }
  return table.to_string();
}

/// A difference with its interval; "tie" where that holds 0; its mean in standard deviations over
/// runs, if that is asked.
std::string paired_text(const PairedRuns& paired, bool effect = false) {
  return interval_text(paired.difference) + (paired.is_tie() ? " tie" : "") +
         (effect ? ", d " + fixed(paired.effect, 1) : "");
}

std::string against_best_grid(const CurveOverRuns& curve) {
  return "\nloss after removal above that of the best method, paired by run (tie: the interval "
         "holds 0)\n" +
         grid(curve.methods, [](const PointOverRuns& point, std::size_t) -> std::string {
           return point.against_best.difference.mean == 0 ? "-" : paired_text(point.against_best);
         });
}

std::string against_scratch_grid(const CurveOverRuns& curve) {
  if (!curve.methods[0].points[0].against_scratch) return "";
  return "\nfine-tuned less from scratch, as many steps in all, paired by run; d: effect size\n" +
         grid(curve.methods, [](const PointOverRuns& point, std::size_t) {
           return paired_text(*point.against_scratch, true);
         });
}

constexpr const char* kMichelAblation =
    R"(published (another model: WMT encoder, 96 heads, as transcribed): 8 heads matter at p < .01, and
half of those improve BLEU when they go
)";
constexpr const char* kMichelOneHead =
    R"(published (another model: WMT, change of BLEU, chosen on the test set -> on other data, as
transcribed): encoder layer 6 -.36 -> -.67, cross layer 6 -13.56 -> -18.89, decoder layer 6 +.24
-> -.03
)";
constexpr const char* kMichelPruning =
    R"(published (other models, as transcribed): 20% (WMT) and 40% (BERT) of the heads are free; of
encoder-decoder attention the model collapses past about 60%; importance beats the order of single
ablations
)";
constexpr const char* kMichelSteps =
    R"(published (another model, as transcribed): in epochs 1-2 every cut costs; from epoch 10 up to 40%
of the heads can go at 85-90% of BLEU
)";
constexpr const char* kMichelSpeed =
    R"(published (BERT, half of the heads removed, examples per second, as transcribed): batch 1 +1.9%,
4 +2.7%, 16 +17.5%, 64 +17.5%
)";
constexpr const char* kVoitaPenalty =
    R"(published (another model: WMT English-Russian, 48 encoder heads, authors' page): 10 stay within
.15 BLEU, 17 keep every function
)";
constexpr const char* kVoitaScratch =
    R"(published (another model, base 29.60 BLEU; heads in encoder/decoder/cross, pruned / from scratch,
as transcribed): 14/31/30 29.62 / 29.47; 12/21/25 29.36 / 28.95; 8/13/15 29.06 / 28.56; 5/9/12
28.90 / 28.41
)";
constexpr const char* kVoitaDrift =
    R"(published (authors' page): functions of heads that go drift to heads that survive
)";

std::string ablation_table_text(const AblationReport& report) {
  Texts table({"head", "change of loss", "95% interval", "p"});
  std::size_t matter = 0, improve = 0;
  for (const HeadAblation& row : report.heads) {
    const bool significant_change = row.change.p < 0.01;
    matter += significant_change ? 1 : 0;
    improve += significant_change && row.change.change < 0 ? 1 : 0;
    table.add({head_text(row.head), signed_text(row.change.change),
               text(signed_text(row.change.low), " to ", signed_text(row.change.high)),
               significant(row.change.p)});
  }
  return table.to_string() + text(matter, " of ", report.heads.size(), " heads matter at p < .01, ",
                                  improve, " of them improve the loss when they go\n");
}

std::string one_head_text(const std::vector<OneHeadLeft>& rows) {
  Texts table({"only one head left in", "chosen in sample", "change of loss", "out of sample",
               "change of loss there"});
  for (const OneHeadLeft& row : rows) {
    table.add({row.module, head_text(row.in_sample), signed_text(row.change_in_sample),
               head_text(row.out_of_sample), signed_text(row.change_out_of_sample)});
  }
  return table.to_string();
}

std::string steps_text(const MichelReport& report) {
  const auto gone = [](double share) { return percent(share, 0) + " gone"; };
  const auto judged = [](const Judged& one) {
    return significant(one.loss) + " " + fixed(one.accuracy, 3);
  };
  Texts table(row_of("trained steps", texts_of(report.shares, gone)));
  for (const PrunedAtStep& stage : report.by_step)
    table.add(row_of(std::to_string(stage.step), texts_of(stage.by_share, judged)));
  return table.to_string();
}

}  // namespace

std::string curve_text(const CurveOverRuns& curve) {
  if (curve.methods.empty() || curve.methods[0].points.empty()) return "nothing was pruned\n";
  const auto intervals = [&](const auto& loss) {
    return grid(curve.methods, [&](const PointOverRuns& point, std::size_t) {
      const std::optional<Interval> interval = loss(point);
      return interval ? interval_text(*interval) : "-";
    });
  };
  return text("mean ± 95% interval over ", curve.runs, " runs (Student's t)",
              curve.needed > 0 ? text("; the task needs ", curve.needed, " heads") : "") +
         grids_of_losses(curve, "", intervals) + against_best_grid(curve) +
         against_scratch_grid(curve) + "\n" + summary_over_runs(curve) + legend("curve");
}

std::string curve_text(const Curve& curve) {
  if (curve.methods.empty() || curve.methods[0].points.empty()) return "nothing was pruned\n";
  const auto losses = [&](const auto& judged) {  // the lowest of each column is marked
    std::vector<double> lowest(curve.methods[0].points.size(), HUGE_VAL);
    for (const MethodCurve& method : curve.methods)
      for (std::size_t i = 0; i < method.points.size(); ++i)
        if (const std::optional<Judged> one = judged(method.points[i]))
          lowest[i] = std::min(lowest[i], one->loss);
    return grid(curve.methods, [&](const CurvePoint& point, std::size_t i) -> std::string {
      const std::optional<Judged> one = judged(point);
      if (!one) return "-";
      return significant(one->loss) + (one->loss <= lowest[i] * (1 + 1e-4) ? "*" : "");
    });
  };
  std::string out = text("loss with all ", curve.heads, " heads ", significant(curve.full.loss),
                         ", with none ", significant(curve.none.loss),
                         curve.needed > 0 ? text("; the task needs ", curve.needed) : "") +
                    grids_of_losses(curve, " (* lowest)", losses);
  if (!curve.owners.empty())
    out +=
        text("\nshare of the ", curve.owners.size(), " relations with an owner that keep one\n") +
        grid(curve.methods, [](const CurvePoint& p, std::size_t) { return fixed(p.recall, 2); });
  return out + exhaustive_grid(curve) + "\n" + summary(curve) + legend("curve");
}

std::string michel_text(const MichelReport& report) {
  std::string out = "1. one head silenced at a time\n" + ablation_table_text(report.ablation) +
                    kMichelAblation + "\n2. one head left in a layer\n" +
                    one_head_text(report.one_head) + kMichelOneHead +
                    "\n3. heads removed by importance, beside the order of single ablations\n" +
                    curve_text(report.curve) + kMichelPruning;
  if (!report.by_step.empty())
    out += "\n4. pruned by importance while it trains: loss and accuracy\n" + steps_text(report) +
           kMichelSteps;
  if (report.timing.empty()) return out;
  return out + "\n5. half of the heads removed: forward and backward of a batch\n" +
         text_of(timing_table(report.timing)) + kMichelSpeed;
}

std::string voita_text(const VoitaReport& report) {
  Texts sweep({"lambda", "survivors", "self", "encoder", "cross", "loss", "accuracy", "fine-tuned",
               "from scratch: loss", "accuracy there"});
  for (const PenaltyRow& row : report.rows) {
    sweep.add({significant(row.penalty), std::to_string(row.survivors.size()),
               std::to_string(row.by_kind[0]), std::to_string(row.by_kind[1]),
               std::to_string(row.by_kind[2]), significant(row.pruned.loss),
               fixed(row.pruned.accuracy, 3),
               row.finetuned ? significant(row.finetuned->loss) : "-",
               significant(row.from_scratch.loss), fixed(row.from_scratch.accuracy, 3)});
  }
  Texts roles({"relation", "before", "lift before", "after", "lift after"});
  for (const RoleDrift& role : report.rows[report.chosen].drift) {
    roles.add({role.relation, head_text(role.before), fixed(role.lift_before, 3),
               head_text(role.after), fixed(role.lift_after, 3)});
  }
  std::string out = text(
      "1. trained gates (weights train along): the count of survivors is a function of lambda\n",
      report.heads, " heads, loss ", significant(report.full.loss), " with all, ",
      significant(report.none.loss), " with none",
      report.needed > 0 ? text("; the task needs ", report.needed) : std::string(), "\n",
      "steps of training behind each pruned model, and as many from scratch: ",
      grouped(report.steps), "\n");
  out += sweep.to_string() + kVoitaPenalty + kVoitaScratch;
  return out +
         text("\n2. who does what, before and after lambda ",
              significant(report.rows[report.chosen].penalty), "\n") +
         roles.to_string() + kVoitaDrift;
}

std::string penalties_text(const std::vector<PenaltyOverRuns>& rows, std::size_t runs) {
  Texts table(
      {"lambda", "survivors", "loss", "fine-tuned", "from scratch: loss", "against scratch"});
  for (const PenaltyOverRuns& row : rows) {
    const auto [least, most] = std::ranges::minmax(row.survivors);
    table.add({significant(row.penalty), text(significant(row.median), " (", least, "-", most, ")"),
               interval_text(row.pruned), row.finetuned ? interval_text(*row.finetuned) : "-",
               interval_text(row.from_scratch), paired_text(row.against_scratch, true)});
  }
  return text("gates over ", runs, " runs: survivors are medians, losses means ± 95%;\n",
              "from scratch: as many heads and steps; against: what is left after fine-tuning, d: "
              "effect size\n") +
         table.to_string() + kVoitaPenalty + kVoitaScratch;
}

std::string shares_text(const std::vector<ShareOverRuns>& rows, std::size_t runs) {
  Texts table({"heads removed", "loss", "accuracy"});
  for (const ShareOverRuns& row : rows)
    table.add({text(100 * row.share, "%"), interval_text(row.loss), interval_text(row.accuracy)});
  return text("pruned by importance at the end of training, over ", runs, " runs, means ± 95%\n") +
         table.to_string() + kMichelSteps;
}

}  // namespace headlab
