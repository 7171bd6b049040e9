// Rules of conclusions, written from the constants that decide. Words are listed as reports print
// them, and a test compares them with the functions that print them: a word without a rule fails.
// Read next: heads/scores.h, heads/gold_edges.h, heads/pairs.h, compare.h.
#include "headlab/lab/verdicts.h"

#include <utility>

#include "headlab/base/error.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/scores.h"
#include "headlab/lab/compare.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/curve.h"

namespace headlab {
namespace {

using Words = std::vector<VerdictWord>;

// Tests, corrections and subjects of conclusions.
constexpr const char* kNone = "none";
constexpr const char* kPermutations = "permutations of the ground truth between examples";
constexpr const char* kHolmRelations = "Holm, over the relations of the task";
constexpr const char* kOneModel = "the mean over held-out examples of one model";
constexpr const char* kHall = "Hall's 95% interval of the mean change, two-sided";
constexpr const char* kFlips = "sign flips of seeds, exact, two-sided";
constexpr const char* kTwoOneSided = "two one-sided tests by sign flips of seeds";
constexpr const char* kHolmArms = "Holm, over all that is compared in one table";
constexpr const char* kHolmFamilies = "Holm, over all groups of all families of the sweep";
constexpr const char* kMeanOfSeeds = "the mean over seeds: of logarithms for losses and steps";

/// Words with a test and a correction in common.
struct Tested {
  const char *test, *correction, *about;

