// The lessons as JSON, as the terminal prints them and a page reads them. Matrices are arrays of
// rows; patterns to know are data, from which a page draws them.
// Read next: src/report/page.cc.
#include "headlab/heads/lessons.h"
#include "headlab/heads/scores.h"

namespace headlab {
Json to_json(const Matrix& matrix) {
  Json::Array rows;
  const std::vector<double>& values = matrix.values();
  for (auto row = values.begin(); row != values.end(); row += matrix.columns())
    rows.emplace_back(Json::Array(row, row + matrix.columns()));
  return rows;
}

Json to_json(const HeadSteps& head) {
  return Json::object({{"q", head.q},
                       {"k", head.k},
                       {"v", head.v},
                       {"scores", head.scores},
                       {"scaled", head.scaled},
                       {"weights", head.weights},
                       {"output", head.output}});
}

Json lessons_json() {
  Json::Array worlds;
  for (const char* world : lesson_world_texts()) worlds.push_back(Json::parse(world));
  Json::Array patterns;
  for (const auto& [name, meaning, from, decimals] : score_table()) {
    const auto& [rule, first, last] = from.known;
    if (rule != nullptr)
      patterns.push_back(
          Json::object({{"name", name}, {"rule", rule}, {"from", first}, {"to", last}}));
  }
  return Json::object({{"worlds", worlds}, {"patterns", patterns}});
}

}  // namespace headlab
