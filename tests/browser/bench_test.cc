// The bench of a page as its reader uses it: what the loss is after a switch, with a masked edge,
// on a slider and for typed tokens is what the program found; and nothing that can be pressed moves
// away while it is measured. Read next: study.h.
#include "browser/study.h"

namespace headlab::browser { namespace {

class OnTheBench : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");

  double loss() { return number_in(words("#live-loss")); }
  void expect_loss(double program) { EXPECT_NEAR(loss(), program, 1e-5 + 6e-4 * program); }
};

TEST_F(OnTheBench, LosesWhatTheProgramLosesWithoutAHead) {
  open(full, "#view=bench");
  click("[id='gate-0.1']");
  tab().click("[id='gate-0.1']");  // on again, and before that is measured
  click("[id='gate-0.2']");
  const Json ablation = study.json("full/ablation.json");
  expect_loss(ablation.at("heads").items()[2].at("loss").number());
  EXPECT_TRUE(shows("#agrees", "✓ the same"));
  EXPECT_TRUE(shows("#live-result", "against all heads on"));
  click("#undo");
  expect_loss(ablation.at("loss").number());
}

/// Controls stay where it is: before, during and after a measurement.
TEST_F(OnTheBench, KeepsItsGatesInPlaceWhileItMeasures) {
  for (const int width : {1280, 320}) {
    tab().resize(width, 800);
    open(full, "#view=bench");
    tab().evaluate(
        "globalThis.places = new Set(), globalThis.shownLosses = new Set(); const look = () => { "
        "places.add(document.getElementById('gate-0.2').getBoundingClientRect().top + scrollY); "
        "shownLosses.add(document.getElementById('live-loss').textContent); }; look(); new "
        "MutationObserver(look).observe(document.getElementById('app'), {subtree: true, childList: "
        "true, attributes: true, characterData: true})");
    for (const char* gate : {"0.1", "0.2", "0.3", "0.2"}) {
      tab().evaluate(std::string("document.getElementById('gate-") + gate + "').click()");
      wait();
    }
    tab().evaluate("document.getElementById('undo').click()");
    wait();
    EXPECT_GE(tab().number("shownLosses.size"), 4) << "it did measure";
    EXPECT_EQ(tab().text("[...places]"), "[" + tab().text("[...places][0]") + "]") << width;
    EXPECT_FALSE(there(".waiting"));
  }
}

/// Gates that move faster than losses are measured: the last one's stays.
TEST_F(OnTheBench, ShowsTheLossOfTheLastGatesOnly) {
  open(full, "#view=bench");
  EXPECT_TRUE(
      tab()
          .evaluate(
              "(async () => { for (const gate of ['0.1', '0.1', '0.3', '0.3', '0.2']) { await new "
              "Promise((done) => setTimeout(done, 5)); "
              "document.getElementById(`gate-${gate}`).click(); } "
              "return Boolean(document.querySelector('.waiting')); })()")
          .boolean());
  wait();
  expect_loss(study.json("full/ablation.json").at("heads").items()[2].at("loss").number());
  EXPECT_TRUE(shows("#agrees", "✓ the same"));
}

TEST_F(OnTheBench, LosesWhatTheProgramLosesWithEverySetOfHeads) {
  open(full);
  const Json losses = study.json("full/curve.json").at("subsets").at("losses");
  ASSERT_EQ(losses.items().size(), 16u);
  for (std::size_t set = 0; set < 16; ++set) {
    std::string gates;
    for (std::size_t h = 0; h < 4; ++h)
      if ((set >> h & 1U) == 0) gates += (gates.empty() ? "0." : ",0.") + std::to_string(h) + ":0";
    go_to("#view=bench" + (gates.empty() ? "" : "&gates=" + gates));
    expect_loss(losses.items()[set].number());
    EXPECT_TRUE(shows("#agrees", "✓ the same (curve.json)")) << set;
  }
}

TEST_F(OnTheBench, HidesTheEdgesThatTheProgramHides) {
  open(full);
  const Json relations = study.json("full/truth_edges.json").at("relations");
  for (const Json& relation : relations.items()) {
    const std::string name = relation.at("name").string();
    const Json& test = relation.at("tests").items()[0];
    if (test.at("truth").at("change").is_null()) continue;  // too few examples to tell
    go_to("#view=bench&hide=truth&rel=" + name + "&h=" + at2(test.at("heads").items()[0]));
    EXPECT_TRUE(shows("#agrees", "✓ the same (truth_edges.json)")) << name << words("#agrees");
    const std::string spoken = name == "same" ? "same class" : name.substr(4) + " back";
    EXPECT_TRUE(shows("#live-result", "rise on " + spoken)) << "one number, one meaning";
  }
}

/// Fewer other edges cost what no head needs.
TEST_F(OnTheBench, HidesAsManyOtherEdges) {
  const Json relation = study.json("full/truth_edges.json").at("relations").items()[0];
  const std::string head = at2(relation.at("tests").items()[0].at("heads").items()[0]);
  const std::string where = "&rel=" + relation.at("name").string() + "&h=" + head;
  open(full, "#view=bench&hide=truth" + where);
  const double truth = loss();
  choose("hide", "random");
  EXPECT_LT(loss(), 0.5 * truth) << "keys that are not asked for";
}

/// A gate lights up where a head costs much more now than with all others on.
TEST_F(OnTheBench, LightsUpWhoIsNeededNow) {
  open(full);
  const Json losses = study.json("full/curve.json").at("subsets").at("losses");
  const auto without = [&](std::size_t heads) { return losses.items()[15 & ~heads].number(); };
  int lit = 0;
  for (const std::size_t off : {1u, 2u, 3u, 5u, 10u, 12u}) {  // one head, or two
    std::string gates;
    for (std::size_t h = 0; h < 4; ++h)
      if ((off >> h & 1U) != 0) gates += (gates.empty() ? "0." : ",0.") + std::to_string(h) + ":0";
    go_to("#view=bench&gates=" + gates);
    for (std::size_t h = 0; h < 4; ++h) {
      if ((off >> h & 1U) != 0) continue;
      const double now = without(1U << h | off) - without(off);
      const double alone = without(1U << h) - without(0);
      const bool more = now > 0.01 + 2 * std::max(0.0, alone);
      EXPECT_EQ(there(".gate:has([id='gate-0." + std::to_string(h) + "']) .chip.more"), more)
          << h << " without " << gates << ": " << now << ", alone " << alone;
      lit += int{more};
    }
  }
  EXPECT_GT(lit, 0);
}

TEST_F(OnTheBench, KeepsWhatAPrunedRunKept) {
  study.done({"page", "full", "pruned", "--out", "kept.html"});
  open(study.path("kept.html"), "#view=bench");
  tab().evaluate(
      "[...document.querySelectorAll('#view button')].find((b) => b.textContent === 'The 3 of "
      "pruned').click()");
  wait();
  const Json pruned = study.json("pruned/prune.json");
  for (const Json& head : pruned.at("removed_heads").items())
    EXPECT_TRUE(shows("#edited", at2(head) + " off")) << words("#edited");
  EXPECT_TRUE(shows("#agrees", "✓ the same (curve.json)"));
}

TEST_F(OnTheBench, KeepsTheBestHeadsOfASize) {
  open(full, "#view=bench");
  EXPECT_FALSE(there("#guess")) << "nothing is off yet";
  EXPECT_EQ(tab().text("document.getElementById('kept').value"), "4") << "the slider says so too";
  choose("method", "greedy");
  press_on("kept", "ArrowLeft");
  press_on("kept", "ArrowLeft");
  std::vector<std::string> on;
  for (int h = 0; h < 4; ++h)
    if (tab().holds("document.getElementById('gate-0." + std::to_string(h) + "').checked"))
      on.push_back("[0," + std::to_string(h) + "]");
  const Json methods = study.json("full/curve.json").at("methods");
  for (const Json& method : methods.items())
    if (method.at("method").string() == "greedy") {
      EXPECT_EQ("[" + join(on, ",") + "]", method.at("points").items()[2].at("heads").dump());
      EXPECT_NEAR(loss(), method.at("points").items()[2].at("loss").number(), 1e-2);
    }
  EXPECT_TRUE(there("#guess"));
  EXPECT_NE(words("#two-off"), "") << "two heads are off";
}

TEST_F(OnTheBench, AnswersWhatIsTyped) {
  open(full, "#view=bench&ex=3");
  const std::string tokens = tab().text("document.getElementById('typed').value");
  const std::string before = words("#answers");
  choose("typed", "abcdabcd", "input");
  EXPECT_TRUE(shows("#answers", "position 7"));
  EXPECT_TRUE(shows("#answers", "✓")) << "what is right for typed tokens is known";
  EXPECT_TRUE(shows("#edited", "tokens typed"));
  table("live-pattern");
  EXPECT_FALSE(shows("figure:has(#live-pattern) details", "headlab heads"))
      << "no command makes a typed input";
  choose("typed", "", "input");
  choose("typed", "!?", "input");
  click("#as-it-was");
  EXPECT_EQ(words("#answers"), before);
  EXPECT_EQ(tab().text("document.getElementById('typed').value"), tokens);
}

}  // namespace
}  // namespace headlab::browser
