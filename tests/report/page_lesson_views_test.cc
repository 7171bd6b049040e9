// The sentences of lessons under node: what they say of a run alone, of a sweep, and of several
// models side by side. Read next: page_story.h; src/app/report/page/lesson_many.js,
// lesson_patterns.js.
#include "headlab/prune/prune.h"
#include "report/page_story.h"

namespace headlab { namespace {

using LessonViews = PageStory;

constexpr const char* kPairs = "relations:length=8,vocab=6,classes=3,relations=1+same";
constexpr const char* kMany = "#view=learn&world=run&lesson=many";
constexpr const char* kTrue = "#view=learn&world=run&lesson=true";

RunConfig one_layer(Index heads) {
  RunConfig config;
  config.task = kPairs;
  config.model.layers = 1;
  config.model.heads = {heads};
  config.model.d_model = 4 * heads;
  config.model.d_ff = 8;
  return config;
}

/// The facts of a sweep that the lessons read: a group of models for each number of heads.
Json sweep_of(const std::map<Index, std::vector<double>>& diversities) {
  Json groups = Json::array();
  for (const auto& [heads, seeds] : diversities) {
    const double mean = seeds[0];
    groups.push_back(Json::object(
        {{"name", text("heads=", heads)},
         {"model", Json::object({{"heads", heads}})},
         {"diversities", seeds},
         {"diversity",
          Json::object({{"mean", mean}, {"low", mean - 0.05}, {"high", mean + 0.05}})}}));
  }
  return Json::object({{"groups", groups}});
}

Json with_facts(Json check, const std::string& name, Json value) {
  check["facts"] = Json::object({{name, std::move(value)}});
  return check;
}

TEST_F(LessonViews, DiversityOfASweepHasIntervalsOverSeeds) {
  const Page page = make_page({scored(kPairs)});
  const Json sweep = sweep_of({{2, {0.1, 0.12, 0.08}}, {4, {0.3, 0.33, 0.27}}});
  const Texts by_seed = {"2: 0.100 (0.050 to 0.150), 4: 0.300 (0.250 to 0.350)",
                         "95 % intervals over 3 seeds", "largest with 4"};
  expect_said(page,
              {says(kMany, "diversity", {"6: 0.", "one model each"}, {"intervals over"}),
               with_facts(says(kMany, "diversity", by_seed, {"one model each"}), "sweep", sweep)});
}

TEST_F(LessonViews, ControlsAreOfferedOnlyIfTheyWereTrained) {
  const Page page = make_page({scored(kPairs)});
  const Json score = Json::object({{"lift", 0.1}, {"p", 0.5}});
  const Json best = Json::object({{"layer", 0}, {"head", 0}, {"lift", 0.1}, {"p", 0.5}});
  const Json head =
      Json::object({{"layer", 0}, {"head", 0}, {"scores", Json::object({{"memory", score}})}});
  const Json relation = Json::object({{"name", "memory"}, {"best", best}, {"owner", Json()}});
  const Json scores =
      Json::object({{"relations", Json::Array{relation}}, {"heads", Json::Array{head}}});
  const Json control =
      Json::object({{"task", "memoryless:length=8"}, {"accuracy", 0.25}, {"scores", scores}});
  const Json sweep = Json::object(
      {{"groups", Json::array()},
       {"controls", Json::object({{"tasks", Json::Array{control}}, {"command", "c"}})}});
  expect_said(page, {says(kTrue, "lab-control", {"nothing at lab-control"}),
                     with_facts(says(kTrue, "lab-control",
                                     {"trained on memoryless", "heads drawn at random"}),
                                "sweep", sweep),
                     says(kTrue, "control", {"On memory head 0.0 is first", "no head owns it"})});
}

TEST_F(LessonViews, FamilyShowsModelsOfOneToSixteenHeads) {
  std::vector<fs::path> runs;
  for (const Index heads : {1, 3, 16, 17}) {
    runs.push_back(random_run(one_layer(heads), text("run", heads)).path);
  }
  const TrainedRun whole = open_run(runs[1]);
  const Transformer none = remove_heads(whole.model, {});
  RunConfig config = whole.config;
  config.model = none.config();
  runs.push_back(create_run(folder_.path() / "none", config, none, Existing::replace).path);
  expect_said(make_page(runs),
              {says(kMany, "family", {"3 trained models", "0 with 1, 0 with 3, 0 with 16 heads"},
                    {"with 0", "with 17"})});
}

}  // namespace
}  // namespace headlab
