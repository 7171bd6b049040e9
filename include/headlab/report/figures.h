// The program's figures: one head's pattern with the truth on it, all heads at one glance, when
// roles were born, a pruning curve, a sweep. Each is a pure function of results and gives a list of
// items, which `svg` and `pdf` write. `width` is that of the picture in units; 0: one for a screen.
// Read next: picture.h; src/app/report/figures.cc.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "headlab/heads/activations.h"
#include "headlab/heads/lessons.h"
#include "headlab/heads/scores.h"
#include "headlab/heads/tracking.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/curve.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/picture.h"

namespace headlab {

/// The pattern of a head: queries are rows, keys columns. The gold cells of `relation` (as in
/// HeadPattern::gold_of) are outlined: whole where the query's weight on them is at least half of
/// what it has, dashed where they are missed; queries without gold stand in brackets.
Picture pattern_figure(const HeadPattern& pattern, std::string_view relation = "",
                       double width = 0);

/// The relation on which a head's lift is largest.
struct HeadRole {
  std::string relation;
  bool owned = false;  // whether the head owns it and is the best one for it
  RelationScore score{};
};
/// The role of each head of a report; that of a head without a finite lift has no name. An owner's
/// is what it owns.
std::vector<HeadRole> roles_of(const HeadsReport& report);

/// All heads as small maps, a row for each attention module, in the order in which they were born;
/// removed ones are crossed out. Below each its role: mass as a bar, chance (the null) as a tick on
/// it. `patterns` are those of all heads of the report, in its order.
Picture grid_figure(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                    const HeadsReport& report, double width = 0);

/// The same for a terminal of 80 columns, on one screen where it fits.
std::string grid_text(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                      const HeadsReport& report);

/// How heads divide relations: for each class of a division that is known the mass of the first
/// head to the left of its name, of the others to the right. Error if no classes divide any.
Picture divisions_figure(const HeadsReport& report, double width = 0);

/// The lift of each relation over a training, and when its role was born.
Picture history_figure(const HeadsHistory& history, double width = 0);

/// The methods that a picture shows if there are many, the most important first.
inline constexpr std::array kTypicalMethods = {"exhaustive", "greedy",    "ablation",
                                               "importance", "magnitude", "random"};

/// Loss against heads kept, for each method, as means with intervals over runs; beside it, where
/// the curves have them, the losses after fine-tuning and of models of the same sizes from scratch.
Picture curve_figure(const CurveOverRuns& curve, double width = 0);

/// The losses of a run at its evaluations: held out, and the mean over the steps of training before
/// it.
struct RunLosses {
  std::string name;
  std::vector<Index> steps{};
  std::vector<double> losses{}, training{};
};
/// Reads losses from the lines of metrics.jsonl.
RunLosses losses_of(std::string name, const std::vector<Json>& log);
/// Held-out losses over training; of a single run both. Error: a run without an evaluation.
Picture losses_figure(const std::vector<RunLosses>& runs, double width = 0);

/// Whether two groups differ in heads alone.
bool differs_in_heads(const SweepReport& report);
/// Loss against heads of a layer: mean and interval over seeds, each seed a dot. A line for each
/// family of groups; groups whose layers differ in heads are left out. Error unless some differ in
/// heads alone.
Picture sweep_figure(const SweepReport& report, double width = 0);

}  // namespace headlab
