// Scores of heads: from the sums of evidence.cc to mass, top-1, nulls and lift. Whatever must be
// chosen (the head of a relation, the best offset, the average pattern) is chosen on split A; what
// is reported comes from split B. Read next: src/report/heads_text.cc.
#include "headlab/heads/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/tensor/tape.h"
#include "heads/evidence.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

constexpr std::array<ScoreEntry, 5> kScores = {{
    {"mass",
     "mean attention on the gold keys, over eligible queries that share no key with another "
     "relation"},
    {"top1", "share of these queries whose largest weight lies on a gold key"},
    {"lift", "(mass - M0) / (1 - M0), M0 the strongest null: 1 for a perfect head, 0 for the null"},
    {"entropy", "nats, mean over queries of -sum p ln p"},
    {"focus", "1 - entropy / mean ln(visible keys): 0 uniform, 1 a single key"},
}};

double ratio(double sum, Index count) { return count > 0 ? sum / static_cast<double>(count) : 0; }

/// What the head's average pattern on split A reaches on the disjoint queries of a split.
double position_null(const HeadEvidence& head, const QuerySet& set, std::size_t split,
                     Index length) {
  double sum = 0;
  for (const EligibleQuery& query : set.queries) {
    const double rows = head.pattern_rows[static_cast<std::size_t>(query.t)];
    if (!query.disjoint || split_of(query.b) != split || rows == 0) {
      continue;
    }
    for (const std::int32_t key : query.keys) {
      sum += head.pattern[static_cast<std::size_t>(query.t * length + key)] / rows;
    }
  }
  return ratio(sum, set.splits[split].disjoint);
}

/// The score of one head on one split; nulls that must be chosen are chosen on split A.
RelationScore score(const HeadEvidence& head, const Answer& answer, const QuerySet& set,
                    std::size_t split, Index length) {
  const QuerySet::Split& facts = set.splits[split];
  const Answer::Split& sums = answer.splits[split];
  RelationScore score;
  score.queries = facts.disjoint;
  score.mass = ratio(sums.mass, facts.disjoint);
  score.mass_all = ratio(sums.mass_all, facts.all);
  score.top1 = ratio(sums.top1, facts.disjoint);
  score.null = facts.uniform;
  if (!set.positional) {
    score.null = std::max({facts.uniform, facts.offset, position_null(head, set, split, length)});
  }
  if (score.null < 1 && facts.disjoint > 0) {
    score.lift = (score.mass - score.null) / (1 - score.null);
  }
  return score;
}

/// The share of permutations, the true gold among them, whose largest mass over heads reaches that
/// of each head. Sums that differ by rounding alone are equal.
void fill_p(HeadsReport& report, const Evidence& evidence, const Question& question,
            std::size_t r) {
  const Index permutations = question.permuted.permutations();
  std::vector<double> largest(static_cast<std::size_t>(permutations));
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const std::vector<double>& permuted = evidence.of(h).answers[r].permuted;
    for (std::size_t p = 0; p < largest.size(); ++p) {
      largest[p] = std::max(largest[p], permuted[p]);
    }
  }
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const double mass = evidence.of(h).answers[r].splits[1].mass * (1 - 1e-12);
    const auto reached = std::count_if(largest.begin(), largest.end(),
                                       [mass](double chance) { return chance >= mass; });
    RelationScore& score = report.heads[h].relations[r];
    if (score.queries > 0) {
      score.p = static_cast<double>(1 + reached) / static_cast<double>(1 + permutations);
    }
  }
}

/// The relation's head among those of its kind: the largest mass on split A.
RelationWinner winner(const HeadsReport& report, const std::vector<HeadPlace>& places,
                      std::size_t r, const Relation& relation) {
  RelationWinner winner{.relation = relation};
  for (std::size_t h = 0; h < places.size(); ++h) {
    if (places[h].kind != relation.kind) {
      continue;
    }
    const bool better =
        report.heads[h].chosen_on[r].mass > report.heads[winner.best].chosen_on[r].mass;
    winner.best = winner.candidates == 0 || better ? h : winner.best;
    ++winner.candidates;
  }
  const RelationScore& best = report.heads[winner.best].relations[r];
  winner.p = best.p;
  winner.owned = best.p < kOwnerP && best.lift >= kOwnerLift;
  return winner;
}

