// Rules of conclusions, written from the constants that decide. Words are listed as reports print
// them, and a test compares them with the functions that print them: a word without a rule fails.
// Read next: lab/heads/scores/scores.h, lab/heads/causes/truth_edges.h, lab/heads/causes/pairs.h,
// compare.h.
#include "headlab/lab/studies/conclusions.h"

#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/runs/guards.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

using Words = std::vector<ConclusionWord>;

// Tests, corrections and subjects of conclusions.
constexpr const char* kNone = "none";
constexpr const char* kPermutations = "permutations of the ground truth between examples";
constexpr const char* kHolmRelations = "Holm, over the relations of the task";
constexpr const char* kOneModel = "the mean over held-out examples of one model";
constexpr const char* kHall = "Hall's 95% interval of the mean change, two-sided";
constexpr const char* kFlips = "sign flips of seeds, exact, two-sided";
constexpr const char* kTwoOneSided = "two one-sided tests by sign flips of seeds";
constexpr const char* kHolmArms =
    "Holm, over the differences and the equalities of one table; no factor above the number of "
    "arms "
    "(Shaffer 1986)";
constexpr const char* kHolmFamilies =
    "Holm, over the differences of all groups of all families of the sweep; the equalities of "
    "accuracy have a correction of their own";
constexpr const char* kHolmSettings =
    "Holm, over the differences of all settings of the sweep other than the heads";
constexpr const char* kMeanOfSeeds = "the mean over seeds: of logarithms for losses and steps";

using Guards = std::vector<std::string>;

/// Words with a test, a correction and guards in common.
struct Tested {
  const char *test, *correction, *about;
  Guards guards{};

  ConclusionWord operator()(std::string words, std::string rule) const {
    return {std::move(words), std::move(rule), test, correction, about, guards};
  }
};

/// Words for the owners of relations.
Words of_roles() {
  const Guards guards = {kGuessingGuard, kExamplesGuard, kSizeGuard};
  const Tested owner{kPermutations, kHolmRelations, kOneModel, guards};
  const Tested single{kPermutations, kNone, kOneModel, guards};
  const Tested size{kNone, kNone, kOneModel, guards};
  return {
      owner("owns",
            text("lift of at least ", kOwnerLift, " and p below ", kOwnerP,
                 " (Holm-corrected for the number of relations), on examples that were not used "
                 "to choose the head")),
      owner("owner",
            "the relation's best head owns it (*), and the relation is not distributed "
            "over heads"),
      single("several heads",
             text("no head has a lift of ", Division::kAlone,
                  " or more; at least two heads have p below ", kOwnerP, " and a lift of at least ",
                  Division::kLeastLift, " and at least ", Division::kLeastPart,
                  " of the best head's lift")),
      single("split by", text("for a distributed relation: the class of the query decides which "
                              "head attends to the keys. Classes explain at least ",
                              Division::kLeastExplained,
                              " of the variance of the heads' shares on other examples, with p "
                              "below ",
                              kOwnerP, " when classes are shuffled")),
      size("not split", text("for a distributed relation: the heads' shares differ by less than ",
                             Division::kLeastSpread, " between queries (standard deviation)")),
      size("by no known class",
           "for a distributed relation: none of the tested classes explains the shares")};
}

/// Words for relations without an owner, and for emergence.
Words of_missing_roles() {
  const Guards guards = {kExamplesGuard};
  const Tested part{kPermutations,
                    kHolmRelations,
                    kOneModel,
                    {kGuessingGuard, kExamplesGuard, kSizeGuard}};
  const Tested owner{kPermutations, kHolmRelations, kOneModel, guards};
  const Tested size{kNone, kNone, kOneModel, guards};
  return {
      part("in part", text("no head owns the relation; this many heads have a lift of at least ",
                           kPartLift, " with p below ", kOwnerP, " after correction")),
      owner("no head",
            text("no head has a lift of at least ", kPartLift, " with p below ", kOwnerP)),
      size("at guessing",
           "the guard `guessing` refuses a conclusion: the model predicts the answers no better "
           "than their frequencies do"),
      owner("could be chance",
            text("lift of at least ", kOwnerLift, ", but p is ", kOwnerP,
                 " or more after Holm's correction for the number of relations")),
      size("worse than chance",
           "the best head has less attention mass than the strongest baseline"),
      size("not tested",
           "every sequence has the same ground-truth keys, so permuting them tests nothing"),
      size("no attention of its kind",
           "the relation needs a kind of attention, such as cross-attention, in which the model "
           "has no heads"),
      size("too few", text("fewer than ", kFewestExamples,
                           " examples have a query of the relation, or fewer "
                           "than ",
                           kFewestPaired, " have a target whose loss can be compared")),
      size("emerges",
           text("for a role: first scored step at which the lift of the relation's head reaches "
                "half of its last value, if that last value is at least ",
                kOwnerLift))};
}

