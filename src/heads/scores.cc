// Scores of heads, from the examples to the report: what is asked of the heads is drawn up before
// the model runs (queries.cc, permutations.cc, patterns.cc), sums are gathered while it runs
// (evidence.cc), and turned into scores afterwards (score_table.cc, against_gold.cc,
// without_gold.cc). Read next: scores_json.cc and src/report/heads_text.cc.
#include "headlab/heads/scores.h"

#include <algorithm>
#include <deque>

#include "headlab/base/error.h"
#include "headlab/train/streams.h"
#include "heads/from_evidence.h"
#include "heads/patterns.h"

namespace headlab {
namespace {

constexpr Index kFewestPermutations = 199;

/// The examples and what is asked of the heads on them: first the relations, then, for each kind of
/// attention that the model has, what the rows of score_table() ask for.
struct Study {
  Example example;
  std::vector<Relation> relations;
  bool causal;
  std::vector<AttentionKind> kinds{};
  std::vector<std::size_t> first_of_kind{};  // the first question of score_table() for each kind
  std::deque<Gold> patterns{};               // a deque: questions point to its elements
  std::vector<Question> questions{};

  void add_relations(Index permutations) {
    for (std::size_t r = 0; r < relations.size(); ++r) {
      const QuerySet set = relation_queries(example, relations, r, causal);
      const Key key = Key{}.fold("permutations").fold(relations[r].name);
      questions.push_back({set, PermutedGold(set, permutations, key)});
    }
  }

  void add_patterns(const Transformer& model, const Task& task) {
    const std::vector<TokenFacts> facts = facts_of(example.batch, task);
    for (const AttentionModule& module : model.attention_modules()) {
      if (module.attention->heads.empty() || std::ranges::count(kinds, module.kind) > 0) continue;
      kinds.push_back(module.kind);
      first_of_kind.push_back(questions.size());
      const Sight sight{example.batch, module.kind, causal};
      for (const ScoreEntry& row : score_table()) {
        if (row.from.wants == nullptr) continue;
        patterns.push_back(pattern_gold(row, sight, facts));
        const QuerySet set = lone_queries(patterns.back(), sight);
        questions.push_back({set, PermutedGold(set, 0, Key{})});
      }
    }
  }

  /// The first question of score_table() for heads of this kind.
  std::size_t patterns_of(AttentionKind kind) const {
    return first_of_kind[std::ranges::find(kinds, kind) - kinds.begin()];
  }
};

/// The value of each row of the table, as far as it is asked for.
std::vector<double> values_of(const HeadEvidence& head, const Evidence& evidence, bool all,
                              std::size_t patterns) {
  std::vector<double> values;
  for (const ScoreEntry& row : score_table()) {
    double value = kUndefined;
    if (row.from.value != nullptr && (row.from.always || all)) value = row.from.value(head);
    if (row.from.wants != nullptr && all) value = pattern_mass(head, evidence, patterns++);
    values.push_back(value);
  }
  return values;
}

void fill_heads(HeadsReport& report, const Study& study, const Evidence& evidence, bool all) {
  for (const HeadEvidence& sums : evidence.heads()) {
    HeadScores& head = report.heads.emplace_back(HeadScores{sums.id});
    const std::size_t patterns = all ? study.patterns_of(sums.kind) : 0;
    head.chosen_on = relation_scores(sums, evidence, study.relations.size(), 0);
    head.relations = relation_scores(sums, evidence, study.relations.size(), 1);
    head.values = values_of(sums, evidence, all, patterns);
    if (!all) continue;
    head.offsets = offsets_of(sums);
    head.labels = labels_of(head, sums, evidence, study.relations, patterns);
  }
  if (all) fill_map(report, evidence);
}

void fill_winners(HeadsReport& report, const Study& study, const Evidence& evidence) {
  for (std::size_t r = 0; r < study.relations.size() && !report.heads.empty(); ++r) {
    fill_p(report, evidence, r);
    report.relations.push_back(winner_of(report, evidence, r, study.relations[r]));
  }
  fill_assignment(report, evidence);
}

void compare_with_untrained(HeadsReport& report, const Study& study, const HeadsOptions& options) {
  Evidence evidence(*options.untrained, std::span(study.questions).first(study.relations.size()),
                    {.permuted = false, .shapes = false});
  evidence.gather(*options.untrained, study.example.batch, options.batch);
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    fill_untrained(report.relations[r], report.best_score(r).mass, evidence, r);
}

}  // namespace

HeadsReport score_heads(const Transformer& model, const Task& task, const HeadsOptions& options) {
  require(options.examples >= 2 && options.batch >= 1,
          "scoring heads needs at least two examples, one to choose and one to judge, got ",
          options.examples, " in batches of ", options.batch);
  require(options.permutations >= kFewestPermutations, "p < ", kOwnerP, " takes at least ",
          kFewestPermutations, " permutations, got ", options.permutations);
  Study study{.example = task.make(streams::scored(), options.examples, Split::validation),
              .relations = task.relations(),
              .causal = model.config().architecture != Architecture::encoder};
  study.add_relations(options.permutations);
  if (options.without_gold) study.add_patterns(model, task);
  Evidence evidence(model, study.questions, {.shapes = options.without_gold});
  evidence.gather(model, study.example.batch, options.batch);
  HeadsReport report{.attention = module_names(model),
                     .examples = options.examples,
                     .permutations = options.permutations};
  fill_heads(report, study, evidence, options.without_gold);
  fill_winners(report, study, evidence);
  if (options.untrained != nullptr) compare_with_untrained(report, study, options);
  return report;
}

}  // namespace headlab
