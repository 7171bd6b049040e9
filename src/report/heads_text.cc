// A model's heads as tables. The table of heads has a group of columns for each relation; as many
// groups stand side by side as a terminal of 100 columns holds, the others follow below. Which
// scores have a column says score_table(). Read next: table.h.
#include "headlab/report/heads_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/heads/edits.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr double kShared = 0.1;  // what the best head lacks where heads share a relation
const std::string kBar = " │";

/// Set to the right, never cut.
std::string right(const std::string& cell, std::size_t width) {
  return padded(cell, std::max(width, display_width(cell)), true);
}

/// The columns of a head, before those of its relations: its name, and the scores of every report.
std::string head_columns(const HeadScores* head) {
  std::string cells = right(head != nullptr ? head_text(*head) : "head", 5);
  for (std::size_t row = 0; row < score_table().size(); ++row) {
    const ScoreEntry& score = score_table()[row];
    if (!score.from.always) continue;
    const std::size_t width = std::max<std::size_t>(7, display_width(score.name) + 1);
    cells += right(head != nullptr ? fixed(head->values[row], 3) : score.name, width);
  }
  return cells;
}

/// The columns of a relation: titles, or a head's numbers, with a star where it is the one that
/// does it.
std::string relation_columns(const RelationScore* score, bool owner) {
  std::string cells = kBar;
  for (const ScoreEntry& row : score_table()) {
    if (row.column.width == 0) continue;
    const std::string cell =
        score != nullptr ? fixed(row.from.relation(*score), row.column.decimals) : row.name;
    cells += right(cell, row.column.width);
  }
  return cells + (owner ? "*" : " ");
}

/// The lines of the relations [first, end), one for each head.
std::string heads_block(const HeadsReport& report, std::size_t first, std::size_t end) {
  const std::size_t width =
      display_width(relation_columns(nullptr, false)) - display_width(kBar) - 1;
  std::string titles = head_columns(nullptr), names(display_width(titles), ' ');
  for (std::size_t r = first; r < end; ++r) {
    names += kBar + " " + padded(report.relations[r].relation.name, width);
    titles += relation_columns(nullptr, false);
  }
  std::string out = (first < end ? trimmed_line(names) : "") + trimmed_line(titles);
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    std::string line = head_columns(&report.heads[h]);
    for (std::size_t r = first; r < end; ++r) {
      const RelationWinner& winner = report.relations[r];
      line += relation_columns(&report.heads[h].relations[r], winner.owned && winner.best == h);
    }
    out += trimmed_line(line);
  }
  return out;
}

/// Who does it, or why nobody does.
std::string verdict(const RelationWinner& winner, const RelationScore& score) {
  if (winner.owned) return "does it (*)";
  if (winner.candidates == 0) return "no head of its kind of attention";
  if (score.queries == 0) return "no query to judge by";
  return score.lift >= kOwnerLift ? "could be chance: p is not below .01" : "nobody does it";
}

std::string best_head(const HeadsReport& report, const RelationWinner& winner) {
  return winner.candidates > 0 ? head_text(report.heads[winner.best]) : "-";
}

std::string winners_table(const HeadsReport& report) {
  Table table(
      {"relation", "best head", "mass", "top1", "lift", "null", "untrained", "p", "verdict"});
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    const RelationScore& score = report.best_score(r);
    table.add({winner.relation.name, best_head(report, winner), fixed(score.mass, 3),
               fixed(score.top1, 3), fixed(score.lift, 3), fixed(score.null, 3),
               fixed(winner.mass_untrained, 3), fixed(winner.p, 3), verdict(winner, score)});
  }
  return table.text();
}

/// Whether heads divide the queries of a relation among them.
bool is_shared(const RelationWinner& winner, const RelationScore& best) {
  return winner.mass_any - best.mass >= kShared &&
         winner.mass_any - best.null >= kOwnerLift * (1 - best.null);
}

/// What must be said about the table: gold that can hardly be exchanged, relations that heads
/// share, heads with two relations.
std::string notes_text(const HeadsReport& report) {
  std::string notes;
  Index own = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    own += winner.assigned_owns;
    if (winner.exchanges < report.permutations && report.best_score(r).queries > 0) {
      notes += text("note: the gold of ", winner.relation.name, " can be exchanged in few ways (",
                    winner.exchanges, " of ", report.permutations,
                    " permutations differ), so its p cannot become small\n");
    }
    if (is_shared(winner, report.best_score(r))) {
      notes += text("note: heads share ", winner.relation.name, ": the best one has mass ",
                    fixed(report.best_score(r).mass, 3), ", the best one at each query ",
                    fixed(winner.mass_any, 3), "\n");
    }
  }
  return notes + text("specialization ", fixed(report.specialization, 2), ": ", own, " of ",
                      report.relations.size(), " relations have an owner of their own\n");
}

/// The share of queries that the best head finds, beside those of readers without a model.
std::string baselines_table(const HeadsReport& report) {
  Table table({"relation", "best head", "top1", "best offset", "top1 where wrong", "nearest",
               "top1 where wrong"});
  bool any = false;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    if (std::isfinite(winner.nearest.top1)) {
      any = true;
      table.add({winner.relation.name, best_head(report, winner),
                 fixed(report.best_score(r).top1, 3), fixed(winner.offset.top1, 3),
                 fixed(winner.offset.head_top1_where_wrong, 3), fixed(winner.nearest.top1, 3),
                 fixed(winner.nearest.head_top1_where_wrong, 3)});
    }
  }
  return any ? "\n" + table.text() : "";
}

}  // namespace

std::string heads_text(const HeadsReport& report) {
  if (report.heads.empty()) return "the model has no head\n";
  const std::size_t count = report.relations.size();
  const std::size_t side_by_side = (kLineWidth - display_width(head_columns(nullptr))) /
                                   display_width(relation_columns(nullptr, false));
  std::string out = heads_block(report, 0, std::min(count, side_by_side));
  for (std::size_t r = side_by_side; r < count; r += side_by_side)
    out += "\n" + heads_block(report, r, std::min(count, r + side_by_side));
  return count == 0 ? out
                    : out + "\n" + winners_table(report) + baselines_table(report) + "\n" +
                          notes_text(report);
}

}  // namespace headlab
