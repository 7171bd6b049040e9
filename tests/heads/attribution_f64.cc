// In double the parts of a logit sum to it within 1e-10 of the largest: nothing is left out, and
// nothing counts twice.
#include "heads/attribution_checks.h"

namespace headlab { namespace {

TEST(AttributionInDouble, PartsSumToTheLogits) { expect_parts_sum_to_logits(1e-10); }

}  // namespace
}  // namespace headlab
