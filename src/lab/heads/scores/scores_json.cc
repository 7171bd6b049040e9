// Parts of heads.json next to its tables: facts of the report, the shared relations with all their
// classes, and the distances of patterns.
// Read next: scores_tables.cc, which writes the scores.
#include "headlab/core/base/error.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/heads/scores/scores_tables.h"

namespace headlab {

static Json division_to_json(const HeadsReport& report, const Division& division) {
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

Json about_of(const HeadsReport& report) {
  const auto heads = std::ssize(report.heads);
  Json::Array distances;
  for (auto row = report.distances.begin(); row != report.distances.end(); row += heads) {
    distances.push_back(std::vector<double>(row, row + heads));
  }
  Json json =
      stamped({{"attention", report.attention},
               {"examples", report.examples},
               {"different_examples", report.different > 0 ? Json(report.different) : Json()},
               {"permutations", report.permutations},
               {"specialization", report.specialization},
               {"divisions", mapped(report.divisions, [&](const Division& one) {
                  return division_to_json(report, one);
                })}});
  if (!distances.empty()) json["distances"] = distances;
  return json;
}

}  // namespace headlab