std::vector<HeadPlace> places_of(Transformer& model) {
  std::vector<HeadPlace> places;
  Index layer = 0;
  for (const AttentionModule& module : model.attention_modules()) {
    Index place = 0;
    for (const std::int32_t head : module.attention->heads) {
      places.push_back({layer, place++, head, module.kind});
    }
    ++layer;
  }
  return places;
}

std::vector<Question> questions_of(const Example& example, const std::vector<Relation>& relations,
                                   const HeadsOptions& options, bool causal) {
  std::vector<Question> questions;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const QuerySet set = queries_of(example, relations, r, causal);
    const Key key = Key{}.fold("permutations").fold(relations[r].name);
    questions.push_back({set, PermutedGold(set, options.permutations, key)});
  }
  return questions;
}

void run_model(const Transformer& model, const Batch& batch, Index batch_size, Evidence& evidence) {
  const NoGrad no_grad;
  for (Index first = 0; first < batch.size; first += batch_size) {
    const Index end = std::min(batch.size, first + batch_size);
    ModelCaptures captures;
    model.forward(batch.rows(first, end), {}, {.captures = &captures});
    evidence.add(batch, first, end, captures);
  }
}

/// Scores on relations of another kind of attention stay empty: no query counts.
void fill_head(HeadScores& head, const Evidence& evidence, std::size_t h,
               const std::vector<Question>& questions) {
  const HeadEvidence& sums = evidence.of(h);
  head.entropy = ratio(sums.entropy, sums.rows);
  head.focus = sums.log_visible > 0 ? 1 - sums.entropy / sums.log_visible : 0;
  for (std::size_t r = 0; r < questions.size(); ++r) {
    const auto on = [&](std::size_t split) {
      const QuerySet& set = questions[r].set;
      return set.kind == evidence.place(h).kind
                 ? score(sums, sums.answers[r], set, split, evidence.length())
                 : RelationScore{};
    };
    head.chosen_on.push_back(on(0));
    head.relations.push_back(on(1));
  }
}

}  // namespace

std::span<const ScoreEntry> score_table() { return kScores; }

HeadsReport score_heads(Transformer& model, const Task& task, const HeadsOptions& options) {
  require(options.examples >= 2 && options.batch >= 1,
          "scoring heads needs at least two examples, one to choose and one to judge, got ",
          options.examples, " in batches of ", options.batch);
  require(options.permutations >= 199, "p < ", kOwnerP, " takes at least 199 permutations, got ",
          options.permutations);
  HeadsReport report;
  report.examples = options.examples, report.permutations = options.permutations;
  for (const AttentionModule& module : model.attention_modules()) {
    report.attention.push_back(module.name);
  }
  const std::vector<HeadPlace> places = places_of(model);
  const std::vector<Relation> relations = task.relations();
  const bool causal = model.config().architecture == Architecture::decoder;
  const Example example = task.make(Key{}.fold("heads"), options.examples, Split::validation);
  const std::vector<Question> questions = questions_of(example, relations, options, causal);
  Evidence evidence(places, questions, model.config().length, causal);
  run_model(model, example.batch, options.batch, evidence);
  for (std::size_t h = 0; h < places.size(); ++h) {
    report.heads.push_back({.layer = places[h].layer, .head = places[h].head});
    fill_head(report.heads[h], evidence, h, questions);
  }
  for (std::size_t r = 0; r < relations.size() && !places.empty(); ++r) {
    fill_p(report, evidence, questions[r], r);
    report.relations.push_back(winner(report, places, r, relations[r]));
    report.relations[r].exchanges = questions[r].permuted.different();
  }
  return report;
}

double mean_entropy(Index rows, Index n, const Scalar* weights) {
  double sum = 0;
  for (Index i = 0; i < rows * n; ++i) {
    const auto p = static_cast<double>(weights[i]);
    sum -= p > 0 ? p * std::log(p) : 0;
  }
  return ratio(sum, rows);
}

double jensen_shannon_distance(Index n, const Scalar* p, const Scalar* q) {
  double divergence = 0;
  for (Index i = 0; i < n; ++i) {
    const auto a = static_cast<double>(p[i]), b = static_cast<double>(q[i]);
    const double middle = (a + b) / 2;
    divergence +=
        (a > 0 ? a * std::log(a / middle) : 0) / 2 + (b > 0 ? b * std::log(b / middle) : 0) / 2;
  }
  return std::sqrt(std::max(0.0, divergence));
}

}  // namespace headlab::inline HEADLAB_SCALAR
