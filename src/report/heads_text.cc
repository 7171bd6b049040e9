// A model's heads as tables. The table of heads has a group of columns for each relation; as many
// groups stand side by side as a terminal of 100 columns holds, the others follow below. Which
// scores have a column says score_table(). On the map, where two heads would stand on one another,
// the later moves to the next free line: the table below it has the coordinates. Steps of a
// training are thinned out to what a terminal holds. Read next: table.h.
#include "headlab/report/heads_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/heads/edits.h"
#include "headlab/report/table.h"
#include "report/columns.h"

namespace headlab {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kManyRelations = 16;  // more do not fit a screen
constexpr double kShared = 0.1;             // what the best head lacks where heads share a relation
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

/// Whether heads divide the queries of a relation among them.
bool is_shared(const RelationWinner& winner, const RelationScore& best) {
  return winner.mass_any - best.mass >= kShared &&
         winner.mass_any - best.null >= kOwnerLift * (1 - best.null);
}

/// Who does it, or why nobody does.
std::string verdict(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const RelationScore& score = report.best_score(r);
  if (winner.owned) return "does it (*)";
  if (winner.candidates == 0) return "no head of its kind of attention";
  if (!score.enough()) return text("too few (", score.examples, ")");
  if (score.lift >= kOwnerLift) return "could be chance: p is not below .01";
  if (is_shared(winner, score)) return "no head alone: heads share it";
  const auto in_part = std::ranges::count_if(report.heads, [r](const HeadScores& head) {
    return head.relations[r].p < kOwnerP && head.relations[r].lift > 0;
  });
  return in_part == 0   ? "nobody does it"
         : in_part == 1 ? "one head, in part"
                        : text(in_part, " heads, each in part");
}

std::string best_head(const HeadsReport& report, const RelationWinner& winner) {
  return winner.candidates > 0 ? head_text(report.heads[winner.best]) : "-";
}

/// The relations that a screen shows: all, or of many those that a verdict can be passed on, owned
/// ones first, then by lift.
std::vector<std::size_t> shown_relations(const HeadsReport& report, bool all) {
  std::vector<std::size_t> shown(report.relations.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (all || shown.size() <= kManyRelations) return shown;
  std::erase_if(shown, [&](std::size_t r) { return !report.best_score(r).enough(); });
  std::ranges::stable_sort(shown, std::greater<>(), [&](std::size_t r) {
    return std::pair(report.relations[r].owned, report.best_score(r).lift);
  });
  shown.resize(std::min(shown.size(), kManyRelations));
  return shown;
}

std::string winners_table(const HeadsReport& report, const std::vector<std::size_t>& shown) {
  Texts table({"relation", "best head", "mass", "top1", "lift", "null", "untrained", "p",
               "examples", "verdict"});
  std::vector<std::string> rests_on;
  for (const std::size_t r : shown) {
    const RelationWinner& winner = report.relations[r];
    const RelationScore& score = report.best_score(r);
    table.add({winner.relation.name, best_head(report, winner), fixed(score.mass, 3),
               fixed(score.top1, 3), fixed(score.lift, 3), fixed(score.null, 3),
               fixed(winner.mass_untrained, 3), fixed(winner.p, 3), std::to_string(score.examples),
               verdict(report, r)});
    if (score.enough()) rests_on.push_back(text(winner.relation.name, " ", grouped(score.queries)));
  }
  return table.to_string() + legend("winners") +
         (rests_on.empty() ? "" : "\n" + wrapped("rests on queries: " + join(rests_on, ", ")));
}

/// What must be said about the table: gold that can hardly be exchanged, relations that heads
/// share, heads with two relations; of many relations only how many these are.
std::string notes_text(const HeadsReport& report, bool all) {
  std::vector<std::string> few_exchanges, shared, too_few;
  Index own = 0, judged = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    const RelationScore& best = report.best_score(r);
    own += winner.assigned_owns;
    judged += best.enough();
    if (!best.enough()) {
      too_few.push_back(text(winner.relation.name, " (", best.examples, ")"));
      continue;
    }
    if (winner.exchanges < report.permutations)
      few_exchanges.push_back(text(winner.relation.name, " (", winner.exchanges, ")"));
    if (is_shared(winner, best))
      shared.push_back(text(winner.relation.name, " (best head ", fixed(best.mass, 2),
                            ", best at each query ", fixed(winner.mass_any, 2), ")"));
  }
  const auto note = [&](const std::string& what, const std::vector<std::string>& names) {
    if (names.empty()) return std::string();
    const bool list = all || names.size() <= kManyRelations;
    return text("note: ", what,
                list ? ": " + join(names, ", ") : text(": ", names.size(), " relations"), "\n");
  };
  return note(text("p cannot become small where few of ", report.permutations,
                   " permutations of the gold differ"),
              few_exchanges) +
         note("heads share", shared) +
         note(text("fewer than ", kFewestExamples, " examples ask for"), too_few) +
         text("specialization ", fixed(report.specialization, 2), ": ", own, " of ", judged,
              " relations", judged < std::ssize(report.relations) ? " that can be judged" : "",
              " have an owner of their own\n");
}

/// The share of queries that the best head finds, beside those of readers without a model.
std::string baselines_table(const HeadsReport& report, const std::vector<std::size_t>& shown) {
  Texts table({"relation", "best head", "top1", "best offset", "top1 where wrong", "nearest",
               "top1 where wrong"});
  bool any = false;
  for (const std::size_t r : shown) {
    const RelationWinner& winner = report.relations[r];
    if (std::isfinite(winner.nearest.top1)) {
      any = true;
      table.add({winner.relation.name, best_head(report, winner),
                 fixed(report.best_score(r).top1, 3), fixed(winner.offset.top1, 3),
                 fixed(winner.offset.head_top1_where_wrong, 3), fixed(winner.nearest.top1, 3),
                 fixed(winner.nearest.head_top1_where_wrong, 3)});
    }
  }
  return any ? "\n" + table.to_string() + legend("baselines") : "";
}

constexpr std::size_t kMapWidth = 72, kMapHeight = 20;

/// "-1 (98%)": where most argmaxes are.
std::string commonest_offset(const HeadScores& head) {
  if (head.offsets.empty()) return "-";
  const HeadScores::Offset& offset = head.offsets.front();
  return text(offset.offset > 0 ? "+" : "", offset.offset, " (", percent(offset.share, 0), ")");
}

/// As many labels as a cell holds; the JSON has them all.
std::string labels_cell(const HeadScores& head) {
  constexpr std::size_t kWidth = 36;
  std::string cell;
  for (std::size_t i = 0; i < head.labels.size(); ++i) {
    const std::string more = (i > 0 ? ", " : "") + head.labels[i];
    if (display_width(cell) + display_width(more) > kWidth)
      return cell + text(" and ", head.labels.size() - i, " more");
    cell += more;
  }
  return cell;
}

/// The scores that `chosen` selects, a column for each, behind the names of the heads.
template <class Chosen>
Texts scores_table(const HeadsReport& report, Chosen&& chosen) {
  Texts table({"head"});
  for (const HeadScores& head : report.heads) table.add({head_text(head)});
  for (std::size_t row = 0; row < score_table().size(); ++row) {
    const auto& [name, meaning, from, column] = score_table()[row];
    if (!chosen(from)) continue;
    const auto shown = column.percent ? percent : fixed;
    table.add_column(column.title != nullptr ? column.title : name,
                     texts_of(report.heads,
                              [&, row, digits = column.decimals](const HeadScores& head) {
                                return shown(head.values[row], digits);
                              }));
  }
  return table;
}

std::string patterns_table(const HeadsReport& report) {
  return scores_table(report, [](const ScoreSource& from) { return from.weight != nullptr; })
      .to_string();
}

std::string shapes_table(const HeadsReport& report) {
  Texts table = scores_table(report, [](const ScoreSource& from) { return from.value != nullptr; });
  table.add_column("argmax offset", texts_of(report.heads, commonest_offset));
  table.add_column("labels", texts_of(report.heads, labels_cell));
  return table.to_string() + legend("shapes");
}

/// The heads of one kind of attention: those whose distance to `first` is defined.
std::vector<std::size_t> comparable_with(const HeadsReport& report, std::size_t first) {
  std::vector<std::size_t> members;
  for (std::size_t h = 0; h < report.heads.size(); ++h)
    if (std::isfinite(report.distances[first * report.heads.size() + h])) members.push_back(h);
  return members;
}

/// Heads on a plane of characters, one scale for both axes (a character is twice as high as wide).
std::string plane(const HeadsReport& report, const std::vector<std::size_t>& members) {
  double extent = 1e-9;
  for (const std::size_t h : members) {
    const auto& [x, y] = report.heads[h].map;
    extent = std::max({extent, std::abs(x) * 2 * kMapHeight / kMapWidth, std::abs(y)});
  }
  std::vector<std::string> lines(kMapHeight + 1, std::string(kMapWidth + 8, ' '));
  const double half = static_cast<double>(kMapHeight) / 2;
  for (const std::size_t h : members) {
    const auto& [x, y] = report.heads[h].map;
    const std::string name = head_text(report.heads[h]);
    const auto column = static_cast<std::size_t>(
        std::lround(static_cast<double>(kMapWidth) / 2 + x / extent * 2 * half));
    auto line = static_cast<std::size_t>(std::lround(half - y / extent * half));
    for (std::size_t tries = 0; tries < lines.size(); ++tries, line = (line + 1) % lines.size())
      if (lines[line].substr(column, name.size()).find_first_not_of(' ') == std::string::npos)
        break;
    lines[line].replace(column, name.size(), name);
  }
  std::string out;
  for (const std::string& line : lines) out += "  │" + trimmed_line(line);
  return out;
}

std::string places_table(const HeadsReport& report, const std::vector<std::size_t>& members) {
  Texts table({"head", "x", "y", "nearest", "distance"});
  for (const std::size_t h : members) {
    const double* distances = report.distances.data() + h * report.heads.size();
    std::size_t nearest = h;
    for (const std::size_t other : members) {
      const bool nearer = nearest == h || distances[other] < distances[nearest];
      nearest = other != h && nearer ? other : nearest;
    }
    const HeadScores& head = report.heads[h];
    table.add({head_text(head), fixed(head.map[0], 3), fixed(head.map[1], 3),
               nearest == h ? "-" : head_text(report.heads[nearest]),
               nearest == h ? "-" : fixed(distances[nearest], 3)});
  }
  return table.to_string();
}

constexpr std::size_t kSparkWidth = 40, kTableRows = 12;

/// At most `wanted` of the places 0 ... count - 1, evenly spaced, both ends among them.
std::vector<std::size_t> thinned(std::size_t count, std::size_t wanted) {
  std::vector<std::size_t> places;
  const std::size_t shown = std::min(count, wanted);
  for (std::size_t i = 0; i < shown; ++i)
    places.push_back(shown < 2 ? count - 1 : i * (count - 1) / (shown - 1));
  return places;
}

}  // namespace

