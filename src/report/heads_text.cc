#include "headlab/report/heads_text.h"

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

std::string head_name(Index layer, std::int32_t head) { return text(layer, ".", head); }

std::string winners_text(const HeadsReport& report) {
  Table table({"relation", "best head", "mass", "top1", "lift", "null", "verdict"});
  for (const RelationWinner& winner : report.relations) {
    const HeadScores& head = report.heads[winner.best];
    const RelationScore& score =
        head.relations[static_cast<std::size_t>(&winner - report.relations.data())];
    table.add({winner.relation.name, head_name(head.layer, head.head), fixed(score.mass, 3),
               fixed(score.top1, 3), fixed(score.lift, 3), fixed(score.null, 3),
               winner.owned ? "does it" : "nobody does it"});
  }
  return table.text();
}

std::vector<std::string> figures_row(const char* name, std::size_t heads,
                                     const ModelFigures& figures) {
  return {name,
          std::to_string(heads),
          significant(figures.loss),
          fixed(figures.accuracy, 4),
          grouped(figures.parameters),
          fixed(figures.ms_per_batch, 2)};
}

}  // namespace

std::string heads_text(const HeadsReport& report) {
  std::vector<std::string> header = {"head", "entropy", "focus"};
  for (const RelationWinner& winner : report.relations) {
    header.push_back(winner.relation.name);
    header.emplace_back("top1");
    header.emplace_back("lift");
  }
  Table table(header);
  for (const HeadScores& head : report.heads) {
    std::vector<std::string> row = {head_name(head.layer, head.head), fixed(head.entropy, 3),
                                    fixed(head.focus, 3)};
    for (const RelationScore& score : head.relations) {
      row.push_back(fixed(score.mass, 3));
      row.push_back(fixed(score.top1, 3));
      row.push_back(fixed(score.lift, 3));
    }
    row.resize(header.size());
    table.add(std::move(row));
  }
  if (report.heads.empty()) {
    return "the model has no head\n";
  }
  std::string out = table.text();
  if (!report.relations.empty()) {
    out += "\n" + winners_text(report);
  }
  return out;
}

std::string prune_text(const PruneResult& result) {
  std::vector<std::string> kept;
  for (const HeadId& head : result.kept) {
    kept.push_back(head_name(head.layer, head.head));
  }
  Table table({"model", "heads", "loss", "accuracy", "parameters", "ms per batch"});
  table.add(figures_row("before", result.kept.size() + result.removed.size(), result.before));
  table.add(figures_row("heads removed", result.kept.size(), result.removed_only));
  table.add(figures_row("after", result.kept.size(), result.after));
  return table.text() + "kept heads: " + (kept.empty() ? "none" : join(kept, " ")) + "\n";
}

}  // namespace headlab::inline HEADLAB_SCALAR
