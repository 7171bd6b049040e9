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

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The mass that a null reaches on `judged`, which `fitted` was used to choose.
double offset_null(const RelationEvidence& fitted, const RelationEvidence& judged) {
  const auto best = std::max_element(fitted.offset_hits.begin(), fitted.offset_hits.end());
  return ratio(judged.offset_hits[static_cast<std::size_t>(best - fitted.offset_hits.begin())],
               judged.queries);
}

double position_null(const HeadEvidence& fitted, const RelationEvidence& judged, Index length) {
  double sum = 0;
  for (std::size_t i = 0; i < judged.gold_at.size(); ++i) {
    const double rows = fitted.pattern_rows[i / static_cast<std::size_t>(length)];
    sum += rows > 0 ? judged.gold_at[i] * fitted.pattern[i] / rows : 0;
  }
  return ratio(sum, judged.queries);
}

/// The score of one head on split `judge`; nulls that must be chosen are chosen on split A.
RelationScore score(const Evidence& evidence, std::size_t judge, std::size_t head, std::size_t r,
                    bool positional) {
  const RelationEvidence& relation = evidence.split(judge).relations[r];
  const RelationEvidence& fitted = evidence.split(0).relations[r];
  const HeadEvidence& sums = evidence.split(judge).heads[head];
  RelationScore score;
  score.queries = relation.queries;
  score.mass = ratio(sums.mass[r], relation.queries);
  score.mass_all = ratio(sums.mass_all[r], relation.queries_all);
  score.top1 = ratio(sums.top1[r], relation.queries);
  score.null = ratio(relation.uniform, relation.queries);
  if (!positional) {
    score.null =
        std::max({score.null, offset_null(fitted, relation),
                  position_null(evidence.split(0).heads[head], relation, evidence.length())});
  }
  const bool defined = score.null < 1 && relation.queries > 0;
  score.lift = defined ? (score.mass - score.null) / (1 - score.null)
                       : std::numeric_limits<double>::quiet_NaN();
  return score;
}

Evidence gather(Transformer& model, const Task& task, const HeadsOptions& options, Index heads) {
  const NoGrad no_grad;
  Evidence evidence(heads, task.relations().size(), model.config().length,
                    model.config().architecture == Architecture::decoder);
  const Example example = task.make(Key{}.fold("heads"), options.examples, Split::validation);
  for (Index first = 0; first < options.examples; first += options.batch) {
    const Index end = std::min(options.examples, first + options.batch);
    ModelCaptures captures;
    model.forward(example.batch.rows(first, end), {}, {.captures = &captures});
    evidence.add(example, first, end, captures);
  }
  return evidence;
}

RelationWinner winner(const std::vector<HeadScores>& heads, std::size_t r,
                      const Relation& relation) {
  const auto mass_on_a = [r](const HeadScores& head) { return head.chosen_on[r].mass; };
  const auto best = std::max_element(
      heads.begin(), heads.end(),
      [&](const HeadScores& a, const HeadScores& b) { return mass_on_a(a) < mass_on_a(b); });
  return {relation, static_cast<std::size_t>(best - heads.begin()),
          best->relations[r].lift >= kOwnerLift};
}

Json score_to_json(const RelationScore& score) {
  Json json = Json::object();
  json["mass"] = score.mass;
  json["top1"] = score.top1;
  json["lift"] = finite_or_null(score.lift);
  json["mass_all"] = score.mass_all;
  json["null"] = score.null;
  json["queries"] = score.queries;
  return json;
}

}  // namespace

std::span<const ScoreEntry> score_table() { return kScores; }

HeadsReport score_heads(Transformer& model, const Task& task, const HeadsOptions& options) {
  require(options.examples >= 2 && options.batch >= 1,
          "scoring heads needs at least two examples, one to choose and one to judge, got ",
          options.examples, " in batches of ", options.batch);
  HeadsReport report;
  report.examples = options.examples;
  for (const AttentionModule& module : model.attention_modules()) {
    const auto layer = static_cast<Index>(report.attention.size());
    report.attention.push_back(module.name);
    for (const std::int32_t head : module.attention->heads) {
      report.heads.push_back({.layer = layer, .head = head});
    }
  }
  const Evidence evidence = gather(model, task, options, static_cast<Index>(report.heads.size()));
  const std::vector<Relation> relations = task.relations();
  const SplitEvidence& b = evidence.split(1);
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    HeadScores& head = report.heads[h];
    head.entropy = ratio(b.heads[h].entropy, b.rows);
    head.focus = b.log_visible > 0 ? 1 - b.heads[h].entropy / b.log_visible : 0;
    for (std::size_t r = 0; r < relations.size(); ++r) {
      head.chosen_on.push_back(score(evidence, 0, h, r, relations[r].positional));
      head.relations.push_back(score(evidence, 1, h, r, relations[r].positional));
    }
  }
  for (std::size_t r = 0; r < relations.size() && !report.heads.empty(); ++r) {
    report.relations.push_back(winner(report.heads, r, relations[r]));
  }
  return report;
}

Json HeadsReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["examples"] = examples;
  Json& list = json["relations"] = Json::array();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const HeadScores& head = heads[relations[r].best];
    Json best = score_to_json(head.relations[r]);
    best["layer"] = head.layer;
    best["head"] = head.head;
    best["p"] = nullptr;
    Json entry = Json::object();
    entry["name"] = relations[r].relation.name;
    entry["positional"] = relations[r].relation.positional;
    entry["owner"] = relations[r].owned ? Json(Json::Array{head.layer, head.head}) : Json(nullptr);
    entry["best"] = std::move(best);
    list.push_back(std::move(entry));
  }
  Json& rows = json["heads"] = Json::array();
  for (const HeadScores& head : heads) {
    Json row = Json::object();
    row["layer"] = head.layer;
    row["head"] = head.head;
    row["entropy"] = head.entropy;
    row["focus"] = head.focus;
    Json scores = Json::object();
    for (std::size_t r = 0; r < relations.size(); ++r) {
      scores[relations[r].relation.name] = score_to_json(head.relations[r]);
    }
    row["scores"] = std::move(scores);
    rows.push_back(std::move(row));
  }
  return json;
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
