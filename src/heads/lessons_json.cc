// The lessons as JSON. Matrices are arrays of rows. Patterns of random heads are rounded to seven
// decimals, the precision of a float, which halves their size in a page. Read next:
// src/report/page.cc.
#include <cmath>

#include "headlab/heads/lessons.h"

namespace headlab {
namespace {

Matrix rounded(const Matrix& matrix) {
  return {matrix.rows(), matrix.columns(),
          [&](Index i, Index j) { return std::round(matrix(i, j) * 1e7) / 1e7; }};
}

Json random_json(const RandomWorld& world) {
  Json::Array counts;
  for (const Index heads : world.heads) {
    std::vector<Matrix> patterns;
    for (const HeadSteps& head : random_heads(world, heads, world.seed))
      patterns.push_back(rounded(head.weights));
    counts.push_back(Json::object({{"heads", heads}, {"patterns", patterns}}));
  }
  return Json::object({{"name", world.name},
                       {"tokens", world.tokens},
                       {"d_model", world.d_model},
                       {"seed", world.seed},
                       {"counts", counts}});
}

}  // namespace

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
  Json::Array worlds, random;
  for (const char* world : lesson_world_texts()) worlds.push_back(Json::parse(world));
  for (const RandomWorld& world : random_worlds()) random.push_back(random_json(world));
  const auto models = published_models();
  return Json::object({{"worlds", worlds},
                       {"random", random},
                       {"models", Json::Array(models.begin(), models.end())}});
}

}  // namespace headlab
