// The lessons as JSON. Matrices are arrays of rows. Patterns of random heads are rounded to seven
// decimals, the precision of a float, which halves their size in a page. Read next:
// src/report/page.cc.
#include <cmath>

#include "headlab/heads/lessons.h"

namespace headlab {
namespace {

Json rounded(const Matrix& matrix) {
  Matrix result = matrix;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.columns(); ++j)
      result(i, j) = std::round(matrix(i, j) * 1e7) / 1e7;
  return to_json(result);
}

Json random_json(const RandomWorld& world) {
  Json counts = Json::array();
  for (const Index heads : world.heads) {
    Json patterns = Json::array();
    for (const HeadSteps& head : random_heads(world, heads, world.seed))
      patterns.push_back(rounded(head.weights));
    counts.push_back(Json::object({{"heads", heads}, {"patterns", std::move(patterns)}}));
  }
  return Json::object({{"name", world.name},
                       {"tokens", world.tokens},
                       {"d_model", world.d_model},
                       {"seed", world.seed},
                       {"counts", std::move(counts)}});
}

}  // namespace

Json to_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.columns(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
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
  Json worlds = Json::array(), random = Json::array();
  for (const char* world : lesson_world_texts()) worlds.push_back(Json::parse(world));
  for (const RandomWorld& world : random_worlds()) random.push_back(random_json(world));
  const auto all = [](const auto& entries) {
    Json list = Json::array();
    for (const auto& entry : entries) list.push_back(to_json(entry));
    return list;
  };
  return Json::object({{"worlds", std::move(worlds)},
                       {"random", std::move(random)},
                       {"models", all(published_models())},
                       {"corrections", all(corrections())}});
}

}  // namespace headlab
