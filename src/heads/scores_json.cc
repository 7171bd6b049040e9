// A report of heads as JSON: what heads.json holds. The scores are those of score_table(), in its
// order. Each relation names its best head once more beside its numbers, so that a reader need not
// search. A number that is not defined is null. Read next: src/cli/heads.cc.
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/heads/scores.h"

namespace headlab {
namespace {

void append(Json& object, Json::Object members) {
  for (Json::Member& member : members) object.members().push_back(std::move(member));
}

}  // namespace

static Json to_json(const RelationScore& score) {
  Json json = Json::object();
  for (const ScoreEntry& row : score_table())
    if (row.from.relation != nullptr) json[row.name] = row.from.relation(score);
  append(json, {{"mass_all", score.mass_all},
                {"null", score.null},
                {"queries", score.queries},
                {"examples", score.examples}});
  return json;
}

static Json to_json(const Baseline& baseline) {
  return Json::object({{"top1", baseline.top1},
                       {"wrong", baseline.wrong},
                       {"best_top1_where_wrong", baseline.head_top1_where_wrong}});
}

static Json to_json(const HeadScores::Offset& offset) {
  return Json::Array{offset.offset, offset.share};
}

namespace {

Json relation_to_json(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const HeadId& head = report.heads[winner.best];
  Json best = report.best_score(r);
  append(best, {{"layer", head.layer},
                {"head", head.head},
                {"mass_untrained", winner.mass_untrained},
                {"lift_untrained", winner.lift_untrained}});
  const auto name_or_null = [&](std::optional<std::size_t> h) {
    return h ? to_json(HeadId(report.heads[*h])) : Json();
  };
  return Json::object(
      {{"name", winner.relation.name},
       {"positional", winner.relation.positional},
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

Json head_to_json(const HeadsReport& report, const HeadScores& head) {
  Json::Object always, others, patterns;
  for (std::size_t row = 0; row < head.values.size(); ++row) {
    const ScoreEntry& score = score_table()[row];
    if (score.from.weight == nullptr && score.from.value == nullptr) continue;
    Json::Object& group = score.from.weight != nullptr ? patterns
                          : score.from.always          ? always
                                                       : others;
    group.emplace_back(score.name, head.values[row]);
  }
  Json json = head_json(head, std::move(always));
  Json& scores = json["scores"] = Json::object();
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    scores[report.relations[r].relation.name] = head.relations[r];
  if (report.distances.empty()) return json;
  append(json, std::move(others));
  append(json, {{"patterns", patterns},
                {"offsets", head.offsets},
                {"labels", head.labels},
                {"map", Json::Array{head.map[0], head.map[1]}}});
  return json;
}

}  // namespace

Json to_json(const HeadsReport& report) {
  Json::Array relations, heads, distances;
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    relations.push_back(relation_to_json(report, r));
  for (const HeadScores& head : report.heads) heads.push_back(head_to_json(report, head));
  for (auto row = report.distances.begin(); row != report.distances.end(); row += std::ssize(heads))
    distances.push_back(std::vector<double>(row, row + std::ssize(heads)));
  Json json =
      stamped({{"attention", report.attention},
               {"examples", report.examples},
               {"different_examples", report.different > 0 ? Json(report.different) : Json()},
               {"permutations", report.permutations},
               {"specialization", report.specialization},
               {"relations", relations},
               {"heads", heads}});
  if (!distances.empty()) json["distances"] = distances;
  return json;
}

Finding finding_of(const HeadsReport& report) {
  const std::string best = "of the relation's best head, on examples it was not chosen on";
  const Table relations{"relations",
                        {{"name", "relation", "which keys a query must read"},
                         {"best.layer,head", "best head", "most mass on half of the examples"},
                         {"best.mass", "mass", best, 3},
                         {"best.top1", "top1", best, 3},
                         {"best.lift", "lift", best, 3},
                         {"best.null", "null", "mass of the strongest pattern without content", 3},
                         {"best.mass_untrained", "untrained", "mass before training", 3},
                         {"best.p", "p", "how often chance does as well", 3},
                         {"best.queries", "queries", "that the scores rest on"},
                         {"best.examples", "examples", "that the scores rest on"}}};
  Table heads{"heads", {kHeadColumn}};
  for (const ScoreEntry& score : score_table()) {
    const bool pattern = score.from.weight != nullptr;
    if (pattern || score.from.value != nullptr)
      if (score.from.always || !report.distances.empty())
        heads.columns.push_back({text(pattern ? "patterns." : "", score.name), score.name,
                                 score.meaning, score.column.decimals});
  }
  for (const RelationWinner& winner : report.relations)
    for (const ScoreEntry& score : score_table())
      if (score.column.width > 0)
        heads.columns.push_back({text("scores.", winner.relation.name, ".", score.name),
                                 text(winner.relation.name, " ", score.name), score.meaning,
                                 score.column.decimals});
  Finding found{.about = report};
  found.tables = {table_of(found.about, relations), table_of(found.about, heads)};
  return found;
}

}  // namespace headlab
