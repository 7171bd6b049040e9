// A report of heads as JSON: the content of heads.json. The scores are those of score_table(), in
// its order. Each relation repeats the numbers of its best head, so that a reader need not search
// for them. An undefined number is null. Read next: scores_result.cc.
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

void append(Json& object, Json::Object members) {
  for (Json::Member& member : members) object.members().push_back(std::move(member));
}

}  // namespace

static Json to_json(const RelationScore& score) {
  Json json = Json::object();
  for (const ScoreEntry& row : score_table()) {
    if (row.from.relation != nullptr) json[row.name] = row.from.relation(score);
  }
  append(json, {{"mass_all", score.mass_all},
                {"baseline", score.baseline},
                {"p_lift", score.p_lift},
                {"queries", score.queries},
                {"examples", score.examples},
                {"owns", score.owns()}});
  return json;
}

static Json to_json(const HeadScores::Offset& offset) {
  return Json::Array{offset.offset, offset.share};
}

namespace {

Json relation_to_json(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const HeadId& head = report.heads[winner.best];
  Json best = report.best_score(r);
  append(best, {{"layer", head.attention_layer},
                {"head", head.head},
                {"mass_untrained", winner.mass_untrained},
                {"lift_untrained", winner.lift_untrained}});
  const auto name_or_null = [&](std::optional<std::size_t> h) {
    return h ? to_json(HeadId(report.heads[*h])) : Json();
  };
  return Json::object(
      {{"name", winner.relation.name},
       {"positional", winner.relation.positional},
       {"owned", winner.owned},
       {"owner", name_or_null(winner.owned ? std::optional(winner.best) : std::nullopt)},
       {"best", winner.candidates > 0 ? best : Json()},
       {"assigned", name_or_null(winner.assigned)},
       {"assigned_owns", winner.assigned_owns},
       {"mass_any_head", winner.mass_any},
       {"exchanges", winner.exchanges},
       {"baselines",
        Json::object(
            {{"best_offset", winner.best_offset},
             {"offset", winner.offset},
             {"nearest", std::isfinite(winner.nearest.top1) ? Json(winner.nearest) : Json()}})}});
}

Json head_to_json(const HeadsReport& report, std::size_t h) {
  const HeadScores& head = report.heads[h];
  Json::Object always, others, patterns, pattern_queries;
  for (std::size_t row = 0; row < head.values.size(); ++row) {
    const ScoreEntry& score = score_table()[row];
    if (score.from.weight == nullptr && score.from.value == nullptr) continue;
    if (score.from.optional && std::isnan(head.values[row])) continue;
    if (score.from.weight != nullptr) {
      patterns.emplace_back(score.name, head.values[row]);
      if (!head.pattern_queries.empty()) {
        pattern_queries.emplace_back(score.name, head.pattern_queries[row]);
      }
    } else if (score.from.always) {
      always.emplace_back(score.name, head.values[row]);
    } else {
      others.emplace_back(score.name, head.values[row]);
    }
  }
  always.emplace_back("rows", head.rows);
  Json json = head_json(head, std::move(always));
  Json& scores = json["scores"] = Json::object();
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    scores[report.relations[r].relation.name] = head.relations[r];
  }
  if (report.distances.empty()) return json;
  append(json, std::move(others));
  const std::optional<HeadsReport::Nearest> nearest = report.nearest_to(h);
  append(json, {{"patterns", patterns},
                {"pattern_queries", pattern_queries},
                {"offsets", head.offsets},
                {"labels", head.labels},
                {"like", head.like},
                {"nearest", nearest ? Json(HeadId(report.heads[nearest->head])) : Json()},
                {"nearest_distance", nearest ? Json(nearest->distance) : Json()}});
  return json;
}

Json division_to_json(const HeadsReport& report, const Division& division) {
  const auto head_at = [&](std::size_t h) -> HeadId { return report.heads[h]; };
  const Division::Kind& best = division.kinds[division.best];
  return Json::object({{"relation", report.relations[division.relation].relation.name},
                       {"heads", mapped(division.heads, head_at)},
                       {"by", division.by()},
                       {"explained", best.explained},
                       {"p", best.p},
                       {"together", division.together},
                       {"queries", division.queries},
                       {"sentence", report.sentence(division)},
                       {"spread", division.spread},
                       {"kinds", division.kinds},
                       {"classes_of", best.name},
                       {"classes", division.classes}});
}

}  // namespace

Json to_json(const HeadsReport& report) {
  Json::Array relations, heads, distances;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    relations.push_back(relation_to_json(report, r));
  }
  for (std::size_t h = 0; h < report.heads.size(); ++h) heads.push_back(head_to_json(report, h));
  for (auto row = report.distances.begin(); row != report.distances.end();
       row += std::ssize(heads)) {
    distances.push_back(std::vector<double>(row, row + std::ssize(heads)));
  }
  Json json =
      stamped({{"attention", report.attention},
               {"examples", report.examples},
               {"different_examples", report.different > 0 ? Json(report.different) : Json()},
               {"permutations", report.permutations},
               {"specialization", report.specialization},
               {"relations", relations},
               {"heads", heads},
               {"divisions", mapped(report.divisions, [&](const Division& one) {
                  return division_to_json(report, one);
                })}});
  if (!distances.empty()) json["distances"] = distances;
  return json;
}

}  // namespace headlab
