// Rules are written from the constants that decide. Words of reports in upper layers (enough, not
// told apart) stand here too, so that all of them are in one place. Read next: gold_edges.h,
// pairs.h.
#include "headlab/heads/verdicts.h"

#include "headlab/base/error.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/scores.h"

namespace headlab {

namespace {

using Pair = HeadPairReport;

const std::vector<VerdictWord> kVerdictWords = {
    {"owns", text("lift of ", kOwnerLift, " or more, and p below ", kOwnerP,
                  " after Holm's correction for the number of relations, on examples on which the "
                  "head was not chosen")},
    {"does", "the relation's best head does it if it owns it and does not share it"},
    {"shares", text("no head has a lift of ", Division::kAlone, ", and two or more have one of ",
                    Division::kLeastLift, ", of ", Division::kLeastPart,
                    " of the best one's, and p below ", kOwnerP)},
    {"divided by", text("which of the heads that share a relation does it is told by classes of "
                        "queries: they explain ",
                        Division::kLeastExplained,
                        " of the variance of the heads' shares on other examples, p below ",
                        kOwnerP, " by shuffled classes")},
    {"all alike", text("heads share a relation and their shares differ by less than ",
                       Division::kAlike, " between queries (standard deviation)")},
    {"worse than chance", "the best head gives the gold less than the strongest null does"},
    {"cause",
     text("hiding exactly the relation's edges raises the loss on its own targets, and "
          "more than hiding random edges does (p below ",
          EdgeTest::kMostP, "), by ", EdgeTest::kLeast, " nats and ", EdgeTest::kLeastShare,
          " of the cost in all heads together, with random edges that weigh ",
          EdgeTest::kLeastControl, " of the gold ones or more")},
    {"small", "a cause in all but its size"},
    {"no fair control", text("a cause but for its control: random edges weigh less than ",
                             EdgeTest::kLeastControl, " of the gold ones")},
    {"asks for nothing by itself",
     "the relation's queries have no targets of their own: what is read there is used later, and "
     "no loss tells it"},
    {"pattern and cause disagree", text("lift of ", kOwnerLift, " or more, and no cause")},
    {"redundant", text("both heads add to the right logit directly, the one with less ",
                       Pair::kLeastShare, " of the other's share or more, and both silenced cost ",
                       Pair::kLeast, " nats or more beyond the sum of each alone (p below .001)")},
    {"takes over", text("a head's direct share of the right logit rises when the relation's owner "
                        "is silenced, by ",
                        Pair::kLeastRise,
                        " of the owner's share or more (p below .001), at the same scales of all "
                        "layer norms")},
    {"carried by", text("a change has an interval only if ", kFewestPaired,
                        " examples carry it: (sum |d|)^2 / sum d^2 over the examples' changes d")},
    {"too few", text("fewer than ", kFewestExamples, " examples ask for a relation, or fewer than ",
                     kFewestPaired, " have a target by which a loss is judged")},
    {"born",
     "of a role: the first scored step at which the lift of the relation's head reaches "
     "half of its last value"},
    {"enough",
     "the fewest heads of which no more are measurably better, where the seeds could "
     "tell"},
    {"not told apart",
     "the interval of the difference holds none, or p after correction is .05 or "
     "more: no claim that two are equal"}};

}  // namespace

std::vector<VerdictWord> verdict_words() { return kVerdictWords; }

}  // namespace headlab
