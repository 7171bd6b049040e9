// The views of a page under node: the parts that need no document (views_test.mjs), and what a page
// says and does in a document of its own (story_test.mjs).
#include <filesystem>
#include <iterator>

#include "app/report/page_html.h"
#include "app/report/task_words.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/causes/lens.h"
#include "report/page_story.h"
#include "support/golden_text.h"

namespace headlab { namespace {

using PageViews = PageCore;

TEST_F(PageViews, AreModulesInLayers) {
  const Told told = told_by(
      text("node --expose-internals ", HEADLAB_SOURCE_DIR, "/tests/report/modules_test.mjs"));
  EXPECT_TRUE(told.well) << told.text;
}

/// Golden files of the pictures that views_test.mjs draws: it writes NAME.svg, which is compared
/// with page_NAME.svg.
constexpr const char* kPictures[] = {"report/page_matrix_of_hostile_names.svg",
                                     "report/page_matrix_empty.svg",
                                     "report/page_plot.svg",
                                     "report/page_plot_empty.svg",
                                     "report/page_bars.svg",
                                     "report/page_matrix_of_40_columns.svg",
                                     "report/page_matrix_of_vectors.svg",
                                     "report/page_bars_with_ticks.svg",
                                     "report/page_plot_with_five_marks.svg"};

TEST_F(PageViews, KeepTheirAddressesColoursAndPicturesInOrder) {
  const std::string source = HEADLAB_SOURCE_DIR;
  const std::string folder = folder_.path().string();
  const Told told = told_by(text("node ", source, "/tests/report/views_test.mjs ", folder));
  ASSERT_TRUE(told.well) << told.text;
  const std::string prefix = "report/page_";
  for (const std::string golden : kPictures) {
    const std::string name = golden.substr(prefix.size());
    expect_golden(golden, read_file(folder_ / name));
  }
  const auto files = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), std::ssize(kPictures));
}

constexpr const char* kFlagship = "relations:length=8,vocab=6,classes=3,relations=1+same";

TEST_F(PageStory, GridAndPageObeyTheirKeys) {
  const TrainedRun run = random_run(two_layers_of_three(kFlagship));
  expect_read(make_page({run.path}), "story_test.mjs", Json::object({{"keys", true}}));
}

TEST_F(PageStory, SaysThatNothingIsToBeFoundOfControlsAlone) {
  expect_said(make_page({scored("memoryless:length=8,vocab=6")}),
              {says("", "headline", {"control", "nothing to find"})});
  for (const char* task : {kFlagship, "induction", "duplicate:length=8"}) {
    SCOPED_TRACE(task);
    expect_said(make_page({scored(task)}),
                {says("", "headline", {"6 heads"}, {"nothing to find"})});
  }
}

TEST_F(PageStory, TablesNameRelationsAndTargetsForAReader) {
  const TrainedRun run = random_run(two_layers_of_three(kFlagship));
  const auto write = [&](const char* file, const Result& result) {
    write_json(run.path / file, result);
  };
  write("heads.json",
        result_of(score_heads(run.model, *run.task, {.examples = 64}), {.all = true}));
  write("lens.json", result_of(read_lens(run.model, *run.task, 64)));
  expect_said(make_page({run.path}),
              {says("#view=results&file=heads", "view", {"1 back mass", "same class mass"}),
               says("#view=results&file=lens", "view",
                    {"embedding1 back", "embeddingsame class"})});
}

/// Writes sequences of two tokens and an answer, whose keys are always the first two positions.
void write_sums(const fs::path& file) {
  std::string lines;
  for (int a = 0; a < 20; ++a) {
    for (int b = 0; b < 20; ++b) {
      lines += text(R"({"tokens":[)", a, ",", b, R"(,40],"targets":[null,null,)", a + b,
                    R"(],"truth":{"digits":{"2":[0,1]}}})", "\n");
    }
  }
  write_file(file, lines);
}

