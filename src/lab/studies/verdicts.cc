// Rules are written from the constants that decide. Words stand here as reports say them, and a
// test reads the functions that say them: a word without a rule is noticed. Read next:
// heads/scores.h, heads/gold_edges.h, heads/pairs.h, compare.h.
#include "headlab/lab/verdicts.h"

#include "headlab/base/error.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/scores.h"
#include "headlab/lab/compare.h"
#include "headlab/lab/sweep.h"

namespace headlab {
namespace {

using Words = std::vector<VerdictWord>;

/// Which head does what.
Words of_heads() {
  return {
      {"owns", text("lift of ", kOwnerLift, " or more, and p below ", kOwnerP,
                    " after Holm's correction for the number of relations, on examples on which "
                    "the head was not chosen")},
      {"does it,does", "the relation's best head owns it, (*), and does not share it"},
      {"shares it,shares,heads share it",
       text("no head has a lift of ", Division::kAlone, ", and two or more have one of ",
            Division::kLeastLift, ", of ", Division::kLeastPart, " of the best one's, and p below ",
            kOwnerP)},
      {"divided by", text("which of the heads that share a relation does it is told by classes of "
                          "queries: they explain ",
                          Division::kLeastExplained,
                          " of the variance of the heads' shares on other examples, p below ",
                          kOwnerP, " by shuffled classes")},
      {"all alike", text("heads share a relation and their shares differ by less than ",
                         Division::kAlike, " between queries (standard deviation)")},
      {"by nothing that is known",
       "heads share a relation, and no classes that are tried tell which of them does it"},
      {"in part", text("no head owns the relation; so many have a lift above 0 with p below ",
                       kOwnerP, " after correction")},
      {"nobody does it", text("no head has a lift above 0 with p below ", kOwnerP)},
      {"could be chance", text("lift of ", kOwnerLift, " or more, but p is ", kOwnerP,
                               " or more after Holm's correction for the number of relations")},
      {"worse than chance", "the best head gives the gold less than the strongest null does"},
      {"no head of its kind",
       "the relation asks for a kind of attention, such as cross-attention, in which the model has "
       "no head"},
      {"too few",
       text("fewer than ", kFewestExamples, " examples ask for a relation, or fewer than ",
            kFewestPaired, " have a target by which a loss is judged")},
      {"born", text("of a role: the first scored step at which the lift of the relation's head "
                    "reaches half of its last value, if that is ",
                    kOwnerLift, " or more")}};
}

/// Whether it matters.
Words of_causes() {
  using Pair = HeadPairReport;
  return {
      {"cause",
       text("hiding exactly the relation's edges raises the loss on its own targets, and "
            "more than hiding random edges does (p below ",
            EdgeTest::kMostP, "), by ", EdgeTest::kLeast, " nats and ", EdgeTest::kLeastShare,
            " of the cost in all heads together, with random edges that weigh ",
            EdgeTest::kLeastControl, " of the gold ones or more")},
      {"no cause", "the same was tested, and one of these conditions does not hold"},
      {"cause without pattern", text("a cause, though the head's lift is below ", kOwnerLift)},
      {"pattern and cause disagree", text("lift of ", kOwnerLift, " or more, and no cause")},
      {"small", "a cause in all but its size"},
      {"no fair control", text("a cause but for its control: random edges weigh less than ",
                               EdgeTest::kLeastControl, " of the gold ones")},
      {"asks for nothing by itself",
       "the relation's queries have no targets of their own: what is read there is used later, and "
       "no loss tells it"},
      {"carried by", text("a change has an interval only if ", kFewestPaired,
                          " examples carry it: (sum |d|)^2 / sum d^2 over the changes d")},
      {"redundant",
       text("both heads add to the right logit directly, the one with less ", Pair::kLeastShare,
            " of the other's share or more, and both silenced cost ", Pair::kLeast,
            " nats or more beyond the sum of each alone (p below .001), which is ",
            Pair::kLeastBeyond, " of all that both cost, at the same scales of all layer norms")},
      {"takes over", text("a head's direct share of the right logit rises when the relation's "
                          "owner is silenced, by ",
                          Pair::kLeastRise,
                          " of the owner's share or more (p below .001), at the same scales of all "
                          "layer norms")}};
}

/// Whether one is better than the other.
Words of_comparisons() {
  std::string margins;
  for (const Measure& measure : measures())
    margins += text(margins.empty() ? "" : ", ", measure.name, " ", measure.margin);
  return {
      {"lower,higher,told apart",
       "p is below .05, by flipping the signs of seeds, after Holm's correction for all that is "
       "compared"},
      {"not told apart", "p after correction is .05 or more: no claim that two are equal"},
      {"equal within", text("two one-sided tests, each with p below .05, put the difference within "
                            "the margin that is named: a factor for losses and births (",
                            margins, ", or --margin)")},
      {"several heads beat one",
       text("the best group has an accuracy of ", kGain,
            " or more above that with one head, and p below .05 that one head has more loss")},
      {"gain nothing",
       text("one head is as accurate as the best within ", kGain, ", by two one-sided tests")},
      {"not told by", "neither: the seeds tell no difference, and no equality"},
      {"the lowest mean loss", "no group with more heads has a lower geometric mean of the loss"},
      {"enough", text("the fewest heads that are as accurate as the best within ", kGain,
                      " by two one-sided tests, or the best, if all with fewer are told to be "
                      "worse; nothing where the seeds tell neither")}};
}

}  // namespace

std::vector<VerdictWord> verdict_words() {
  Words all = of_heads();
  for (const Words& more : {of_causes(), of_comparisons()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace headlab