/// Words for causal effects.
Words of_causes() {
  const Guards guards = {kGuessingGuard, kExamplesGuard, kControlGuard, kSizeGuard};
  const Tested cause{kHall, kNone, kOneModel, guards};
  const Tested none{kHall, kNone, kOneModel, {kExamplesGuard, kControlGuard}};
  const Tested size{kNone, kNone, kOneModel, guards};
  return {
      cause("cause",
            text("masking the relation's ground-truth edges raises the loss on its own targets, "
                 "and raises it more than masking random edges does (both p below ",
                 EdgeTest::kMostP, "). The rise is at least ", EdgeTest::kLeast,
                 " nats and at least ", EdgeTest::kLeastShare,
                 " of the rise when the edges are masked in all heads. The random edges weigh at "
                 "least ",
                 EdgeTest::kLeastRandom, " of the ground-truth edges")),
      none("no cause", "at least one condition of `cause` does not hold"),
      cause("cause without pattern",
            text("`cause`, although the head's lift is below ", kOwnerLift)),
      none("pattern and cause disagree", text("lift of at least ", kOwnerLift, ", but no `cause`")),
      size("small", "all conditions of `cause` hold except the size of the rise"),
      size("no fair control",
           text("nothing is concluded: the loss rises significantly, but the random edges, which "
                "leave out the ground-truth keys of the targets, weigh less than ",
                EdgeTest::kLeastRandom, " of the ground-truth edges")),
      size(
          "judged on all answers",
          "the relation's queries have no targets of their own, because only later layers use what "
          "they read; the loss is that of all targets of the model")};
}

/// Words for reported changes, and for heads that compensate for others.
Words of_changes() {
  using Pair = HeadPairReport;
  const Tested pair{kHall,
                    "none: p below 0.001 because many pairs are tested",
                    kOneModel,
                    {kGuessingGuard, kExamplesGuard, kSizeGuard}};
  const Tested size{kNone, kNone, kOneModel};
  return {
      size("too skewed",
           text("no interval is given, because the skewness of the examples' changes, divided by "
                "the square root of their number, is above ",
                kMostSkew, "; such an interval would miss the true value too often")),
      size("too heavy a tail",
           text("no interval is given, because a few examples change far more than the others, and "
                "other examples could change still more: Hill's estimate of 1/alpha over the "
                "largest changes is above ",
                kHeaviestTail, ". It is made from ", kFewestTailed, " examples on")),
      size("carried by",
           text("no interval is given, because fewer than ", kFewestPaired,
                " effective examples carry the change: (sum |d|)^2 / sum d^2 over the changes d")),
      pair("redundant",
           text("both heads add directly to the right logit, and the smaller share is at least ",
                Pair::kLeastShare, " of the larger. Ablating both costs at least ", Pair::kLeast,
                " nats more than the sum of ablating each (p below 0.001), and this excess is at "
                "least ",
                Pair::kLeastBeyond,
                " of the cost of both. The scales of all layer norms are held fixed")),
      pair("compensates",
           text("a head's direct share of the right logit rises by at least ", Pair::kLeastRise,
                " of the owner's share when the relation's owner is ablated (p below 0.001). The "
                "scales of all layer norms are held fixed"))};
}

/// Words of `compare` for an arm and the reference. The margins within which two arms are equal are
/// those of measures().
Words of_comparisons() {
  std::string margins;
  for (const Measure& measure : measures()) {
    margins += text(margins.empty() ? "" : ", ", measure.name, " ", measure.margin);
  }
  const Guards guards = {kArmsGuard, kSeedsGuard};
  const Tested told{kFlips, kHolmArms, "the count of seeds that is named", guards};
  const Tested equal{kTwoOneSided,
                     kHolmArms,
                     "the median seed",
                     {kArmsGuard, kGuessingGuard, kFailuresGuard, kSeedsGuard}};
  const Tested none{kNone, kNone, "the arms that are named"};
  return {
      told("lower,higher,earlier,later,different",
           "p is below 0.05 after correction: if arms are swapped at random within seeds, the mean "
           "difference is rarely as large. The conclusion counts the seeds on this side. If the "
           "mean is on the other side because a seed fails, the conclusion says so. If seeds of an "
           "arm fail, the test counts seeds (sign test). `sweep` and "
           "`curve` use the same test. If the best of several groups is selected, each flip is "
           "compared by its largest difference from any group"),
      told("on average",
           "the mean and most seeds lie on opposite sides, because a few seeds differ by much"),
      equal("inconclusive",
            "p after correction is 0.05 or more; this does not show that the two are equal. If the "
            "seeds are too few for the test, the effect and the number that it needs follow"),
      none("not compared",
           "the arms differ in what is measured: task, data, test examples, or the "
           "sizes of a curve"),
      none("also differ in", "other conditions of the runs that differ, such as the steps"),
      equal("equal within", text("the difference lies within the margin, by two tests, each with p "
                                 "below 0.05 after correction. For losses and steps the margin is "
                                 "a factor. Margins: ",
                                 margins, ", or --margin"))};
}