/// A relation that only the first four held-out examples ask for is not one without a head.
TEST_F(PageStory, SaysThatRelationsWithFewExamplesAreNotTested) {
  std::string lines;
  for (int i = 0; i < 400; ++i) {
    const std::string rare = i < 4 ? R"(,"rare":{"2":[0]})" : "";
    lines += text(R"({"tokens":[)", i % 20, ",", i / 20, R"(,40],"targets":[null,null,)", i % 20,
                  R"(],"truth":{"often":{"2":[)", i % 2, "]}", rare, "}}\n");
  }
  write_file(folder_ / "rare.jsonl", lines);
  const Page page = make_page({scored("file:train=" + (folder_ / "rare.jsonl").string())});
  EXPECT_NE(page.html.find("Not tested, because too few examples ask for the keys: rare."),
            std::string::npos);
  EXPECT_NE(page.html.find("No head owns a relation: often."), std::string::npos);
  expect_said(page, {says("", "view", {"not tested", "no head finds it"}),
                     says("#view=results", "conclusion-live", {"too few examples"})});
}

TEST_F(PageStory, SaysThatRelationsWithFixedKeysAreNotTested) {
  write_sums(folder_ / "sums.jsonl");
  const Page page = make_page({scored("file:train=" + (folder_ / "sums.jsonl").string())});
  const Texts wrong = {"none owns", "No head is the owner", "nobody", "no head found"};
  EXPECT_NE(page.html.find("Not tested, because every sequence has the same keys: digits."),
            std::string::npos);
  expect_said(page, {says("", "headline", {"6 heads", "every sequence has the same keys"}, wrong),
                     says("", "view", {"not tested"}, wrong),
                     says("#view=results", "conclusion-live", {"Not tested"}, wrong)});
}

/// Returns the task that the first screen is tested with: small, with the files of the project.
std::string small_task(const std::string& name) {
  const std::string data = std::string(HEADLAB_SOURCE_DIR) + "/datasets/";
  if (name == "text") return "text:file=" + data + "fables.txt,length=16";
  if (name == "file") return "file:train=" + data + "definitions.jsonl";
  return name;
}

/// Tasks that need a file of tokens or a command of the user.
bool needs_files_of_the_user(const std::string& name) {
  return name == "tokens" || name == "command";
}

TEST_F(PageStory, FirstScreenTellsTheQuestionOfEveryTask) {
  const Texts wrong = {"undefined", "NaN", "null", "[object"};
  for (const TaskEntry& entry : task_table()) {
    const std::string name(entry.name);
    if (needs_files_of_the_user(name)) continue;
    SCOPED_TRACE(name);
    const TrainedRun run = random_run(two_layers_of_three(small_task(name)));
    const std::string question = question_of(*run.task);
    EXPECT_TRUE(name == "relations" || name == "file" || !question.ends_with("attend to: "))
        << "a task has its own sentence";
    expect_said(make_page({run.path}),
                {says("", "headline", {"heads"}, wrong), says("", "detail", {question}, wrong),
                 says("#view=bench", "view", {question}, wrong),
                 says("", "drawer", {"Look closer", "Needed?"}, wrong),
                 says("#view=first&scene=0&gates=0.0:0", "headline", {"Without head 0.0"}, wrong),
                 says("#view=first&gates=0.0:0", "detail", {"held-out examples", "instead of"},
                      wrong)});
  }
}

TEST_F(PageStory, FirstScreenSaysWhatIsTrueOfAControl) {
  expect_said(make_page({scored("memoryless:length=8,vocab=6")}),
              {says("", "headline", {"a control task: there is nothing to find"}, {"own"})});
  expect_said(make_page({scored(kFlagship)}),
              {says("", "headline", {"6 heads"}, {"do the work", "own"})});
}

TEST_F(PageStory, FirstScreenWithoutWeightsOffersNothingToBreak) {
  const fs::path run = random_run(two_layers_of_three(kFlagship)).path;
  expect_said(make_page({run}, {.weights = false}),
              {says("", "headline", {"6 heads"}, {"Try to break it"}),
               says("", "drawer", {"Look closer"}, {"Ablate", "undefined"})});
}

}}  // namespace headlab
