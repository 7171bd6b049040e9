// Helpers for tests of what a page says in a document of its own under node. Read next:
// page_views_test.cc, page_lesson_views_test.cc; story_test.mjs, which opens the page and compares.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/stored_json.h"
#include "report/page_core.h"

namespace headlab {

inline RunConfig two_layers_of_three(const std::string& task) {
  RunConfig config;
  config.task = task;
  config.model.layers = 2;
  config.model.heads = {3};
  config.model.d_model = 12;
  config.model.d_ff = 8;
  return config;
}

using Texts = std::vector<std::string>;

/// At an address of the page, the words of an element hold some texts and lack others.
inline Json says(const std::string& hash, const std::string& id, const Texts& holds,
                 const Texts& lacks = {}) {
  return Json::object({{"hash", hash}, {"id", id}, {"holds", holds}, {"lacks", lacks}});
}

class PageStory : public PageCore {
 protected:
  /// A run with random weights whose heads were scored.
  fs::path scored(const std::string& task) {
    const TrainedRun run = random_run(two_layers_of_three(task));
    write_json(run.path / "heads.json",
               result_of(score_heads(run.model, *run.task, {.examples = 64})));
    return run.path;
  }
  void expect_said(const Page& page, const Json::Array& checks) {
    expect_read(page, "story_test.mjs", Json::object({{"checks", checks}}));
  }
};

}  // namespace headlab
