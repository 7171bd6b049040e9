// Scores of heads, from the examples to the report: what is asked of the heads is drawn up before
// the model runs (queries.cc, permutations.cc, patterns.cc), sums are gathered while it runs
// (evidence.cc), and turned into scores afterwards (against_gold.cc, without_gold.cc). Read next:
// scores_json.cc and src/report/heads_text.cc.
#include "headlab/heads/scores.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/tensor/tape.h"
#include "heads/against_gold.h"
#include "heads/patterns.h"
#include "heads/without_gold.h"

namespace headlab {
namespace {

constexpr Index kFewestPermutations = 199;

std::vector<HeadPlace> places_of(const Transformer& model) {
  std::vector<HeadPlace> places;
  Index layer = 0;
  for (const AttentionModule& module : model.attention_modules()) {
    Index place = 0;
    for (const std::int32_t head : module.attention->heads)
      places.push_back({layer, place++, head, module.kind});
    ++layer;
  }
  return places;
}

/// The examples and what is asked of the heads on them: first the relations, then the patterns of
/// each kind of attention that the model has.
struct Study {
  Example example;
  std::vector<Relation> relations;
  std::vector<AttentionKind> kinds{};
  std::vector<Gold> patterns{};  // by kind, by pattern score
  std::vector<Question> questions{};
  Index length = 0;
  bool causal = true;

  /// The questions of pattern_scores() for heads of this kind begin here.
  std::size_t patterns_of(AttentionKind kind) const {
    const auto place = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
    return relations.size() + static_cast<std::size_t>(place) * pattern_scores().size();
  }
  std::span<const Question> relation_questions() const {
    return std::span(questions).first(relations.size());
  }
};

void add_relations(Study& study, Index permutations) {
  for (std::size_t r = 0; r < study.relations.size(); ++r) {
    const QuerySet set = queries_of(study.example, study.relations, r, study.causal);
    const Key key = Key{}.fold("permutations").fold(study.relations[r].name);
    study.questions.push_back({set, PermutedGold(set, permutations, key)});
  }
}

void add_patterns(Study& study, const Task& task, const std::vector<HeadPlace>& places) {
  const Batch& batch = study.example.batch;
  const std::vector<TokenFacts> facts = facts_of(batch, task);
  for (const HeadPlace& place : places)
    if (std::find(study.kinds.begin(), study.kinds.end(), place.kind) == study.kinds.end())
      study.kinds.push_back(place.kind);
  for (const AttentionKind kind : study.kinds)
    for (const ScoreEntry& score : pattern_scores())
      study.patterns.push_back(pattern_gold(score, {batch, kind, study.causal}, facts));
  for (std::size_t i = 0; i < study.patterns.size(); ++i) {  // only now: they must stay in place
    const AttentionKind kind = study.kinds[i / pattern_scores().size()];
    const QuerySet set = queries_of(study.patterns[i], Sight{batch, kind, study.causal});
    study.questions.push_back({set, PermutedGold(set, 0, Key{})});
  }
}

/// Runs a model over the examples of a study.
void gather(const Transformer& model, const Batch& batch, Index batch_size, Evidence& evidence) {
  const NoGrad no_grad;
  for (Index first = 0; first < batch.size; first += batch_size) {
    const Index end = std::min(batch.size, first + batch_size);
    ModelCaptures captures;
    model.forward(batch.rows(first, end), {}, {.captures = &captures});
    evidence.add(batch, first, end, captures);
  }
}

void fill_heads(HeadsReport& report, const Study& study, const Evidence& evidence, bool all) {
  for (std::size_t h = 0; h < evidence.heads(); ++h) {
    const HeadPlace& place = evidence.place(h);
    HeadScores& head = report.heads.emplace_back();
    head.layer = place.layer, head.head = place.head;
    fill_entropy(head, evidence.of(h));
    fill_relations(head, evidence, h, study.relations.size());
    if (all) {
      const std::size_t patterns = study.patterns_of(place.kind);
      fill_patterns(head, evidence, h, patterns);
      fill_labels(head, evidence, h, patterns, study.relations);
    }
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
  const std::vector<HeadPlace> places = places_of(*options.untrained);
  Evidence evidence(
      places, study.relation_questions(),
      {.length = study.length, .causal = study.causal, .permuted = false, .shapes = false});
  gather(*options.untrained, study.example.batch, options.batch, evidence);
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    RelationWinner& winner = report.relations[r];
    fill_untrained(winner, report.heads[winner.best].relations[r].mass, evidence, r);
  }
}

}  // namespace

HeadsReport score_heads(const Transformer& model, const Task& task, const HeadsOptions& options) {
  require(options.examples >= 2 && options.batch >= 1,
          "scoring heads needs at least two examples, one to choose and one to judge, got ",
          options.examples, " in batches of ", options.batch);
  require(options.permutations >= kFewestPermutations, "p < ", kOwnerP, " takes at least ",
          kFewestPermutations, " permutations, got ", options.permutations);
  HeadsReport report;
  report.examples = options.examples, report.permutations = options.permutations;
  for (const AttentionModule& module : model.attention_modules())
    report.attention.push_back(module.name);
  const std::vector<HeadPlace> places = places_of(model);
  Study study{.example = task.make(Key{}.fold("heads"), options.examples, Split::validation),
              .relations = task.relations()};
  study.length = std::max(model.config().length, model.config().source_length);
  study.causal = model.config().architecture != Architecture::encoder;
  add_relations(study, options.permutations);
  if (options.without_gold) add_patterns(study, task, places);
  Evidence evidence(places, study.questions,
                    {.length = study.length,
                     .causal = study.causal,
                     .permuted = true,
                     .shapes = options.without_gold});
  gather(model, study.example.batch, options.batch, evidence);
  fill_heads(report, study, evidence, options.without_gold);
  fill_winners(report, study, evidence);
  if (options.untrained != nullptr) compare_with_untrained(report, study, options);
  return report;
}

}  // namespace headlab
