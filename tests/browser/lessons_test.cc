// The lessons, as a reader works on them: every control changes its numbers, exercises take right
// answers and refuse wrong ones, all of it by keyboard, on narrow screens, and as text without
// scripts. Read next: lessons.h; report/page_lessons_test.cc, their numbers.
#include "browser/lessons.h"

#include <set>

namespace headlab::browser { namespace {

TEST_F(Lessons, OpenWithoutARun) {
  open(book());
  EXPECT_EQ(words("#views"), "LearnMore");
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_EQ(words("#notices"), "");
  go_to("#view=about");
  EXPECT_NE(words("#view"), "");
  for (const char* key : {"x", "a", "[", ".", "Escape", "t", "?"}) tab().press(key);
}

TEST_F(Lessons, FollowEachOther) {
  open(book());
  std::set<std::string> titles = {words("#lesson-title")};
  while (there("#lesson-next")) {
    click("#lesson-next");
    EXPECT_TRUE(titles.insert(words("#lesson-title")).second);
    EXPECT_EQ(tab().text("document.activeElement.id"), "lesson-title");
  }
  EXPECT_EQ(titles.size(), std::size(kLessons));
  go_to("#view=learn&lesson=glossary");
  click("#terms a");
  EXPECT_EQ(words("#lesson-title"), "Every number");
}

/// The row of the picture's table for this matrix, row and column.
std::string number_of(const std::vector<std::vector<std::string>>& table, const std::string& matrix,
                      const std::string& row, const std::string& column) {
  for (const auto& cells : table)
    if (cells[0] == matrix && cells[1] == row && cells[2] == column) return cells[3];
  return "none";
}

TEST_F(Lessons, OnePictureLeadsFromXToYWithSwitches) {
  lesson("vectors");
  EXPECT_EQ(number_of(table("machine"), "q", "1 cat", "1"), "2");
  EXPECT_TRUE(shows("#opened-title", "softmax: query 4 mat"));
  EXPECT_EQ(words("#opened .now .line"), "    row[s] /= sum;") << "the line that computes the cell";
  const auto picture = [&] { return tab().text("JSON.stringify(machine().stages.one.weights)"); };
  const std::string start = picture();
  std::set<std::string> seen = {start};
  click("#lab-mask");
  EXPECT_TRUE(seen.insert(picture()).second) << "mask";
  EXPECT_EQ(tab().number("machine().stages.one.weights[0][0]"), 1) << "it sees itself alone";
  click("#lab-root");
  EXPECT_TRUE(seen.insert(picture()).second) << "square root";
  choose("lab-function", "1");
  EXPECT_TRUE(seen.insert(picture()).second) << "function";
  choose("lab-heads", "4");
  EXPECT_TRUE(seen.insert(picture()).second) << "heads";
  EXPECT_EQ(tab().number("document.querySelectorAll('#lab-head option').length"), 4);
  click("#machine-reset");
  EXPECT_EQ(picture(), start);
  mark("machine", 0, 1);
  tab().press("Enter");
  EXPECT_TRUE(shows("#opened-title", "q: 0 The, column 1 = 0")) << words("#opened-title");
  go_to("#view=learn&lesson=numbers");
  EXPECT_TRUE(shows("#lesson-title", "Every number"));
}

TEST_F(Lessons, OnePictureHasTheNumbersOfTheRun) {
  lesson_of_run("vectors", "&ex=3");
  EXPECT_TRUE(shows("#machine-state", "The numbers of the run"));
  const Json pattern = study.done({"pattern", "full", "0.0", "--example", "3", "--json"}).json();
  for (int t = 0; t < 12; ++t) {
    const Json row = tab().evaluate("machine().stages.one.weights[" + std::to_string(t) + "]");
    for (std::size_t s = 0; s < row.items().size(); ++s) {
      const double weight =
          pattern.at("pattern").items()[static_cast<std::size_t>(t)].items()[s].number();
      EXPECT_NEAR(row.items()[s].number(), weight, 1e-4) << t << " " << s;
    }
  }
  EXPECT_LT(
      tab().number(
          "(() => { const {input, model, layer} = baseTrace().attentionLayers[0]; const {world, "
          "stages} = machine(); const {z, queries} = baseTrace().attentionLayers[0], t = "
          "model.tensors, y = linear(z, queries, t[layer.name + '.W_O'], t[layer.name + "
          "'.b_O'], null); return Math.max(...stages.y.flatMap((row, r) => row.map((v, c) "
          "=> Math.abs(v - y[r * row.length + c])))); })()"),
      1e-4)
      << "y is what the layer adds";
  click("#lab-root");
  EXPECT_TRUE(shows("#machine-state", "not the numbers of the run any more"));
}

TEST_F(Lessons, TheDeskTurnsHeadsDown) {
  lesson("vectors");
  for (const auto& [fader, change] : {std::pair{"lab-g0", "0.9600"}, {"lab-g1", "0.9941"}}) {
    press_on(fader, "Home");
    EXPECT_EQ(rows("#desk-change")[0][1], change);
    press_on(fader, "End");
  }
  press_on("lab-g1", "Home");
  const auto identity = table("desk");
  choose("lab-mix", "1");
  EXPECT_NE(table("desk"), identity);
  EXPECT_EQ(rows("#desk-change")[0][1], "0.9941") << "an orthogonal W_O keeps lengths";
  lesson_of_run("vectors");
  EXPECT_FALSE(there("#lab-mix")) << "W_O of a run is what it is";
  const auto output = table("desk");
  press_on("lab-g0", "Home");
  EXPECT_NE(table("desk"), output);
}

TEST_F(Lessons, PositionsStayWhenTokensAreShuffled) {
  open(full, "#view=learn&lesson=patterns");
  EXPECT_FALSE(there("#moved td"));
  click("#shuffle");
  const auto moved = rows("#moved");
  ASSERT_EQ(moved.size(), 4u);
  for (const auto& row : moved)
    if (row[1] == "1 back") {
      EXPECT_EQ(row[2], "position");
      EXPECT_LT(number_in(row[3]), 0.2) << "it looks one back, whatever is there";
    }
  click("#as-it-was");
  EXPECT_FALSE(there("#moved td"));
}

TEST_F(Lessons, NumbersShowTheLinesThatRun) {
  lesson("numbers");
  const std::string before = words("#state");
  click("#step-next");
  EXPECT_NE(words("#state"), before);
  EXPECT_TRUE(shows("#query-output", "0.2491  0.3763"));
  choose("lab-query", "1");
  EXPECT_TRUE(shows("#query-output", "0.4109  0.1336"));
  click("#lab-root");
  EXPECT_TRUE(shows("#query-numbers", "2.0000")) << "the score is the product itself";
  click("#lab-root");
  click("#lab-mask");
  EXPECT_EQ(rows("#query-numbers").size(), 2u) << "query 1 sees keys 0 and 1";
  click("#lab-mask");
  choose("lab-head", "1");
  EXPECT_TRUE(shows("#query-output", "0.2289  0.3663"));
  EXPECT_EQ(words("#line-8"), "      dot += q[i] * K[s][i];") << "code keeps its indentation";
  choose("pick-world", "cat-sleeps");
  EXPECT_TRUE(shows("#query-numbers", "0.9717"));
  EXPECT_TRUE(shows("#query-numbers", "3.5355"));
  lesson_of_run("numbers", "&q=7&ex=3");
  const Json pattern = study.done({"pattern", "full", "0.0", "--example", "3", "--json"}).json();
  const double weight = pattern.at("pattern").items()[7].items()[4].number();
  EXPECT_NEAR(number_in(rows("#query-numbers")[4][3]), weight, 1e-4);
}

TEST_F(Lessons, BudgetGivesASecondHeadItsOwn) {
  lesson("budget");
  const auto before = table("budget");
  press_on("lab-sharp", "ArrowRight");
  EXPECT_NE(table("budget"), before);
  press_on("lab-sharp", "End");
  EXPECT_NEAR(number_in(table("budget")[0][1]), 0.5, 1e-3) << "of two keys each gets half at most";
  choose("lab-heads", "2");
  EXPECT_GT(number_in(table("budget")[0][1]), 0.999);
}

TEST_F(Lessons, PatternsAreNamedByTheirDistances) {
  lesson("patterns");
  std::set<std::string> names;
  for (int head = 0; head < 6; ++head) {
    const std::string id = std::to_string(head);
    EXPECT_EQ(words("#quiz-" + id + "-said"), "") << "no answer before a guess";
    for (int name = 0; name < 6; ++name) {
      choose("lab-a" + id, std::to_string(name));
      if (shows("#quiz-" + id + "-said", "✓")) names.insert(words("#quiz-" + id + "-said"));
    }
  }
  EXPECT_EQ(names.size(), 6u) << "each has one right name";
  click("#quiz-again");
  EXPECT_EQ(words("#quiz-0-said"), "");
  open(full, "#view=learn&lesson=patterns");
  EXPECT_TRUE(shows("#nearest", "previous"));
}

TEST_F(Lessons, ManySplitsTheSameWidthAndCounts) {
  lesson("many");
  EXPECT_NE(caption("split-heads").find("2 heads"), std::string::npos);
  EXPECT_EQ(table("split-heads").size(), 2u * 5);
  open_more();
  EXPECT_TRUE(shows("#uniform-rows", "1 of 10"));
  choose("lab-heads", "4");
  EXPECT_EQ(table("split-heads").size(), 4u * 5);
  EXPECT_TRUE(shows("#uniform-rows", "9 of 20"));
  EXPECT_EQ(words("#count-total"), "1,050,624");
  click("#count-768-12");
  EXPECT_EQ(words("#count-total"), "2,362,368");
  click("#count-512-7");
  EXPECT_TRUE(shows("#count .note", "floor(512 / 7) = 73"));
  click("#count-512-8");
  click("#lab-bias");
  EXPECT_EQ(words("#count-total"), "1,048,576");
  for (const char* absurd : {"0", "-3", "99999999999", "1e300", "2.5", ""}) {
    choose("count-d", absurd, "input");
    EXPECT_TRUE(shows("#count", "whole number from 1 to 65536")) << absurd << words("#count");
  }
  lesson_of_run("many");
  open_more();
  EXPECT_TRUE(shows("#answer", "4: a query of this task")) << "it ends in an answer";
  EXPECT_NE(caption("diversity").find("one model each"), std::string::npos);
  const Json distances = study.json("full/heads.json").at("distances");
  double sum = 0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b) sum += distances.items()[a].items()[b].number();
  for (const auto& row : table("diversity"))
    if (row[0] == "trained") {
      EXPECT_NEAR(number_in(row[2]), sum / 6, 1e-4);
    }
}

TEST_F(Lessons, TrueAsksForChanceAndCause) {
  lesson("true");
  const std::string control = caption("control");
  click("#control-again");
  EXPECT_NE(caption("control"), control);
  lesson_of_run("true");
  EXPECT_FALSE(there("#truth-conclusion"));
  const Json relations = study.json("full/heads.json").at("relations");
  for (std::size_t r = 0; r < relations.items().size(); ++r) {
    const Json& owner = relations.items()[r].at("owner");
    if (owner.is_null()) continue;
    choose("guess-head", at2(owner));
    choose("lab-guess", std::to_string(r));
    click("#show-truth");
    if (shows("#truth-conclusion", "Your guess is right")) break;  // a head may own two
  }
  EXPECT_TRUE(shows("#truth-conclusion", "Your guess is right")) << words("#truth-conclusion");
  EXPECT_TRUE(shows("#truth-conclusion", "nats"));
  choose("lab-guess", "4");
  EXPECT_TRUE(shows("#truth-conclusion", "Your guess is wrong"));
}

TEST_F(Lessons, ExercisesTakeRightAnswersAndRefuseWrongOnes) {
  lesson("exercises");
  expect_wrong(1, "2,359,296"), expect_right(1, "2,362,368");
  expect_wrong(2, "8"), expect_right(2, "9");
  expect_wrong(3, "0.6"), expect_right(3, "0");
  expect_wrong(4, "");
  expect_wrong(4, ".1811 .1811 .3673 .0893");
  expect_wrong(4, ".1811 .1811 .0893 .3673 .1811");
  expect_right(4, ".1811 .1811 .3673 .0893 .1811");
  expect_wrong(5, ".9941 .9600"), expect_right(5, ".9600 and .9941");
  expect_right(5, "0.96 0.99"), expect_right(5, "0.960 0.994"), expect_wrong(5, "1 1");
  EXPECT_TRUE(said(5).ends_with("Enter 2 decimals or more.")) << said(5);
  expect_wrong(6, ".6103 .1323 .0151 .0051"), expect_right(6, ".610 -.132 .015 .005");
  EXPECT_FALSE(there("#exercise-7")) << "no run, no exercise on it";
  click("#exercise-1-hint");
  EXPECT_FALSE(tab().holds("document.getElementById('exercise-1-help').hidden"));
}

TEST_F(Lessons, ExercisesAskOfTheRunWhatItsFilesAnswer) {
  open(full, "#view=learn&lesson=exercises");
  const Json subsets = study.json("full/curve.json").at("subsets");
  ASSERT_EQ(subsets.at("losses").items().size(), 16u);
  const double both = subsets.at("losses").items()[6].number();  // without heads 0 and 3
  expect_right(7, std::to_string(both)), expect_wrong(7, std::to_string(2 * both));
  expect_wrong(7, "many");
  EXPECT_NE(pair_that_is_right(8, 4), "");
  expect_wrong(8, "0.0"), expect_wrong(8, "0.0 9.9");
  std::size_t best = 3;
  for (const std::size_t set : {3u, 5u, 6u, 9u, 10u, 12u})
    if (subsets.at("losses").items()[set].number() < subsets.at("losses").items()[best].number())
      best = set;
  std::string kept, others;
  for (std::size_t h = 0; h < 4; ++h)
    ((best >> h & 1U) != 0 ? kept : others) += "0." + std::to_string(h) + " ";
  expect_right(9, kept), expect_wrong(9, others), expect_wrong(9, "0.1");
  EXPECT_NE(answered(9, kept).find("Number 1 of 6"), std::string::npos);
}

TEST_F(Lessons, GlossaryFindsTerms) {
  lesson("glossary");
  EXPECT_TRUE(shows("#term-count", "90 of 90"));
  choose("find-term", "entropy", "input");
  EXPECT_FALSE(shows("#term-count", "90 of 90"));
  const auto visible = [&] {
    return tab().number(
        "[...document.querySelectorAll('#terms dd')].filter((d) => !d.hidden).length");
  };
  const double all = visible();
  choose("lab-level", "1");
  EXPECT_EQ(visible(), all / 2);
  const auto means = [&](const std::string& name) {
    return tab().text("meanings.get('" + name + "') || ''");
  };
  EXPECT_NE(means("subspace").find("Two heads with the same subspace can still differ"),
            std::string::npos);
  open(full);
  const Json owner = tab().evaluate("app.page.facts.owner");
  for (const char* rule : {"lift", "p"}) {
    const std::string number = owner.at(rule).dump().substr(1);
    EXPECT_NE(means("owner").find(number), std::string::npos) << rule << means("owner");
  }
  EXPECT_EQ(means("behind"), "") << "the word is 'after'";
}

TEST_F(Lessons, AreReachedByKeyboardAlone) {
  const std::map<std::string, std::vector<std::string>> wanted = {
      {"vectors",
       {"lab-head", "lab-heads", "lab-mask", "lab-function", "machine", "lab-g0", "lab-mix"}},
      {"numbers", {"lab-query", "lab-head", "lab-step", "lab-mask", "lab-root", "line-8"}},
      {"budget", {"lab-sharp", "lab-heads"}},
      {"patterns", {"lab-a0", "lab-a5", "quiz-again"}},
      {"many", {"lab-heads", "count-d", "lab-bias", "count-512-7"}},
      {"true", {"control", "control-again"}},
      {"exercises", {"exercise-1", "exercise-1-check", "exercise-1-hint", "exercise-6"}},
      {"glossary", {"find-term", "lab-level"}}};
  for (const auto& [name, ids] : wanted) {
    lesson(name);
    open_more();
    std::set<std::string> reached;
    for (int tabs = 0; tabs < 90; ++tabs) {
      tab().press("Tab");
      reached.insert(tab().text("document.activeElement.id"));
    }
    for (const std::string& id : ids) EXPECT_TRUE(reached.contains(id)) << name << id;
    EXPECT_TRUE(reached.contains("to-glossary"));
  }
}

TEST_F(Lessons, FitNarrowScreensAndHaveNamesForEverything) {
  tab().resize(320, 640);
  for (const bool of_run : {false, true}) {
    for (const char* name : kLessons) {
      of_run ? lesson_of_run(name) : lesson(name);
      EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 320) << name << of_run;
      EXPECT_LE(tab().number("document.querySelectorAll('*').length"), 2000) << name;
      expect_names(name);
    }
  }
}

TEST_F(Lessons, AreTextsAndTablesWithoutScripts) {
  tab().allow_scripts(false);
  tab().open_file(book());
  tab().allow_scripts(true);  // for the questions of this test; the page's own have not run
  EXPECT_EQ(tab().number("document.querySelectorAll('#lessons section').length"),
            std::size(kLessons));
  EXPECT_GE(tab().number("document.querySelectorAll('#lessons table').length"), 3);
  EXPECT_TRUE(shows("#lesson-many", "Transformer base"));
  open_more();
  EXPECT_TRUE(tab().holds("document.querySelector('#lesson-many .table').offsetHeight > 100"));
  EXPECT_EQ(tab().number("document.querySelectorAll('#terms dt').length"), 90);
}

}  // namespace
}  // namespace headlab::browser
