// Helpers for the tests of the model in the page share: runs with random or trained weights, what
// the program computes of them, and node, which holds the page against it. Read next:
// core_test.mjs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "headlab/app/report/page.h"
#include "headlab/core/base/files.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "support/models.h"
#include "support/runs.h"
#include "support/tools.h"

namespace headlab {

/// The output of a command, and whether it ends well.
struct Told {
  bool well = false;
  std::string text;
};

inline Told told_by(const std::string& command) {
  Told told;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return told;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) told.text += static_cast<char>(c);
  told.well = pclose(pipe) == 0;
  return told;
}

class PageCore : public testing::Test {
 protected:
  void SetUp() final {
    static const std::string reason = reason_without(kNode);
    if (!reason.empty()) GTEST_SKIP() << reason;
    prepare();
  }

  /// Prepares a test of a derived fixture; called only where node is there.
  virtual void prepare() {}

  /// A run with random parameters throughout.
  TrainedRun random_run(RunConfig config, const std::string& name = "run") {
    fit_to_task(config);
    const Transformer model = random_model(config.model);
    return create_run(folder_.path() / name, config, model, Existing::replace);
  }

  /// Writes the page of runs and what is expected of them, and has node compare them.
  void expect_same(const std::vector<fs::path>& runs, const Json& expected) {
    expect_read(make_page(runs), "core_test.mjs", expected);
  }
  /// The same of any page, by one of the scripts next to this file.
  void expect_read(const Page& page, const std::string& script, const Json& expected) {
    const std::string html = (folder_ / "page.html").string();
    const std::string json = (folder_ / "expected.json").string();
    write_file(html, page.html);
    write_file(json, expected.dump());
    const Told told =
        told_by(text("node " HEADLAB_SOURCE_DIR "/tests/report/", script, " ", html, " ", json));
    EXPECT_TRUE(told.well) << told.text;
  }

  static Json few_examples() { return Json::object({{"examples", 4}}); }

  TemporaryFolder folder_;
};

/// Gates of 0 for the heads of a set and 1 for the others, by attention layer and place.
inline Json gates_without(const Transformer& model, const HeadSet& ablated) {
  Json gates = Json::array();
  const auto numbers = model.head_numbers();
  for (std::size_t m = 0; m < numbers.size(); ++m) {
    Json row = Json::array();
    for (const std::int32_t number : numbers[m]) {
      const HeadId head{static_cast<Index>(m), number};
      row.push_back(std::ranges::find(ablated, head) == ablated.end() ? 1 : 0);
    }
    gates.push_back(std::move(row));
  }
  return gates;
}

/// The losses of the first examples with each set ablated, in each way.
inline Json ablated_cases(const TrainedRun& run, const std::vector<HeadSet>& sets, Index examples) {
  const Batch batch = held_out_examples(*run.task, 512).batch;
  Json cases = Json::array();
  for (const AblationEntry& kind : ablation_table()) {
    const auto losses = Ablation(run.model, batch, {.kind = kind.kind}).losses(sets);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::vector<double> by(losses[s].begin(), losses[s].begin() + examples);
      cases.push_back(Json::object({{"name", text(kind.name, " ", s)},
                                    {"gates", gates_without(run.model, sets[s])},
                                    {"replacement", kind.name},
                                    {"by", by}}));
    }
  }
  return cases;
}

inline std::vector<HeadSet> all_sets(const Transformer& model) {
  const std::vector<HeadId> heads = all_heads(model);
  std::vector<HeadSet> sets(std::size_t{1} << heads.size());
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t h = 0; h < heads.size(); ++h)
      if ((set >> h & 1U) != 0) sets[set].push_back(heads[h]);
  return sets;
}

}  // namespace headlab
