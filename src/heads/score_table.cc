// The table of scores: `headlab list scores`, the columns of the report and the members of its JSON
// are read from here. A score that asks for keys by the tokens alone has its question in the row;
// a new one is a row. Read next: scores.cc for those that need gold, evidence.cc for the others.
#include <algorithm>
#include <array>
#include <cmath>

#include "heads/patterns.h"

namespace headlab {
namespace {

constexpr Index kWindow = 2;  // the word "local" in its row says so too

std::int32_t token_at(const PatternQuery& q, Index s) { return q.keys[s]; }
const TokenFacts& facts_at(const PatternQuery& q, Index s) { return q.facts[token_at(q, s)]; }

bool previous(const PatternQuery& q, Index s) { return s == q.t - 1; }
bool next(const PatternQuery& q, Index s) { return s == q.t + 1; }
bool first(const PatternQuery&, Index s) { return s == 0; }
bool local(const PatternQuery& q, Index s) { return std::abs(s - q.t) <= kWindow; }
bool separator(const PatternQuery& q, Index s) { return facts_at(q, s).separator; }
bool same(const PatternQuery& q, Index s) {
  return token_at(q, s) == q.token && !(q.same_sequence && s == q.t);
}
bool induction(const PatternQuery& q, Index s) { return s > 0 && same(q, s - 1); }
bool rare(const PatternQuery& q, Index s) { return facts_at(q, s).count == q.rarest; }

constexpr std::array<ScoreEntry, 25> kScores = {{
    {"mass",
     "mean attention on the gold keys, over eligible queries that share no key with another "
     "relation",
     nullptr},
    {"top1", "share of these queries whose largest weight lies on a gold key", nullptr},
    {"lift", "(mass - M0) / (1 - M0), M0 the strongest null: 1 for a perfect head, 0 for the null",
     nullptr},
    {"lift_untrained", "(mass - U) / (1 - U), U the mass of the best head at initial values",
     nullptr},
    {"mass_any_head",
     "mean over queries of the largest mass that any head has: above that of the best head where "
     "heads share the relation",
     nullptr},
    {"p", "share of permuted golds on which some head has as much mass", nullptr},
    {"owner", "the relation's best head, if p < .01 and lift >= .3 on held-out examples", nullptr},
    {"specialization", "share of relations with an owner of their own, heads assigned one to one",
     nullptr},
    {"baselines", "top1 of the best offset and of the nearest candidate, and where they are wrong",
     nullptr},
    {"entropy", "nats, mean over queries of -sum p ln p", nullptr},
    {"focus", "1 - entropy / mean ln(visible keys): 0 uniform, 1 a single key", nullptr},
    {"confidence", "mean over queries of the largest weight", nullptr},
    {"distance", "mean over queries of sum p |key - query|, positions", nullptr},
    {"previous", "mean attention on the token before", previous},
    {"next", "mean attention on the token behind", next},
    {"first", "mean attention on the first token", first},
    {"local", "mean attention on keys at most 2 away, where there are others", local},
    {"separator", "mean attention on separators (| . , ; : and the like)", separator},
    {"same", "mean attention on other places of the query's token", same},
    {"induction",
     "mean attention on tokens behind other places of the query's token; where all repeats have "
     "one period a positional head scores as much: see its label",
     induction},
    {"rare", "mean attention on the rarest of the visible tokens", rare},
    {"offsets", "share of queries by argmax key - query", nullptr},
    {"labels",
     "positional: 90% of argmaxes at one offset; syntactic: top1 10 points above the best offset; "
     "rare: argmax on the rarest token in half of all queries, 10 points above the best offset",
     nullptr},
    {"rank", "effective rank of the output z: exp entropy of its normalised singular values",
     nullptr},
    {"map", "plane where heads lie near whose patterns do: mean Jensen-Shannon distance, scaled",
     nullptr},
}};

}  // namespace

std::span<const ScoreEntry> score_table() { return kScores; }

std::span<const ScoreEntry> pattern_scores() {
  const auto asks = [](const ScoreEntry& score) { return score.wants != nullptr; };
  const auto first = std::find_if(kScores.begin(), kScores.end(), asks);
  return {first, std::find_if_not(first, kScores.end(), asks)};
}

}  // namespace headlab
