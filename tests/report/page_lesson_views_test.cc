// The sentences of lessons under node: what they say of a run alone, of a sweep, and of several
// models side by side. Read next: page_story.h; src/app/report/page/lessons/lesson_many.js,
// lesson_patterns.js.
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/prune/prune.h"
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

Json with_facts(Json check, const std::string& name, Json value) {
  check["facts"] = Json::object({{name, std::move(value)}});
  return check;
}

TEST_F(LessonViews, DiversityOfARunHasNoInterval) {
  expect_said(make_page({scored(kPairs)}),
              {says(kMany, "diversity", {"6: 0.", "one model each"}, {"intervals over"})});
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
  expect_said(page,
              {says(kTrue, "lab-control", {"nothing at lab-control"}),
               with_facts(says(kTrue, "lab-control",
                               {"trained on memoryless", "heads drawn at random"}),
                          "sweep", sweep),
               says(kTrue, "control", {"On memory head 0.0 is first", "no head is its owner"})});
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
              {says(kMany, "family", {"3 trained models", "Not scored yet: 3 of 3 models"},
                    {"Relations that are owned"})});
}

/// Settings of models in which something else decides the weights: the attention function,
/// positions, windows, shared keys.
std::vector<std::string> all_kinds_of_weights() {
  std::vector<std::string> all = {"window=3", "window=3 positions=alibi", "kv_heads=1", "d_head=3",
                                  "attention_function=sigmoid window=3"};
  for (const std::string& settings : all_attention()) {
    if (settings.find("doubled") == std::string::npos) all.push_back(settings);
  }
  return all;
}

/// Tasks with queries that see keys before them, all of 8 and 20 keys, and keys of a source.
constexpr const char* kSeen[] = {kPairs, "relations:length=20,vocab=6,relations=next+same",
                                 "reverse_cross"};

TEST_F(LessonViews, ComputeTheWeightsOfEveryKindOfAttention) {
  for (const char* task : kSeen) {
    std::vector<fs::path> runs;
    for (const std::string& settings : all_kinds_of_weights()) {
      RunConfig config = two_layers_of_three(task);
      settings_of(config.model).set_all_text(settings);
      runs.push_back(random_run(config, text("run", runs.size())).path);
    }
    SCOPED_TRACE(task);
    expect_read(make_page(runs), "worlds_test.mjs", Json::object());
  }
}

/// The weight of key 1 for query 2 in head 0.0 on the first example, as the page writes it.
std::string weight_of_run(const TrainedRun& run) {
  const Batch first = run.task->make_batch(streams::scored(), 1, Split::validation);
  const Tensor pattern = Activations(run.model, first).pattern({0, 0});
  char written[32];
  const Index keys = pattern.shape()[pattern.shape().rank() - 1];
  std::snprintf(written, sizeof written, "%.4f",
                static_cast<double>(pattern.values()[2 * keys + 1]));
  return written;
}

TEST_F(LessonViews, ShowTheWeightsOfTheRun) {
  std::vector<fs::path> runs;
  Json::Array checks;
  for (const char* settings :
       {"attention_function=sigmoid", "attention_function=softmax_one positions=alibi",
        "attention_function=softmax_composed", "positions=alibi window=3"}) {
    RunConfig config = two_layers_of_three(kPairs);
    settings_of(config.model).set_all_text(settings);
    const TrainedRun run = random_run(config, text("run", runs.size()));
    runs.push_back(run.path);
    const std::string place =
        text("#view=learn&world=run&ex=0&run=", runs.size(), "&h=0.0&q=2&lesson=");
    checks.push_back(says(place + "numbers", "query-numbers", {weight_of_run(run)}));
    checks.push_back(says(place + "vectors", "machine-state", {"as it computes them"}));
    checks.push_back(says(place + "vectors", "desk-change", {"head 0.0 off"}, {"NaN"}));
    checks.push_back(says(place + "many", "split", {"diversity"}, {"NaN"}));
  }
  expect_said(make_page(runs), checks);
}

}  // namespace
}  // namespace headlab
