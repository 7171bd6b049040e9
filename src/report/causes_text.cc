// Tables of causes. Changes of the loss carry their sign, because an ablation may well help; maps
// show costs alone, and what helps is blank there. Long lists are cut to what stands out: the JSON
// beside the run has all of it. Read next: heatmap.h.
#include "headlab/report/causes_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/columns.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr double kSignificant = 0.01;

/// "[+1.2, +1.4]"
std::string interval_text(const PairedChange& change) {
  return "[" + signed_text(change.low) + ", " + signed_text(change.high) + "]";
}

/// Changes of the loss as shades: rows are attention modules, columns the heads' born numbers.
std::string change_map(const AblationReport& report, double largest,
                       const HeatmapOptions& options) {
  std::int32_t columns = 0;
  for (const HeadAblation& one : report.heads) columns = std::max(columns, one.head.head + 1);
  std::vector<Scalar> shades(report.attention.size() * columns);
  for (const HeadAblation& one : report.heads) {
    const auto at = one.head.layer * columns + one.head.head;
    shades[at] = static_cast<Scalar>(std::max(0.0, one.change.change) / largest);
  }
  return heatmap(shades, counted(report.attention.size()), counted(columns), options);
}

constexpr std::size_t kShownCompositions = 10;

/// Numbers with two decimals, one behind the other.
std::string list_text(const std::vector<double>& values) {
  if (values.empty()) return "-";
  return join(texts_of(values, [](double value) { return fixed(value, 2); }), " ");
}

}  // namespace

std::string ablation_text(const AblationReport& report, const HeatmapOptions& options) {
  if (report.heads.empty()) return "the model has no head\n";
  double largest = 0;
  Texts table({"head", "loss", "change", "95% interval", "p", "p < .01"});
  for (const HeadAblation& one : report.heads) {
    largest = std::max(largest, one.change.change);
    table.add({head_text(one.head), significant(one.loss), signed_text(one.change.change),
               interval_text(one.change), significant(one.change.p),
               one.change.p < kSignificant ? "*" : ""});
  }
  std::string map;
  if (largest > 0) {
    map = text(
              "what it costs to silence a head: a row for each attention module, a column for "
              "each head,\n1.00 is ",
              signed_text(largest), " nats per target\n\n") +
          change_map(report, largest, options) + "\n";
  }
  return map + table.to_string() +
         text("loss of the whole model: ", significant(report.loss), ", on ",
              grouped(report.targets), " targets\n") +
         legend("ablation");
}

std::string gold_edges_text(const EdgeReport& report) {
  Texts table(
      {"relation", "head", "lift", "mass", "cost", "share", "random", "its mass", "verdict"});
  std::vector<std::string> too_few, rests_on;
  for (const EdgeReport::Row& row : report.relations) {
    for (const EdgeTest& test : row.tests) {
      if (!test.gold.enough()) continue;
      table.add({row.relation.name, test.heads.size() == 1 ? head_text(test.heads[0]) : "all",
                 fixed(test.lift, 2), fixed(test.mass, 2), signed_text(test.gold.change),
                 row.tests.back().gold.is_rise() ? percent(test.share, 1) : "-",
                 signed_text(test.control.change), fixed(test.control_mass, 2), test.verdict()});
    }
    if (row.tests.empty()) continue;
    const EdgeTest& test = row.tests.back();
    const auto examples = test.gold.examples;
    if (!test.gold.enough())
      too_few.push_back(text(row.relation.name, " (", examples, ")"));
    else
      rests_on.push_back(
          text(row.relation.name, " ", grouped(test.targets), " in ", grouped(examples)));
  }
  return text(
      "cost: rise of the loss on a relation's own targets when exactly its edges are "
      "hidden; share: of the\ncost in all heads together; random: cost of other edges "
      "that weigh as much; mass: what was hidden\n\n",
      table.to_string(),
      rests_on.empty() ? ""
                       : "\n" + wrapped("rests on targets, in examples: " + join(rests_on, ", ")),
      too_few.empty() ? ""
                      : wrapped(text("too few examples with a target to judge ", too_few.size(),
                                     " relations: ", join(too_few, ", "))));
}

