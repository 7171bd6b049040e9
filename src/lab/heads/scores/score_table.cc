// The table of scores. A row defines how a score is computed (from the tokens, from a head's sums,
// or from its score on a relation), its name in JSON, and its format in tables. To add a score, add
// a row: lists, JSON and tables read it. Rows without a function describe parts of the report that
// are not numbers. Read next: scored_queries.h, head_sums.h (the input of rows), scores.cc.
#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "lab/heads/scores/head_sums.h"

namespace headlab {
namespace {

std::int32_t token_at(const PatternQuery& q, Index s) { return q.keys[s]; }
const TokenFacts& facts_at(const PatternQuery& q, Index s) { return q.facts[token_at(q, s)]; }

template <Index from, Index to>
double near(const PatternQuery& q, Index s) {
  const Index offset = s - q.t;
  return from <= offset && offset <= to ? 1 / static_cast<double>(1 + std::abs(offset)) : 0;
}
template <Index from, Index to>
constexpr ScoreSource kNear = {.weight = near<from, to>, .known = {"near", from, to}};

template <Index key>
constexpr ScoreSource kKey = {.weight = [](const PatternQuery&, Index s) -> double {
                                return s == key;
                              },
                              .known = {"key", key}};

template <Index after>
double repeat(const PatternQuery& q, Index s) {
  const Index at = s - after;
  return at >= 0 && token_at(q, at) == q.token && !(q.same_sequence && at == q.t);
}
template <Index after>
constexpr ScoreSource kRepeat = {.weight = repeat<after>, .known = {"repeat", after}};

double separator(const PatternQuery& q, Index s) { return facts_at(q, s).separator; }
double rare(const PatternQuery& q, Index s) { return facts_at(q, s).count == q.rarest; }

double entropy(const HeadSums& head) { return ratio(head.entropy, head.rows); }
double focus(const HeadSums& head) {
  return head.log_visible > 0 ? 1 - head.entropy / head.log_visible : kUndefined;
}
double confidence(const HeadSums& head) { return ratio(head.largest, head.rows); }
double distance(const HeadSums& head) { return ratio(head.distance, head.rows); }
double row_sum(const HeadSums& head) {
  return head.normalises ? kUndefined : ratio(head.row_sums, head.rows);
}
double rank(const HeadSums& head) {
  const Index n = head.d_value;
  if (n == 0 || head.rows == 0) return kUndefined;  // stored patterns have no outputs
  return effective_rank(Matrix(n, n, [&](Index i, Index j) {
    return head.gram[std::min(i, j) * n + std::max(i, j)];
  }));
}

constexpr ScoreEntry kScores[] = {
    {"mass",
     "mean attention on the ground-truth keys, over queries that share no key with another "
     "relation",
     {.relation = [](const RelationScore& score) { return score.mass; }}},
    {"top1",
     "share of these queries whose largest weight is on a ground-truth key",
     {.relation = [](const RelationScore& score) { return score.top1; }, .hidden = true}},
    {"lift",
     "attention mass above the strongest baseline: (mass - baseline) / (1 - baseline); 1 for a "
     "perfect head, 0 for the baseline",
     {.relation = [](const RelationScore& score) { return score.lift; }}},
    {"lift_untrained",
     "(mass - U) / (1 - U), where U is the mass of the best head before training"},
    {"mass_any_head",
     "mean over queries of the largest mass of any head; above the best head's mass if heads share "
     "the relation"},
    {"p",
     "share of permutations of the ground truth for which some head has as much attention mass",
     {.relation = [](const RelationScore& score) { return score.p; }, .hidden = true}},
    {"p_holm",
     "p corrected for the number of relations (Holm)",
     {.relation = [](const RelationScore& score) { return score.p_holm; }, .hidden = true}},
    {"owner",
     "the relation's best head, if its lift is at least 0.3 and p_holm is below 0.01 on held-out "
     "examples"},
    {"specialization", "share of relations with an owner of their own, heads assigned one to one"},
    {"baselines",
     "top1 of two baselines (best fixed offset, nearest candidate), and of the best head at "
     "queries that they get wrong"},
    {"entropy", "nats, mean over queries of -sum p ln p", {.value = entropy, .always = true}, 3},
    {"focus",
     "1 - entropy / mean ln(visible keys): 0 uniform, 1 a single key",
     {.value = focus, .always = true},
     3},
    {"row_sum",
     "mean over queries of the sum of the weights (1 for softmax); other scores are divided by it",
     {.value = row_sum, .always = true, .optional = true},
     3},
    {"confidence", "mean over queries of the largest weight", {.value = confidence}, 3},
    {"distance", "mean over queries of sum p |key - query|, positions", {.value = distance}},
    {"previous", "mean attention on the token before", kNear<-1, -1>},
    {"next", "mean attention on the token after it", kNear<1, 1>},
    {"first", "mean attention on the first token", kKey<0>},
    {"local", "mean attention on keys at most 2 positions away, at queries that see more keys",
     kNear<-2, 2>},
    {"separator", "mean attention on separators (| . , ; : and the like)", {.weight = separator}},
    {"same", "mean attention on other occurrences of the query's token", kRepeat<0>},
    {"induction",
     "mean attention on the tokens that followed other occurrences of the query's token; if all "
     "repeats have the same period, a positional head scores as high: see `labels`",
     kRepeat<1>},
    {"rare", "mean attention on the rarest of the visible tokens", {.weight = rare, .label = true}},
    {"offsets", "offsets (key - query) of the largest weight, with the share of queries at each"},
    {"labels",
     "positional: 90% of argmaxes at one offset; syntactic: top1 10 points above the best offset; "
     "rare: argmax on the rarest token in half of all queries, 10 points above the best offset"},
    {"rank",
     "effective rank of the output z: exp entropy of its normalised singular values",
     {.value = rank, .optional = true}},
};

}  // namespace

std::span<const ScoreEntry> score_table() {
  static const std::vector<ScoreEntry> all = with_own(kScores, own_scores());
  return all;
}

std::vector<ScoreEntry>& own_scores() {
  static std::vector<ScoreEntry> own;
  return own;
}

double HeadScores::value(std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < score_table().size(); ++row) {
    if (name == score_table()[row].name && row < values.size()) return values[row];
    names.emplace_back(score_table()[row].name);
  }
  throw unknown_name("score of heads", name, names);
}

}  // namespace headlab