/// Words of `compare` that count seeds. Only the count of seeds that fail is tested.
Words of_seeds() {
  const Tested count{kNone, kNone, "the count of seeds that is named"};
  const Tested sign{"sign test over all seeds", kHolmArms, "the count of seeds that is named"};
  return {count("fails in",
                "number of seeds for which the arm has no value, compared with the reference; "
                "these counts are not tested"),
          sign("the other arm in,fail",
               "number of seeds that fail: their accuracy is below that of the task in `list "
               "tasks`, or, "
               "if it states none, their model is at guessing"),
          count("where both succeed",
                "the difference in the seeds in which neither arm fails; it has no p, because the "
                "choice of seeds is made after the outcome"),
          count("never emerges",
                "for a role: its lift is too low at the last step. It counts as later than every "
                "role that emerges"),
          count("by step",
                "for a role: it is present at the first scored step and may have emerged earlier. "
                "It counts as earlier than every role that emerges after that step"),
          count("where both have one", "only seeds in which both arms have a value are compared"),
          count("no seed has a number in both", "nothing can be compared")};
}

/// Words for one head or several, and for the number of heads that a model uses.
Words of_numbers_of_heads() {
  const Guards guards = {kGuessingGuard, kSeedsGuard};
  const Guards equal_guards = {kGuessingGuard, kFailuresGuard, kSeedsGuard};
  const Guards curve_guards = {kGuessingGuard, kSizesGuard};
  const Tested loss{kFlips, kHolmFamilies, kMeanOfSeeds, guards};
  const Tested size_of_mean{kNone, kNone, kMeanOfSeeds, guards};
  const Tested used{kNone, kNone, kOneModel, curve_guards};
  const Tested accuracy{kTwoOneSided, kHolmFamilies, "the mean accuracy over seeds", equal_guards};
  return {
      loss(
          "heads beat",
          text("the best group has an accuracy of ", kGain,
               " or more above that of the fewest heads, which have a higher loss (p below 0.05)")),
      loss(
          "must attend",
          "largest number of keys that one query must attend to, over all relations, by the ground "
          "truth of the task; stated if it explains the result"),
      loss("not decided by", "the seeds show neither a difference nor equality"),
      loss("Loss falls",
           "every group with fewer heads than the best has a higher loss by the test, and none is "
           "as accurate"),
      size_of_mean("the lowest loss",
                   "no group with more heads has a lower geometric mean of the loss"),
      size_of_mean("no number of heads beats guessing",
                   "half of the models of the best group, or more, are at guessing"),
      accuracy("enough", text("fewest heads that are as accurate as the best group within ", kGain,
                              "; nothing if seeds of either group fail")),
      used("used", kUsedHeads),
      used("needed", kNeededHeads)};
}

/// Words for settings of a sweep other than the number of heads.
Words of_settings() {
  const Guards guards = {kGuessingGuard, kSeedsGuard};
  const Tested loss{kFlips, kHolmSettings, kMeanOfSeeds, guards};
  const Tested mean{kNone, kNone, kMeanOfSeeds, guards};
  return {loss("has a lower loss than",
               "the value with the lowest geometric mean has a lower loss than these, in most "
               "seeds and by the test (p below 0.05); if seeds fail, the test counts seeds"),
          loss("no difference from", "p after correction is 0.05 or more for these values"),
          loss("best value is not decided by",
               "no value has a significantly higher loss than the best"),
          mean("no value of,beats guessing",
               "half of the models with the value of the lowest loss, or more, are at guessing")};
}

}  // namespace

std::string ConclusionWord::explanation() const {
  return text(rule, ". Test: ", test, "; correction: ", correction, "; about: ", about,
              "; guards: ", guards.empty() ? "none" : join(guards, ", "));
}

std::vector<ConclusionWord> conclusion_words() {
  Words all;
  for (const auto& words : {of_roles, of_missing_roles, of_causes, of_changes, of_comparisons,
                            of_seeds, of_numbers_of_heads, of_settings}) {
    const Words more = words();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace headlab
