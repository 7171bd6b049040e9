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

Json to_json(const PublishedModel& model) {
  return Json::object({{"name", model.name},
                       {"d_model", model.d_model},
                       {"heads", model.heads},
                       {"kv_heads", model.kv_heads},
                       {"d_head", model.d_head},
                       {"layers", model.layers},
                       {"source", model.source}});
}

Json to_json(const Correction& correction) {
  return Json::object({{"topic", correction.topic},
                       {"claim", correction.claim},
                       {"fact", correction.fact},
                       {"source", correction.source}});
}

Json lessons_json() {
  Json::Array worlds;
  for (const char* world : lesson_world_texts()) worlds.push_back(Json::parse(world));
  const auto models = published_models();
  return Json::object({{"worlds", worlds}, {"models", Json::Array(models.begin(), models.end())}});
}

}  // namespace headlab