std::string heads_text(const HeadsReport& report, bool all) {
  if (report.heads.empty()) return "the model has no head\n";
  const std::size_t count = report.relations.size();
  const std::vector<std::size_t> shown = shown_relations(report, all);
  std::string out;
  if (shown.size() == count) {
    const std::size_t side_by_side = (kLineWidth - display_width(head_columns(nullptr))) /
                                     display_width(relation_columns(nullptr, false));
    out = heads_block(report, 0, std::min(count, side_by_side));
    for (std::size_t r = side_by_side; r < count; r += side_by_side)
      out += "\n" + heads_block(report, r, std::min(count, r + side_by_side));
  } else {
    out =
        heads_block(report, 0, 0) + text("\n", shown.size(), " of ", count,
                                         " relations, those with an owner and the largest lift:\n");
  }
  if (count == 0) return out;
  return out + "\n" + winners_table(report, shown) +
         (std::cmp_less(shown.size(), count) ? "" : baselines_table(report, shown)) + "\n" +
         notes_text(report, all);
}

std::string scores_text(const HeadsReport& report) {
  return report.distances.empty() ? "" : patterns_table(report) + "\n" + shapes_table(report);
}

std::string map_text(const HeadsReport& report) {
  std::string out;
  std::vector<bool> shown(report.heads.size());
  for (std::size_t first = 0; first < report.heads.size(); ++first) {
    if (shown[first]) continue;
    const std::vector<std::size_t> members = comparable_with(report, first);
    for (const std::size_t h : members) shown[h] = true;
    out += out.empty() ? "" : "\n";
    out +=
        "near each other: heads whose patterns are alike (0 the same, 0.83 nothing in common)\n" +
        plane(report, members) + "\n" + places_table(report, members);
  }
  return out;
}

std::string sparkline(std::span<const double> values, std::size_t width) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  for (const std::size_t place : thinned(values.size(), width)) {
    const double value = std::clamp(values[place], 0.0, 1.0);
    line += std::isnan(value) ? " " : kBlocks[std::lround(value * 7)];
  }
  return line;
}

std::string history_text(const HeadsHistory& history) {
  Texts births({"relation", "head", "born", "lift", "lift over training"});
  for (const RelationHistory& relation : history.relations) {
    births.add({relation.name, head_text(relation.best),
                relation.born < 0 ? "-" : std::to_string(relation.born),
                fixed(relation.lifts.back(), 3), sparkline(relation.lifts, kSparkWidth)});
  }
  Texts steps(row_of("step", texts_of(history.relations, &RelationHistory::name)));
  for (const std::size_t place : thinned(history.steps.size(), kTableRows)) {
    const auto lift = [&](const RelationHistory& one) { return fixed(one.lifts[place], 3); };
    steps.add(row_of(std::to_string(history.steps[place]), texts_of(history.relations, lift)));
  }
  return text(births.to_string(),
              "\nborn: the first scored step at which the lift of the relation's ",
              "head reaches half of its last value\n\n", steps.to_string());
}

}  // namespace headlab