  VerdictWord operator()(std::string words, std::string rule) const {
    return {std::move(words), std::move(rule), test, correction, about};
  }
};

/// Words for the owners of relations.
Words of_roles() {
  const Tested owner{kPermutations, kHolmRelations, kOneModel};
  const Tested single{kPermutations, kNone, kOneModel};
  const Tested size{kNone, kNone, kOneModel};
  return {
      owner("owns",
            text("lift of ", kOwnerLift, " or more, and p below ", kOwnerP,
                 " after Holm's correction for the number of relations, on examples on which "
                 "the head was not chosen")),
      owner("owner", "the relation's best head owns it, (*), and it is not distributed over heads"),
      single("several heads",
             text("no head has a lift of ", Division::kAlone, ", and two or more have one of ",
                  Division::kLeastLift, ", of ", Division::kLeastPart,
                  " of the best one's, and p below ", kOwnerP)),
      single("split by", text("for a distributed relation: the head that attends to the keys "
                              "depends on the class of "
                              "the query: classes explain ",
                              Division::kLeastExplained,
                              " of the variance of the heads' shares on other examples, p below ",
                              kOwnerP, " by shuffled classes")),
      size("not split", text("for a distributed relation: the heads' shares differ by less than ",
                             Division::kAlike, " between queries (standard deviation)")),
      size("by no known class",
           "for a distributed relation: none of the tested classes explains the shares")};
}

/// Words for relations without an owner, and for emergence.
Words of_missing_roles() {
  const Tested owner{kPermutations, kHolmRelations, kOneModel};
  const Tested size{kNone, kNone, kOneModel};
  return {
      owner("in part", text("no head owns the relation; so many have a lift above 0 with p below ",
                            kOwnerP, " after correction")),
      owner("no head", text("no head has a lift above 0 with p below ", kOwnerP)),
      owner("could be chance",
            text("lift of ", kOwnerLift, " or more, but p is ", kOwnerP,
                 " or more after Holm's correction for the number of relations")),
      size("worse than chance",
           "the best head attends to the ground-truth keys less than the strongest baseline does"),
      size("not tested",
           "every sequence has the same ground-truth keys, so permuted truth is no baseline"),
      size("no attention of its kind",
           "the relation asks for a kind of attention, such as cross-attention, in which the model "
           "has no head"),
      size("too few",
           text("fewer than ", kFewestExamples, " examples ask for a relation, or fewer than ",
                kFewestPaired, " have a target by which a loss is judged")),
      size("emerges",
           text("for a role: the first scored step at which the lift of the relation's head "
                "reaches half of its last value, if that is ",
                kOwnerLift, " or more"))};
}

/// Words for causal effects.
Words of_causes() {
  const Tested cause{kHall, kNone, kOneModel};
  const Tested size{kNone, kNone, kOneModel};
  return {
      cause("cause",
            text("masking exactly the relation's edges raises the loss on its own targets, and "
                 "more than masking random edges does (p below ",
                 EdgeTest::kMostP, "), by ", EdgeTest::kLeast, " nats and ", EdgeTest::kLeastShare,
                 " of the cost in all heads together, with random edges that weigh ",
                 EdgeTest::kLeastControl, " of the ground-truth edges or more")),
      cause("no cause", "the same was tested, and one of these conditions does not hold"),
      cause("cause without pattern", text("a cause, though the head's lift is below ", kOwnerLift)),
      cause("pattern and cause disagree", text("lift of ", kOwnerLift, " or more, and no cause")),
      size("small", "a cause in all but its size"),
      size("no fair control", text("a cause without a fair control: random edges weigh less than ",
                                   EdgeTest::kLeastControl, " of the ground-truth edges")),
      size("has no targets of its own",
           "the relation's queries have no targets of their own: later layers use what is read "
           "there, "
           "so no loss measures it")};
}

/// Words for reported changes, and for heads that compensate for others.
Words of_changes() {
  using Pair = HeadPairReport;
  const Tested pair{kHall, "none: p below .001 because many pairs are tested", kOneModel};
  const Tested size{kNone, kNone, kOneModel};
  return {
      size("too skewed",
           text("a change has an interval only if the skew of its examples, divided by the root of "
                "their number, is at most ",
                kMostSkew, ": beyond that, intervals miss the truth too often")),
      size("carried by", text("a change has an interval only if ", kFewestPaired,
                              " examples carry it: (sum |d|)^2 / sum d^2 over the changes d")),
      pair("redundant",
           text("both heads add to the right logit directly, the one with less ", Pair::kLeastShare,
                " of the other's share or more, and ablating both costs ", Pair::kLeast,
                " nats or more beyond the sum of each alone (p below .001), which is ",
                Pair::kLeastBeyond, " of the cost of both, at the same scales of all layer norms")),
      pair("compensates",
           text("a head's direct share of the right logit rises when the relation's "
                "owner is ablated, by ",
                Pair::kLeastRise,
                " of the owner's share or more (p below .001), at the same scales of all "
                "layer norms"))};
}

/// Words for comparisons.
Words of_comparisons() {
  std::string margins;
  for (const Measure& measure : measures()) {
    margins += text(margins.empty() ? "" : ", ", measure.name, " ", measure.margin);
  }
  const Tested told{kFlips, kHolmArms, "the count of seeds that is named"};
  const Tested equal{kTwoOneSided, kHolmArms, kMeanOfSeeds};
  return {
      told(
          "lower,higher,earlier,later,different",
          "p is below .05 after correction: swapping the arms within seeds seldom makes as large a "
          "mean difference. The words name the seeds that lie on this side; the mean may lie on "
          "the other side if a seed fails, and is then named too. `sweep` and `curve` decide by "
          "the "
          "same test; where the best of several is picked, flips are compared by the largest "
          "difference from any"),
      told("on average",
           "the mean lies on the other side than most seeds, because a few differ by much"),
      equal("inconclusive", "p after correction is .05 or more: no claim that two are equal"),
      equal("equal within", text("the difference lies within the margin that is named, each test "
                                 "with p below .05 after correction: a factor for losses and steps "
                                 "(",
                                 margins, ", or --margin)"))};
}

/// Words for counts of seeds.
Words of_seeds() {
  const Tested count{kNone, kNone, "the count of seeds that is named"};
  return {count("fails in",
                "so many seeds of the arm have no such number, against so many of the "
                "reference; the counts are not tested"),
          count("fails,fail", text("for a seed: its loss is more than ", kFailedTimes,
                                   " times the median of its arm, or its share more than ",
                                   kFailedShare, " below it")),
          count("never emerges",
                "for a role: its lift is too low at the last step; it counts as later "
                "than every role that emerges by the last scored step"),
          count("by step",
                "for a role: it is there at the first scored step and may have come earlier; "
                "it counts as earlier than those that come after that step"),
          count("where both have one",
                "the comparison is over the seeds in which both arms have the number"),
          count("no seed has a number in both", "nothing can be compared")};
}

/// Words for one head or several, and for the number of heads that a model uses.
Words of_numbers_of_heads() {
  const Tested loss{kFlips, kHolmFamilies, kMeanOfSeeds};
  const Tested size_of_mean{kNone, kNone, kMeanOfSeeds};
  const Tested accuracy{kTwoOneSided, kHolmFamilies, "the mean accuracy over seeds"};
  return {loss("several heads beat one",
               text("the best group has an accuracy of ", kGain,
                    " or more above that with one head, and one head has more loss, p below .05")),
          accuracy("gain nothing", text("one head is as accurate as the best within ", kGain)),
          loss("must read",
               "the largest number of keys of all relations at one query, from the ground truth of "
               "the task; stated if several relations, or a single key, explain the result"),
          loss("not decided by", "neither: the seeds show no difference, and no equality"),
          size_of_mean("the lowest mean loss",
                       "no group with more heads has a lower geometric mean of the loss"),
          accuracy("enough",
                   text("the fewest heads that are as accurate as the best within ", kGain,
                        ", or the best, if all with fewer have more loss by the test; "
                        "nothing if the seeds show neither")),
          size_of_mean("used", kUsedHeads),
          size_of_mean("needed", kNeededHeads)};
}

}  // namespace

std::string VerdictWord::explanation() const {
  return text(rule, ". Test: ", test, "; correction: ", correction, "; about: ", about);
}

std::vector<VerdictWord> verdict_words() {
  Words all;
  for (const auto& words : {of_roles, of_missing_roles, of_causes, of_changes, of_comparisons,
                            of_seeds, of_numbers_of_heads}) {
    const Words more = words();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace headlab
