// p of heads from their masses on permuted gold: how often an exchange of the truth among examples
// gives a head as much mass as the truth itself. Private to this layer. Read next:
// permuted_p.cc.
#pragma once

#include <utility>
#include <vector>

#include "heads/head_sums.h"

namespace headlab {

/// p of all heads on relation r, which is number `asked` of what was gathered: the share of
/// permutations, the true gold among them, whose largest mass over heads reaches that of each head.
/// Sums that differ by rounding alone are equal.
void fill_p(HeadsReport& report, const PatternSums& gathered, std::size_t asked, std::size_t r);

/// The smallest p of each relation that is judged, ascending, with the relation. `count`: of them.
std::vector<std::pair<double, std::size_t>> smallest_p(const HeadsReport& report,
                                                       std::size_t count);
/// Fills p_holm from p.
void correct_p(HeadsReport& report, std::size_t count);

}  // namespace headlab
