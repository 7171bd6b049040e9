// Figures of the program: one head's pattern with the ground truth on it, an overview of all heads,
// emergence of roles, a pruning curve, a sweep. Each is a pure function of results and returns a
// list of items, which `svg` writes. `width` is the width of the picture in units; 0: the
// default for a screen. Read next: picture.h; src/app/report/figures.cc.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "headlab/app/report/heatmap.h"
#include "headlab/app/report/picture.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {

/// Draws the pattern of a head: queries are rows, keys columns. The ground-truth cells of
/// `relation` (as in HeadPattern::truth_of) are outlined: solid if they hold at least half of the
/// query's weight, dashed if not. Queries without ground truth are in brackets.
Picture pattern_figure(const HeadPattern& pattern, std::string_view relation = "",
                       double width = 0);

/// Relation on which a head's lift is largest.
struct HeadRole {
  std::string relation;
  bool owned = false;  // whether the head owns it and is the best one for it
  RelationScore score{};
};
/// Returns the role of each head of a report: the relation it owns, if any. The role of a head
/// without a finite lift has no name.
std::vector<HeadRole> roles_of(const HeadsReport& report);

/// Draws all heads as small maps, a row for each attention layer, in order of original index;
/// removed heads are crossed out. Below each map is its role: mass as a bar, the baseline as a tick
/// on it. `patterns` are those of all heads of the report, in its order.
Picture grid_figure(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                    const HeadsReport& report, double width = 0);

/// Returns the same overview for a terminal of 80 columns, on one screen if it fits.
std::string grid_text(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                      const HeadsReport& report);

/// Draws how heads split relations: for each class of a known split, the mass of the first head to
/// the left of its name and of the others to the right. Error if no classes split any relation.
Picture divisions_figure(const HeadsReport& report, double width = 0);

/// Draws heads by relations: the lift of each as a colour from 0 (chance level) to 1, with its
/// number if there is room, and a star for owners. If classes of tokens split a relation over
/// heads, a second panel is divisions_figure. Error if the report has no heads or no relations.
Picture heads_figure(const HeadsReport& report, double width = 0);

/// Draws the cost of each ablated head: the change of the loss with its interval.
Picture ablation_figure(const AblationReport& report, double width = 0);

/// Returns the history with the names of relations for a reader of this task (its name or its
/// specification): "1 back" for "back1".
HeadsHistory for_reader(HeadsHistory history, std::string_view task);
/// Draws the lift of each relation over a training, and the emergence step of its role.
Picture history_figure(const HeadsHistory& history, double width = 0);

/// Methods that a picture shows if there are many, the most important first.
inline constexpr std::array kTypicalMethods = {"exhaustive", "greedy",    "ablation",
                                               "importance", "magnitude", "random"};

/// Draws the loss against heads kept, for each method, as means with intervals over runs. If the
/// curves have them, a second plot shows the losses after fine-tuning and of models of the same
/// sizes from scratch.
Picture curve_figure(const CurveOverRuns& curve, double width = 0);

/// Losses of a run at its evaluations: held out, and the mean over the training steps before each.
struct RunLosses {
  std::string name;
  std::vector<Index> steps{};
  std::vector<double> losses{}, training{};
  /// NaN if the line of an earlier version has none.
  std::vector<double> accuracies{}, training_accuracies{}, weight_norms{};
};
RunLosses losses_of(std::string name, const std::vector<Json>& log);
/// Draws held-out losses over training; for a single run both losses, both accuracies and the norm
/// of the weights, if the log has them. Error: a run without an evaluation.
Picture losses_figure(const std::vector<RunLosses>& runs, double width = 0);

/// Draws the arms of a comparison side by side: means with intervals, and for each seed a line that
/// joins its values. Error if no arm has a value.
Picture compare_figure(std::span<const Arm> arms, const CompareOptions& options, double width = 0);

/// Returns whether two groups differ only in heads.
bool differs_in_heads(const SweepReport& report);
/// Draws the loss against heads per layer: mean and interval over seeds, each seed a dot. A line
/// for each family of groups; groups whose layers differ in heads are left out. Error unless some
/// groups differ only in heads.
Picture sweep_figure(const SweepReport& report, double width = 0);

}  // namespace headlab
