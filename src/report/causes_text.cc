// Tables of causes: changes of the loss with their intervals. Numbers carry their sign, because an
// ablation may well help. Maps show costs alone: what helps is blank there.
// Read next: table.h.
#include "headlab/report/causes_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr double kSignificant = 0.01;

/// 4 significant digits with a sign.
std::string change_text(double value) { return (value < 0 ? "" : "+") + significant(value); }

/// "[+1.2, +1.4]"
std::string interval_text(const PairedChange& change) {
  return "[" + change_text(change.low) + ", " + change_text(change.high) + "]";
}

/// Changes of the loss as shades: rows are attention modules, columns the heads' born numbers.
std::string change_map(const AblationReport& report, double largest,
                       const HeatmapOptions& options) {
  std::int32_t columns = 0;
  for (const HeadAblation& one : report.heads) columns = std::max(columns, one.head.head + 1);
  std::vector<std::string> modules, heads;
  for (std::size_t m = 0; m < report.attention.size(); ++m) modules.push_back(std::to_string(m));
  for (std::int32_t h = 0; h < columns; ++h) heads.push_back(std::to_string(h));
  std::vector<Scalar> shades(modules.size() * heads.size());
  for (const HeadAblation& one : report.heads) {
    const auto at = one.head.layer * columns + one.head.head;
    shades[at] = static_cast<Scalar>(std::max(0.0, one.change.change) / largest);
  }
  return heatmap(shades, modules, heads, options);
}

}  // namespace

std::string ablation_text(const AblationReport& report, const HeatmapOptions& options) {
  if (report.heads.empty()) return "the model has no head\n";
  double largest = 0;
  Table table({"head", "loss", "change", "95% interval", "p", "p < .01"});
  for (const HeadAblation& one : report.heads) {
    largest = std::max(largest, one.change.change);
    table.add({head_text(one.head), significant(one.loss), change_text(one.change.change),
               interval_text(one.change), significant(one.change.p),
               one.change.p < kSignificant ? "*" : ""});
  }
  std::string map;
  if (largest > 0) {
    map = text(
              "what it costs to silence a head: a row for each attention module, a column for "
              "each head,\n1.00 is ",
              change_text(largest), " nats per target\n\n") +
          change_map(report, largest, options) + "\n";
  }
  return map + table.text() + text("loss of the whole model: ", significant(report.loss), "\n");
}

std::string gold_edges_text(const EdgeReport& report) {
  Table table({"relation", "head", "lift", "mass", "cost", "share", "random", "verdict"});
  for (const EdgeReport::Row& row : report.relations) {
    for (const EdgeTest& test : row.tests) {
      table.add({row.relation.name, test.heads.size() == 1 ? head_text(test.heads[0]) : "all",
                 fixed(test.lift, 2), fixed(test.mass, 2), change_text(test.gold.change),
                 fixed(100 * test.gold.change / row.tests.back().gold.change, 1) + "%",
                 change_text(test.control.change), test.verdict()});
    }
  }
  return "cost: rise of the loss on a relation's own targets when exactly its edges are hidden; "
         "share: of the\ncost in all heads together; random: cost of as much weight elsewhere; "
         "mass: what was hidden\n\n" +
         table.text();
}

std::string interactions_text(const InteractionReport& report) {
  constexpr std::size_t kShown = 12;
  std::vector<Interaction> strongest = report.pairs;
  std::stable_sort(strongest.begin(), strongest.end(), [](const auto& a, const auto& b) {
    return std::abs(a.interaction.change) > std::abs(b.interaction.change);
  });
  strongest.resize(std::min(strongest.size(), kShown));
  Table table({"heads", "both cost", "sum of each", "interaction", "95% interval", ""});
  for (const Interaction& one : strongest) {
    const PairedChange& change = one.interaction;
    table.add({head_text(one.first) + " " + head_text(one.second), change_text(one.joint),
               change_text(one.sum), change_text(change.change), interval_text(change),
               change.low > 0    ? "back each other up"
               : change.high < 0 ? "share a path"
                                 : ""});
  }
  return table.text() + text("the ", strongest.size(), " strongest of ", report.pairs.size(),
                             " pairs; loss of the whole model: ", significant(report.loss), "\n");
}

}  // namespace headlab