std::string interactions_text(const InteractionReport& report) {
  constexpr std::size_t kShown = 12;
  std::vector<Interaction> strongest = report.pairs;
  std::stable_sort(strongest.begin(), strongest.end(), [](const auto& a, const auto& b) {
    return std::abs(a.interaction.change) > std::abs(b.interaction.change);
  });
  strongest.resize(std::min(strongest.size(), kShown));
  Texts table({"heads", "both cost", "if independent", "difference", "95% interval", "verdict"});
  for (const Interaction& one : strongest) {
    const PairedChange& change = one.interaction;
    table.add({head_text(one.first) + " " + head_text(one.second), signed_text(one.joint),
               signed_text(one.independent), signed_text(change.change), interval_text(change),
               !change.enough()                     ? text("too few (", change.examples, ")")
               : one.backs_up()                     ? "back each other up: " + one.relation
               : change.low > Interaction::kLeast   ? "cost more together"
               : change.high < -Interaction::kLeast ? "share a path"
                                                    : ""});
  }
  return "if independent: what both would cost if each one's effect on the logits were added\n\n" +
         table.to_string() +
         text("the ", strongest.size(), " strongest of ", report.pairs.size(),
              " pairs; loss of the whole model: ", significant(report.loss), ", on ",
              grouped(report.targets), " targets\n") +
         legend("interactions");
}

std::string circuits_text(const CircuitsReport& report) {
  Texts heads({"head", "matches", "copying", "copies"});
  for (const CircuitSummary& one : report.heads) {
    heads.add({head_text(one.head), fixed(one.matches, 2), list_text(one.copying),
               list_text(one.copies)});
  }
  std::vector<Composition> strongest = report.compositions;
  std::stable_sort(strongest.begin(), strongest.end(),
                   [](const auto& a, const auto& b) { return a.strength > b.strength; });
  strongest.resize(std::min(strongest.size(), kShownCompositions));
  Texts pairs({"from", "to", "reads by", "strength", "random pairs", "percentile"});
  for (const Composition& one : strongest) {
    const char* kind = one.kind == 'Q' ? "queries" : one.kind == 'K' ? "keys" : "values";
    pairs.add({head_text(one.from), head_text(one.to), kind, fixed(one.strength, 3),
               fixed(one.random, 3), fixed(one.percentile, 1)});
  }
  const std::string note =
      "matches: share of tokens that score highest for themselves; copying: sum of eigenvalues / "
      "sum of\ntheir sizes, from -1 to 1; copies: share of tokens that raise themselves most (both "
      "by target)\n\n";
  return note + heads.to_string() +
         (strongest.empty()
              ? ""
              : "\nthe strongest compositions\n\n" + pairs.to_string() + legend("composition"));
}

std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& names, Index k,
                              const HeatmapOptions& options) {
  const auto V = static_cast<Index>(names.size()), W = matrix.size(1);
  require(matrix.size(0) == V && W % V == 0 && k >= 0 && k < W / V, "a matrix ", matrix.shape(),
          " has no block ", k, " over ", V, " tokens");
  std::vector<Scalar> shades;
  for (Index i = 0; i < V; ++i) {
    const Scalar* row = matrix.data() + i * W + k * V;
    const Scalar largest = *std::max_element(row, row + V);
    for (Index j = 0; j < V; ++j)
      shades.push_back(largest > 0 ? std::max(Scalar{0}, row[j] / largest) : 0);
  }
  return heatmap(shades, names, names, options);
}

std::string attribution_text(const AttributionReport& report) {
  Texts table(row_of("part", report.targets));
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    table.add(row_of(name, texts_of(values, [](double value) { return fixed(value, 3); })));
  };
  for (std::size_t p = 0; p < report.parts.size(); ++p) add(report.parts[p], report.shares[p]);
  add("sum", report.logits);
  return "what each part adds to the right answer's logit above the mean logit: mean, in logits, "
         "by target\n\n" +
         table.to_string();
}

std::string patching_text(const PatchReport& report, const HeatmapOptions& options) {
  Texts table({"head", "restored"});
  for (const PatchReport::Head& one : report.heads)
    table.add({head_text(one.head), percent(one.restored, 1)});
  std::vector<Scalar> shades;
  std::size_t positions = 0;
  double most = 0;
  for (const auto& row : report.residual) {
    positions = std::max(positions, row.size());
    for (const double restored : row) most = std::max(most, restored);
  }
  for (const auto& row : report.residual) {
    for (const double restored : row)
      shades.push_back(static_cast<Scalar>(most > 0 ? std::max(0.0, restored) / most : 0));
    shades.resize(shades.size() + positions - row.size());
  }
  return text("mean logit difference: clean ", fixed(report.clean, 2), ", corrupted ",
              fixed(report.corrupted, 2), "\n\n") +
         table.to_string() + legend("patching") +
         "\nthe residual stream: a row for each place (before each block, and after the last), a "
         "column for\neach position; 1.00 restores " +
         percent(most, 1) + " of the difference, the most that any of them does\n\n" +
         heatmap(shades, counted(report.residual.size()), counted(positions), options);
}

}  // namespace headlab
