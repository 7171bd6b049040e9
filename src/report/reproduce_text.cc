// Published numbers are quoted with their source; "as transcribed" marks those that we have from
// transcriptions of the papers' tables and not from the authors' own pages.
// Read next: src/lab/michel.cc, src/lab/voita.cc.
#include "headlab/report/reproduce_text.h"

#include "headlab/base/error.h"
#include "headlab/report/curve_text.h"
#include "headlab/report/prune_text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr const char* kMichelAblation =
    "published (another model: WMT encoder, 96 heads, as transcribed): 8 heads matter at p < .01, "
    "and\n"
    "half of those improve BLEU when they go\n";
constexpr const char* kMichelOneHead =
    "published (another model: WMT, change of BLEU, chosen on the test set -> on other data, as\n"
    "transcribed): encoder layer 6 -.36 -> -.67, cross layer 6 -13.56 -> -18.89, decoder layer 6 "
    "+.24\n"
    "-> -.03\n";
constexpr const char* kMichelPruning =
    "published (other models, as transcribed): 20% (WMT) and 40% (BERT) of the heads are free, "
    "all\n"
    "collapse past about 60%; importance beats the order of single ablations\n";
constexpr const char* kMichelSteps =
    "published (another model, as transcribed): in epochs 1-2 every cut costs; from epoch 10 up to "
    "40%\n"
    "of the heads can go at 85-90% of BLEU\n";
constexpr const char* kMichelSpeed =
    "published (BERT, half of the heads removed, examples per second, as transcribed): batch 1 "
    "+1.9%,\n"
    "4 +2.7%, 16 +17.5%, 64 +17.5%\n";
constexpr const char* kVoitaPenalty =
    "published (another model: WMT English-Russian, 48 encoder heads, authors' page): 10 stay "
    "within\n"
    ".15 BLEU, 17 keep every function\n";
constexpr const char* kVoitaScratch =
    "published (another model, base 29.60 BLEU; heads in encoder/decoder/cross, pruned / from "
    "scratch,\n"
    "as transcribed): 14/31/30 29.62 / 29.47; 12/21/25 29.36 / 28.95; 8/13/15 29.06 / 28.56; "
    "5/9/12\n"
    "28.90 / 28.41\n";
constexpr const char* kVoitaDrift =
    "published (authors' page): functions of heads that go drift to heads that survive\n";

std::string signed_number(double value) { return (value >= 0 ? "+" : "") + significant(value); }

std::string ablation_table_text(const AblationReport& report) {
  Table table({"head", "change of loss", "95% interval", "p"});
  std::size_t matter = 0, improve = 0;
  for (const HeadAblation& row : report.heads) {
    const bool significant_change = row.change.p < 0.01;
    matter += significant_change ? 1 : 0;
    improve += significant_change && row.change.change < 0 ? 1 : 0;
    table.add({head_text(row.head), signed_number(row.change.change),
               text(signed_number(row.change.low), " to ", signed_number(row.change.high)),
               significant(row.change.p)});
  }
  return table.text() + text(matter, " of ", report.heads.size(), " heads matter at p < .01, ",
                             improve, " of them improve the loss when they go\n");
}

std::string one_head_text(const std::vector<OneHeadLeft>& rows) {
  Table table({"only one head left in", "chosen in sample", "change of loss", "out of sample",
               "change of loss there"});
  for (const OneHeadLeft& row : rows) {
    table.add({row.module, head_text(row.in_sample), signed_number(row.change_in_sample),
               head_text(row.out_of_sample), signed_number(row.change_out_of_sample)});
  }
  return table.text();
}

std::string steps_text(const MichelReport& report) {
  std::vector<std::string> header{"trained steps"};
  for (const double share : report.shares) header.push_back(fixed(100 * share, 0) + "% gone");
  Table table(header);
  for (const PrunedAtStep& stage : report.by_step) {
    std::vector<std::string> row{std::to_string(stage.step)};
    for (const Judged& judged : stage.by_share)
      row.push_back(significant(judged.loss) + " " + fixed(judged.accuracy, 3));
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace

std::string michel_text(const MichelReport& report) {
  std::string out = "1. one head silenced at a time\n" + ablation_table_text(report.ablation) +
                    kMichelAblation + "\n2. one head left in a layer\n" +
                    one_head_text(report.one_head) + kMichelOneHead +
                    "\n3. heads removed by importance, beside the order of single ablations\n" +
                    curve_text(report.curve) + kMichelPruning;
  if (!report.by_step.empty())
    out += "\n4. pruned by importance while it trains: loss and accuracy\n" + steps_text(report) +
           kMichelSteps;
  return out + "\n5. half of the heads removed: forward and backward of a batch\n" +
         timing_text(report.timing) + kMichelSpeed;
}

std::string voita_text(const VoitaReport& report) {
  Table sweep({"lambda", "survivors", "self", "encoder", "cross", "loss", "accuracy",
               "from scratch: loss", "accuracy there"});
  for (const PenaltyRow& row : report.rows) {
    sweep.add({significant(row.penalty), std::to_string(row.survivors.size()),
               std::to_string(row.by_kind[0]), std::to_string(row.by_kind[1]),
               std::to_string(row.by_kind[2]), significant(row.pruned.loss),
               fixed(row.pruned.accuracy, 3), significant(row.from_scratch.loss),
               fixed(row.from_scratch.accuracy, 3)});
  }
  Table roles({"relation", "before", "lift before", "after", "lift after"});
  for (const RoleDrift& role : report.drift) {
    roles.add({role.relation, head_text(role.before), fixed(role.lift_before, 3),
               head_text(role.after), fixed(role.lift_after, 3)});
  }
  std::string out = text(
      "1. trained gates (weights train along): the count of survivors is a function of lambda\n",
      report.heads, " heads, loss ", significant(report.full.loss), " with all, ",
      significant(report.none.loss), " with none",
      report.needed > 0 ? text("; the task needs ", report.needed) : std::string(), "\n");
  out += sweep.text() + kVoitaPenalty + kVoitaScratch;
  return out +
         text("\n2. who does what, before and after lambda ",
              significant(report.rows[report.chosen].penalty), "\n") +
         roles.text() + kVoitaDrift;
}

}  // namespace headlab
