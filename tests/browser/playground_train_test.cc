// The page that trains, as its visitor uses it: six challenges by keyboard alone, looking back, a
// link that restores a state, narrow screens and reduced motion, and the command that repeats a
// training with the program. Its trainer is tested under node: report/playground_train_test.cc.
#include "browser/study.h"

namespace headlab::browser { namespace {

/// A folder with the page; written once.
const Study& the_playground() {
  static const std::unique_ptr<Study> study = [] {
    auto made = std::make_unique<Study>();
    made->done({"page", "--playground"});
    return made;
  }();
  return *study;
}

class Playground : public OnPage {
 protected:
  static constexpr double kSeconds = 200;  // for one training on a busy machine

  void start(const std::string& hash = "#speed=fast") {
    open(the_playground().path("playground.html"), hash);
  }
  /// Presses Tab until the focus is on such an element.
  void tab_to(const std::string& selector) {
    const std::string is_there = "document.activeElement.matches(" + Json(selector).dump() + ")";
    for (int presses = 0; presses < 120; ++presses) {
      if (tab().holds(is_there)) return;
      tab().press("Tab");
    }
    FAIL() << "the keyboard does not reach " << selector;
  }
  static std::string challenge(const std::string& name) { return "[data-try=\"" + name + "\"]"; }
  void begin(const std::string& name) {
    tab_to(challenge(name));
    tab().press("Enter");
  }
  /// Waits until a challenge is done; returns what it says.
  std::string done(const std::string& name) {
    const std::string selector = challenge(name) + ".done";
    tab().wait_until("document.querySelector(" + Json(selector).dump() + ")", kSeconds);
    return words(selector + " span");
  }
  void wait_for_pause() { tab().wait_until("!view.isRunning && view.labs[0].steps > 0", kSeconds); }
  double accuracy() { return tab().number("view.labs[0].now.accuracy"); }
};

TEST_F(Playground, ChallengesAreMetByKeyboardAlone) {
  start("");
  tab_to("[data-speed=fast]");
  tab().press("Enter");

  begin("Train 4 heads");
  EXPECT_NE(done("Train 4 heads").find("All four owned at step"), std::string::npos);
  wait_for_pause();
  EXPECT_TRUE(shows("#headline", "each question has a head of its own"));

  begin("Ablate a star");
  const double whole = accuracy();
  tab().press("Enter");
  EXPECT_NE(done("Ablate a star").find("falls to"), std::string::npos);
  EXPECT_LT(accuracy(), whole - 0.1);
  tab().press("Escape");
  EXPECT_EQ(accuracy(), whole);

  begin("How few suffice?");
  EXPECT_NE(done("How few suffice?").find("3 heads"), std::string::npos);
  EXPECT_LT(accuracy(), 0.995);

  begin("Another seed");
  EXPECT_NE(done("Another seed").find("questions have another head"), std::string::npos);
  wait_for_pause();

  begin("8 heads, prune to 4");
  wait_for_pause();
  tab().press("p");
  EXPECT_TRUE(shows("#headline", "Pruned to 4 heads"));
  tab().press("t");
  EXPECT_NE(done("8 heads, prune to 4").find("4 heads left"), std::string::npos);
  wait_for_pause();
  EXPECT_GT(accuracy(), 0.99) << "150 steps later";

  begin("No positions");
  EXPECT_NE(done("No positions").find("Only"), std::string::npos);
  EXPECT_LT(accuracy(), 0.6);

  EXPECT_EQ(rows("#trained").size(), 5u) << "those of two seeds, and the others before this one";
}

TEST_F(Playground, SaysEachNewOwnerAndLooksBack) {
  start("#speed=fast&seed=3");
  expect_names("the playground");
  EXPECT_TRUE(shows("#headline", "No one tells these 4 heads what to attend to"));
  EXPECT_TRUE(shows("#log", "There is no significance test in this page"));
  tab().press("t");
  tab().wait_until("document.getElementById('readout').textContent.includes('now owns')", kSeconds);
  tab().press("t");
  tab().wait_until("!view.isRunning");
  const std::string weights = "JSON.stringify([...view.labs[0].net.parameters.values])";
  const std::string before = tab().text(weights);
  tab_to("[role=slider]");
  tab().press("ArrowLeft");
  EXPECT_TRUE(shows("#headline", "Back at step"));
  tab().press("PageUp");
  tab().press("Escape");
  EXPECT_FALSE(shows("#headline", "Back at step"));
  EXPECT_EQ(tab().text(weights), before) << "looking back changes no weight";
}

TEST_F(Playground, ALinkRestoresKnobsStepsAndHeads) {
  start("#speed=fast&heads=3&seed=7&width=32");
  tab().press("t");
  tab().wait_until("view.labs[0].steps >= 40", kSeconds);
  tab().press("t");
  tab().evaluate("document.querySelector('[data-head=\"1\"]').focus()");
  tab().press("Enter");
  for (int steps = 0; steps < 5; ++steps) tab().press(".");
  const std::string address = tab().text("addressOfState()");
  const std::string state =
      "JSON.stringify([view.labs[0].steps, view.labs[0].state, view.labs[0].now.loss])";
  const std::string before = tab().text(state);
  start(address);
  tab().wait_until("!view.isRunning && !view.restoring", kSeconds);
  EXPECT_EQ(tab().text(state), before);
  EXPECT_EQ(tab().text("addressOfState()"), address);
}

TEST_F(Playground, ShowsAnotherExampleWhenAskedForOne) {
  start("");
  const double first = tab().number("view.example");
  click("#another");
  EXPECT_GT(tab().number("view.example"), first);
}

TEST_F(Playground, FitsNarrowScreensWithAllButtons) {
  tab().resize(390, 844);
  tab().prefer({{"prefers-reduced-motion", "reduce"}, {"prefers-color-scheme", "dark"}});
  start("#speed=normal&two=yes");
  EXPECT_EQ(tab().number("document.documentElement.scrollWidth"), 390);
  for (const char* id : {"#train", "#one", "#restart", "[data-speed=fast]"}) {
    EXPECT_TRUE(tab().holds("(() => { const b = document.querySelector(" + Json(id).dump() +
                            ").getBoundingClientRect(); return b.width > 20 && b.bottom <= 844 && "
                            "b.right <= 390; })()"))
        << id;
  }
  tab().press("t");
  tab().wait_until("view.labs[0].steps >= 24", kSeconds);
  tab().press("t");
  EXPECT_EQ(tab().number("document.documentElement.scrollWidth"), 390);
  EXPECT_EQ(tab().text("getComputedStyle(document.querySelector('.frame')).animationName"), "none");
}

TEST_F(Playground, TheCommandOfThePageHasItsLosses) {
  const Study& study = the_playground();
  start("#speed=fast&task=sort");
  tab().press("t");
  wait_for_pause();
  for (const char* part : {"train", "held"}) {
    const std::string name = part == std::string("train") ? "play.jsonl" : "play_held_out.jsonl";
    write_file(study.path(name), tab().text(text("currentTask().lines(currentTask().", part, ")")));
  }
  const std::string command = words("#command");
  Words typed;
  for (const std::string_view word : split(command, ' ')) typed.emplace_back(word);
  ASSERT_EQ(typed[0], "headlab");
  study.done({typed.begin() + 1, typed.end()});
  const Json last = study.done({"eval", "runs/play", "--json"}).json();
  EXPECT_NEAR(last.at("loss").number(), tab().number("view.labs[0].now.loss"), 1e-5);
  EXPECT_NEAR(last.at("accuracy").number(), accuracy(), 1e-5);
}

}  // namespace
}  // namespace headlab::browser
