// The lessons, as a reader works on them: every control changes its numbers, exercises take right
// answers and refuse wrong ones, all of it by keyboard, on narrow screens, and as text without
// scripts. Read next: lessons.h; report/page_lessons_test.cc, their numbers.
#include <set>

#include "browser/lessons.h"

namespace headlab::browser { namespace {

TEST_F(Lessons, OpenWithoutARun) {
  open(book());
  EXPECT_EQ(tab().text("app.state.view"), "learn");
  EXPECT_EQ(tab().text("app.views.filter((v) => v.available(app.page)).map((v) => v.name).join()"),
            "learn,about");
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_EQ(words("#notices"), "");
  go_to("#view=about");
  EXPECT_NE(words("#view"), "");
  for (const char* key : {"x", "a", "c", "[", ".", "Escape", "t", "?"}) tab().press(key);
}

TEST_F(Lessons, FollowEachOther) {
  open(book());
  for (int number = 2; number <= 10; ++number) {
    click("#lesson-next");
    EXPECT_TRUE(words("#lesson-title").starts_with(std::to_string(number) + "."));
    EXPECT_EQ(tab().text("document.activeElement.id"), "lesson-title");
    if (number == 5) {
      EXPECT_EQ(tab().text("document.getElementById('count-d').value"), "512");
    } else if (number == 7) {
      EXPECT_EQ(tab().text("document.getElementById('lab-heads').value"), "2");
    }
  }
  EXPECT_FALSE(there("#lesson-next"));
  click("#terms a");
  EXPECT_TRUE(words("#lesson-title").starts_with("3."));
}

TEST_F(Lessons, OneStepsThroughThePipelineWithItsShapes) {
  lesson(1);
  EXPECT_TRUE(title_of("pipeline").starts_with("x [5, 4]"));
  click("#step-next");
  EXPECT_TRUE(title_of("pipeline").starts_with("W_Q [4, 4]"));
  click("#step-5");
  EXPECT_TRUE(title_of("pipeline").starts_with("weights [5, 5]"));
  lesson_of_run(1);
  click("#step-1");
  EXPECT_TRUE(title_of("pipeline").starts_with("W_Q [32, 32]")) << title_of("pipeline");
  // what the steps end in is what the model adds to its stream
  EXPECT_LE(tab().number("(() => { const world = lessonWorld(); const y = "
                         "times(besideEachOther(headsOfWorld(world)), world.W_O); const m = "
                         "baseTrace().modules[0], name = m.module.name; const own = "
                         "linearOfTest(m, name); return Math.max(...y.flatMap((row, t) => "
                         "row.map((v, i) => Math.abs(v - own[t * row.length + i])))); function "
                         "linearOfTest(m, name) { const W = m.model.tensors[`${name}.W_O`], C = "
                         "m.model.C, wide = W.length / C; return Array.from({length: m.queries * "
                         "C}, (_, i) => { let sum = 0; for (let j = 0; j < wide; ++j) sum += "
                         "m.z[Math.floor(i / C) * wide + j] * W[j * C + i % C]; return sum; }); } "
                         "})()"),
            1e-4);
}

TEST_F(Lessons, TwoGivesASecondBudget) {
  lesson(2);
  const std::string before = words("#arrives");
  press_on("lab-sharp", "ArrowRight");
  EXPECT_NE(words("#arrives"), before);
  press_on("lab-sharp", "End");
  EXPECT_TRUE(shows("#arrives", "0.5000")) << "no sharpness gives one of two keys more than half";
  choose("lab-heads", "2");
  EXPECT_TRUE(shows("#arrives", "0.9999") || shows("#arrives", "1.0000")) << words("#arrives");
}

TEST_F(Lessons, ThreeShowsTheLinesThatRun) {
  lesson(3);
  const std::string before = words("#state");
  click("#step-next");
  EXPECT_NE(words("#state"), before);
  EXPECT_TRUE(shows("#query-output", "0.2491  0.3763"));
  choose("lab-query", "1");
  EXPECT_TRUE(shows("#query-output", "0.4109  0.1336"));
  choose("lab-head", "1");
  EXPECT_TRUE(shows("#query-output", "0.2289  0.3663"));
  EXPECT_TRUE(shows("#query-numbers", "0.7071"));
  choose("pick-world", "cat-sleeps");
  EXPECT_TRUE(shows("#query-numbers", "0.9717"));
  EXPECT_TRUE(shows("#query-numbers", "3.5355"));
  lesson_of_run(3, "&q=7&ex=3");
  const Json pattern =
      study.done({"heads", "full", "--pattern", "0.0", "--example", "3", "--json"}).json();
  const double weight = pattern.at("pattern").items()[7].items()[4].number();
  EXPECT_NEAR(tab().number("numbersOf().row[4]"), weight, 1e-5);
}

TEST_F(Lessons, FourMovesOutputsAndLogits) {
  lesson(4);
  press_on("lab-g0", "Home");
  EXPECT_TRUE(
      tab().holds("/now\\s*0\\.9600/.test(document.getElementById('desk-change')"
                  ".textContent)"))
      << words("#desk-change");
  press_on("lab-g0", "End");
  press_on("lab-g1", "Home");
  EXPECT_TRUE(
      tab().holds("/now\\s*0\\.9941/.test(document.getElementById('desk-change')"
                  ".textContent)"));
  const std::string identity = title_of("desk");
  const std::string rows = tab().text("JSON.stringify(" + figure("desk") + ".picture.table())");
  choose("lab-mix", "1");
  EXPECT_NE(tab().text("JSON.stringify(" + figure("desk") + ".picture.table())"), rows);
  EXPECT_EQ(title_of("desk"), identity) << "an orthogonal W_O keeps lengths";
  lesson_of_run(4);
  const std::string logits = title_of("logits");
  press_on("fader-0.0", "Home");
  press_on("fader-0.1", "Home");
  EXPECT_NE(title_of("logits"), logits);
}

TEST_F(Lessons, FiveCountsAndSaysWhatDoesNotDivide) {
  lesson(5);
  EXPECT_EQ(words("#count-total"), "1,050,624");
  click("#count-768-12");
  EXPECT_EQ(words("#count-total"), "2,362,368");
  click("#count-512-7");
  EXPECT_TRUE(shows("#count .note", "PyTorch"));
  EXPECT_TRUE(shows("#count .note", "floor(512 / 7) = 73"));
  click("#count-4-8");
  EXPECT_TRUE(shows("#count .note", "floor(4 / 8) = 0"));
  click("#count-512-8");
  click("#count-bias");
  EXPECT_EQ(words("#count-total"), "1,048,576");
  type("count-kv", "2");
  EXPECT_EQ(words("#count-total"), "655,360");
  for (const char* absurd : {"0", "-3", "99999999999", "1e300", "2.5", ""}) {
    type("count-d", absurd);
    EXPECT_TRUE(shows("#count", "whole number from 1 to 65536")) << absurd << words("#count");
  }
}

TEST_F(Lessons, SixNamesHeadsByTheirDistances) {
  lesson(6);
  click("#quiz-check");
  EXPECT_TRUE(shows("#quiz-score", "0 of 6"));
  for (int head = 0; head < 6; ++head)
    choose("lab-a" + std::to_string(head), tab().text("String(QUIZ_NAMES.indexOf(quizHeads()[" +
                                                      std::to_string(head) + "].name))"));
  EXPECT_TRUE(shows("#quiz-score", "6 of 6"));
  click("#quiz-again");
  EXPECT_FALSE(there("#quiz-score"));
  open(full, "#view=learn&page=6");
  EXPECT_TRUE(shows("#nearest", "previous"));
}

TEST_F(Lessons, SevenSplitsTheSameWidth) {
  lesson(7);
  EXPECT_TRUE(shows("#uniform-rows", "1 of 10"));
  choose("lab-heads", "4");
  EXPECT_TRUE(shows("#uniform-rows", "9 of 20"));
  choose("lab-heads", "1");
  EXPECT_TRUE(shows("#uniform-rows", "0 of 5"));
  for (const char* figure : {"1.206", "0.925", "1.259", "0.843", "32.7", "48.4", "29.7", "53.0"})
    EXPECT_TRUE(shows("#entropy", figure)) << figure;
  for (const char* figure : {"0.5962", "0.5770", "0.5774"})
    EXPECT_NE(title_of("diversity").find(figure), std::string::npos) << figure;
  lesson_of_run(7);
  const std::string trained = title_of("diversity");
  EXPECT_NE(trained.find("one model each"), std::string::npos) << trained;
  const Json distances = study.json("full/heads.json").at("distances");
  double sum = 0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b) sum += distances.items()[a].items()[b].number();
  EXPECT_NEAR(tab().number("trainedDiversity()[0].mean"), sum / 6, 1e-9);
}

TEST_F(Lessons, EightAsksForChanceAndCause) {
  lesson(8);
  const std::string control = title_of("control");
  click("#control-again");
  EXPECT_NE(title_of("control"), control);
  lesson_of_run(8);
  EXPECT_FALSE(there("#truth-verdict"));
  const std::string owned = tab().text(
      "(() => { const r = task().facts.relations.findIndex((_, i) => ownerOf(run(), i)); return "
      "`${headsOf(run()).find((x) => x.m === ownerOf(run(), r).m && x.place === "
      "ownerOf(run(), r).place).at} ${r}`; })()");
  const std::size_t space = owned.find(' ');
  choose("guess-head", owned.substr(0, space));
  choose("lab-guess", owned.substr(space + 1));
  click("#show-truth");
  EXPECT_TRUE(shows("#truth-verdict", "Your guess is right")) << words("#truth-verdict");
  EXPECT_TRUE(shows("#truth-verdict", "nats"));
  choose("lab-guess", tab().text("String(task().facts.relations.length)"));
  EXPECT_TRUE(shows("#truth-verdict", "not borne out"));
}

TEST_F(Lessons, NineTakesRightAnswersAndRefusesWrongOnes) {
  lesson(9);
  expect_wrong(1, "");
  expect_wrong(1, ".1811 .1811 .3673 .0893");
  expect_wrong(1, ".1811 .1811 .0893 .3673 .1811");
  expect_right(1, ".1811 .1811 .3673 .0893 .1811");
  expect_wrong(2, "8"), expect_right(2, "9");
  expect_wrong(3, "0.6"), expect_right(3, "0");
  expect_wrong(4, ".6103 .1323 .0151 .0051"), expect_right(4, ".610 -.132 .015 .005");
  expect_wrong(5, ".9941 .9600"), expect_right(5, ".9600 and .9941");
  expect_wrong(6, "2,359,296"), expect_right(6, "2,362,368");
  expect_wrong(7, "grow"), expect_right(7, "fall and then stay");
  EXPECT_FALSE(there("#exercise-8")) << "no run, no exercise on it";
  click("#exercise-1-hint");
  EXPECT_FALSE(tab().holds("document.getElementById('exercise-1-help').hidden"));
}

TEST_F(Lessons, NineAsksOfTheRunWhatItsFilesAnswer) {
  open(full, "#view=learn&page=9");
  const Json subsets = study.json("full/curve.json").at("subsets");
  ASSERT_EQ(subsets.at("losses").items().size(), 16u);
  const double both = subsets.at("losses").items()[6].number();  // without heads 0 and 3
  expect_right(8, std::to_string(both)), expect_wrong(8, std::to_string(2 * both));
  expect_wrong(8, "many");
  const std::string pair = tab().text(
      "(() => { const s = subsetsOf(run()), {i, j} = backupPair(s); return subsetNames(s)[i] + ' ' "
      "+ subsetNames(s)[j]; })()");
  expect_right(9, pair), expect_wrong(9, "0.0"), expect_wrong(9, "0.0 9.9");
  std::size_t best = 3;
  for (const std::size_t set : {3u, 5u, 6u, 9u, 10u, 12u})
    if (subsets.at("losses").items()[set].number() < subsets.at("losses").items()[best].number())
      best = set;
  std::string kept, others;
  for (std::size_t h = 0; h < 4; ++h)
    ((best >> h & 1U) != 0 ? kept : others) += "0." + std::to_string(h) + " ";
  expect_right(10, kept), expect_wrong(10, others), expect_wrong(10, "0.1");
  EXPECT_NE(answered(10, kept).find("Number 1 of 6"), std::string::npos);
}

TEST_F(Lessons, TenFindsTerms) {
  lesson(10);
  EXPECT_TRUE(shows("#term-count", "40 of 40"));
  type("find-term", "entropy");
  EXPECT_FALSE(shows("#term-count", "40 of 40"));
  const auto visible = [&] {
    return tab().number(
        "[...document.querySelectorAll('#terms dd')].filter((d) => !d.hidden).length");
  };
  const double all = visible();
  choose("lab-level", "1");
  EXPECT_EQ(visible(), all / 2);
}

TEST_F(Lessons, AreReachedByKeyboardAlone) {
  const std::vector<std::vector<std::string>> wanted = {
      {"step-back", "step-next", "lab-head", "step-3", "pipeline", "pick-world"},
      {"lab-sharp", "lab-heads"},
      {"lab-query", "lab-head", "lab-step", "line-8", "copy-numbers"},
      {"lab-g0", "lab-g1", "lab-mix", "desk"},
      {"count-d", "count-H", "count-kv", "count-bias", "count-512-7"},
      {"lab-a0", "lab-a5", "quiz-check", "quiz-again"},
      {"lab-heads", "split-0", "diversity"},
      {"control", "control-again"},
      {"exercise-1", "exercise-1-check", "exercise-1-hint", "exercise-7"},
      {"find-term", "lab-level"}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    lesson(static_cast<int>(i) + 1);
    std::set<std::string> reached;
    for (int tabs = 0; tabs < 110; ++tabs) {
      tab().press("Tab");
      reached.insert(tab().text("document.activeElement.id"));
    }
    for (const std::string& id : wanted[i]) EXPECT_TRUE(reached.contains(id)) << i + 1 << id;
    EXPECT_TRUE(reached.contains("to-lesson-10"));
  }
}

TEST_F(Lessons, FitNarrowScreensAndHaveNamesForEverything) {
  tab().resize(320, 640);
  const std::set<std::string> roles = {"button",    "link",       "combobox", "slider",
                                       "checkbox",  "image",      "img",      "textbox",
                                       "searchbox", "spinbutton", "table"};
  for (const bool of_run : {false, true}) {
    for (int number = 1; number <= 10; ++number) {
      of_run ? lesson_of_run(number) : lesson(number);
      EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 320) << number << of_run;
      EXPECT_LE(tab().number("document.querySelectorAll('*').length"), 2000) << number;
      for (const Json& node : tab().accessible_nodes()) {
        const Json* role = node.find("role");
        if (role == nullptr || !roles.contains(role->at("value").string())) continue;
        const Json* name = node.find("name");
        const Json* value = name != nullptr ? name->find("value") : nullptr;
        EXPECT_TRUE(value != nullptr && !value->string().empty()) << number << node.dump();
      }
    }
  }
}

TEST_F(Lessons, AreTextsAndTablesWithoutScripts) {
  tab().allow_scripts(false);
  tab().open_file(book());
  tab().allow_scripts(true);  // for the questions of this test; the page's own have not run
  EXPECT_EQ(tab().number("document.querySelectorAll('#lessons section').length"), 10);
  EXPECT_GE(tab().number("document.querySelectorAll('#lessons table').length"), 12);
  EXPECT_TRUE(shows("#lesson-3", "0.1237 0.2509 0.2509 0.1237 0.2509"));
  EXPECT_TRUE(shows("#lesson-7", "0.5962"));
  EXPECT_TRUE(tab().holds("document.querySelector('#lesson-5').offsetHeight > 100"));
  EXPECT_EQ(tab().number("document.querySelectorAll('#terms dt').length"), 40);
}

}  // namespace
}  // namespace headlab::browser
