// How far whole rows of a head are from those that the rules of score_table() make: a pattern is a
// rule whose weights are divided by their sum. Sums go over queries that see two keys or more,
// because all patterns are the same where there is one key. Read next: score_table.cc.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/heads/activations.h"
#include "headlab/heads/matrix.h"
#include "headlab/heads/scores.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/streams.h"
#include "heads/asked_gold.h"

namespace headlab {
namespace {

constexpr double kAlike = 0.5, kNearUniform = 0.2;  // see HeadLikeness::like

/// A head against each pattern: sums over the queries that ask for some key.
struct DistanceSums {
  std::vector<double> distance, of_uniform;
  std::vector<Index> queries;

  explicit DistanceSums(std::size_t patterns)
      : distance(patterns), of_uniform(patterns), queries(patterns) {}

  void add(const PatternQuery& query, const Scalar* weights, SeenKeys seen) {
    const std::vector<double> row(weights, weights + query.keys.size());
    std::vector<double> uniform(row.size());
    std::fill(uniform.begin() + seen.first, uniform.begin() + seen.end,
              1 / static_cast<double>(seen.count()));
    std::size_t p = 0;
    for (const ScoreEntry& score : score_table())
      if (score.from.weight != nullptr) add(p++, row, uniform, pattern_row(score, query));
    add(p, row, uniform, uniform);
  }
  void add(std::size_t p, const std::vector<double>& row, const std::vector<double>& uniform,
           const std::vector<double>& known) {
    if (known.empty()) return;
    distance[p] += jensen_shannon_distance(std::ssize(row), row.data(), known.data());
    of_uniform[p] += jensen_shannon_distance(std::ssize(row), uniform.data(), known.data());
    ++queries[p];
  }
};

HeadLikeness likeness_of(const HeadId& head, const DistanceSums& sums,
                         const std::vector<std::string>& patterns) {
  const auto mean = [](double sum, Index count) {
    return count > 0 ? sum / static_cast<double>(count) : kUndefined;
  };
  HeadLikeness found{.head = head};
  double smallest = kAlike;
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    found.distances.push_back(mean(sums.distance[p], sums.queries[p]));
    found.of_uniform.push_back(mean(sums.of_uniform[p], sums.queries[p]));
    const double share = found.distances[p] / found.of_uniform[p];
    if (found.of_uniform[p] > 0 && share < smallest) smallest = share, found.like = patterns[p];
  }
  if (found.like.empty() && found.distances.back() < kNearUniform) found.like = patterns.back();
  return found;
}

}  // namespace

std::vector<std::string> pattern_names() {
  std::vector<std::string> names;
  for (const ScoreEntry& score : score_table())
    if (score.from.weight != nullptr) names.emplace_back(score.name);
  names.emplace_back("uniform");
  return names;
}

std::vector<double> pattern_row(const ScoreEntry& score, const PatternQuery& query) {
  std::vector<double> row;
  double sum = 0;
  for (Index s = 0; s < std::ssize(query.keys); ++s)
    sum += row.emplace_back(score.from.weight(query, s));
  for (double& weight : row) weight /= sum;
  return sum > 0 ? row : std::vector<double>();
}

LikenessReport compare_with_patterns(const Transformer& model, const Task& task, Index examples) {
  require(examples > 0, "patterns are compared on one example or more, not ", examples);
  const Batch batch =
      task.make(streams::scored(), at_most_different(task, examples), Split::validation).batch;
  const bool causal = model.config().architecture != Architecture::encoder;
  const std::vector<TokenFacts> facts = facts_of(batch, task);
  const std::vector<AttentionModule> modules = model.attention_modules();
  LikenessReport report{.patterns = pattern_names(), .examples = batch.size};
  const std::vector<HeadId> heads = all_heads(model);
  std::vector<DistanceSums> sums(heads.size(), DistanceSums(report.patterns.size()));
  for_parts(batch, 64, [&](const Batch& part, Index) {
    const Activations activations(model, part);
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const Tensor& pattern = activations.captures().attention[heads[h].module].pattern;
      const Index place = place_of(model, heads[h]);
      const AttentionModule& module = modules[heads[h].module];
      const Mask mask{part, module.kind, causal, module.window};
      for_pattern_queries(mask, facts, [&](Index b, const PatternQuery& query) {
        const Index row = (b * pattern.size(1) + place) * pattern.size(2) + query.t;
        sums[h].add(query, pattern.data() + row * pattern.size(3), mask.seen(b, query.t));
      });
    }
  });
  for (std::size_t h = 0; h < heads.size(); ++h)
    report.heads.push_back(likeness_of(heads[h], sums[h], report.patterns));
  return report;
}

Finding finding_of(const LikenessReport& report, std::string_view first) {
  Table heads{"heads", {kHeadColumn}};
  Table uniform{.name = "uniform",
                .columns = {{"layer", "uniform in", "the first module of its kind", kPlain, "",
                             false}},
                .note =
                    "mean Jensen-Shannon distance of rows: 0 the same, 0.833 nothing in common"};
  for (const std::string& name : report.patterns) {
    heads.columns.push_back({"distances." + name, name, "", 3});
    uniform.columns.push_back({name, name, "", 3});
  }
  heads.columns.push_back({"like", "most like",
                           "the nearest pattern of those from which the head is less than half as "
                           "far as uniform attention is; uniform: below 0.2"});
  for (const std::string& name : report.patterns)
    heads.columns.push_back({"of_uniform." + name, name, "", kHidden});
  for (const HeadLikeness& head : report.heads) {
    Json::Array& row = heads.rows.emplace_back(Json::Array{head.head});
    row.insert(row.end(), head.distances.begin(), head.distances.end());
    row.emplace_back();
    if (!head.like.empty()) row.back() = head.like;
    row.insert(row.end(), head.of_uniform.begin(), head.of_uniform.end());
    Json::Array alike = {head.head.module};
    alike.insert(alike.end(), head.of_uniform.begin(), head.of_uniform.end());
    const bool same = !uniform.rows.empty() &&
                      std::equal(alike.begin() + 1, alike.end(), uniform.rows.back().begin() + 1);
    if (!same) uniform.rows.push_back(alike);
  }
  const auto place = std::ranges::find(report.patterns, first) - report.patterns.begin() + 1;
  std::ranges::stable_sort(heads.rows, {}, [&](const Json::Array& row) {
    const bool known = std::cmp_less(place, report.patterns.size() + 1) && row[place].is_number();
    return known ? row[place].number() : HUGE_VAL;
  });
  return {.about = stamped({{"examples", report.examples}, {"patterns", report.patterns}}),
          .tables = {heads, uniform}};
}

}  // namespace headlab
