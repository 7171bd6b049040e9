// The lessons as JSON, as the terminal prints them and a page reads them. Matrices are arrays of
// rows.
// Read next: src/report/page.cc.
#include "headlab/heads/lessons.h"

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
  return Json::object({{"worlds", worlds}});
}

}  // namespace headlab
