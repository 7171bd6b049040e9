// The page for everyone: dark, printed, narrow, without motion, without scripts, by keyboard and by
// name; and whatever stands in a token, it stays text. Read next: cases_test.cc.
#include <set>

#include "browser/study.h"

namespace headlab::browser { namespace {

class Readers : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");

  std::vector<std::string> views() {
    const Json names =
        tab().evaluate("app.views.filter((v) => v.available(app.page)).map((v) => v.name)");
    std::vector<std::string> list;
    for (const Json& name : names.items()) list.push_back(name.string());
    return list;
  }
};

TEST_F(Readers, WhoPreferDarkGetDarkPaperAndItsOwnEndOfTheScale) {
  open(full, "#view=head&h=0.0");
  const std::string light = tab().text("palette().paper");
  tab().prefer({{"prefers-color-scheme", "dark"}});
  open(full, "#view=head&h=0.0");
  EXPECT_NE(tab().text("palette().paper"), light);
  EXPECT_EQ(tab().text("scaleColors(palette(), 'weight')[0]"), tab().text("palette().paper"));
  tab().click("#theme");
  wait();
  EXPECT_NE(tab().text("app.state.theme"), "auto");
}

TEST_F(Readers, WithForcedColoursOrLessMotionStillReadEveryView) {
  tab().prefer({{"forced-colors", "active"}, {"prefers-reduced-motion", "reduce"}});
  open(full);
  for (const std::string& view : views()) go_to("#view=" + view);
  EXPECT_TRUE(tab().holds(
      "document.getAnimations().length === 0 && [...document.querySelectorAll('*')].every((e) => "
      "parseFloat(getComputedStyle(e).transitionDuration) === 0)"));
}

TEST_F(Readers, OnNarrowScreensNeverScrollSideways) {
  tab().resize(320, 640);
  open(full);
  for (const std::string& view : views()) {
    go_to("#view=" + view);
    EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 320) << view;
  }
}

TEST_F(Readers, CanPrintWhatIsOpen) {
  open(full, "#view=head&h=0.0");
  const Json pdf = tab().call("Page.printToPDF", {{"printBackground", true}});
  EXPECT_GT(pdf.at("data").string().size(), 10'000u);
  tab().prefer({}, "print");
  EXPECT_TRUE(tab().holds("getComputedStyle(document.getElementById('views')).display === 'none'"));
}

/// Every role that can be focused or is a picture.
TEST_F(Readers, WhoListenFindANameForEverything) {
  open(full);
  const std::set<std::string> roles = {"button", "link",   "combobox",  "slider", "checkbox",
                                       "image",  "img",    "gridcell",  "grid",   "textbox",
                                       "table",  "region", "spinbutton"};
  for (const std::string& view : views()) {
    go_to("#view=" + view);
    for (const Json& node : tab().accessible_nodes()) {
      const Json* role = node.find("role");
      if (role == nullptr || !roles.contains(role->at("value").string())) continue;
      const Json* name = node.find("name");
      const Json* value = name != nullptr ? name->find("value") : nullptr;
      EXPECT_TRUE(value != nullptr && !value->string().empty())
          << view << ": a " << role->at("value").string() << " without a name: " << node.dump();
    }
    EXPECT_EQ(tab().number("document.querySelectorAll('h1').length"), 1) << view;
  }
}

TEST_F(Readers, WhoListenGetATableBehindEveryPicture) {
  open(full, "#view=head&h=0.0&ex=3");
  EXPECT_NE(tab().text("document.getElementById('pattern').getAttribute('aria-label')"), "");
  tab().click("figure:has(#pattern) .table-button");
  wait();
  EXPECT_EQ(tab().text("document.querySelector('figure:has(#pattern) .table-button')"
                       ".getAttribute('aria-expanded')"),
            "true");
  EXPECT_EQ(tab().number("document.querySelectorAll('figure:has(#pattern) tbody tr').length"), 16);
}

TEST_F(Readers, ReachEverythingWithTab) {
  open(full);
  std::set<std::string> reached;
  for (int i = 0; i < 200; ++i) {
    tab().press("Tab");
    reached.insert(tab().text("document.activeElement.id || document.activeElement.className"));
    EXPECT_TRUE(
        tab().holds("document.activeElement === document.body || "
                    "getComputedStyle(document.activeElement).outlineStyle !== 'none'"))
        << tab().text("document.activeElement.outerHTML.slice(0, 200)");
  }
  for (const char* id : {"skip", "link", "theme", "keys", "view-head", "view-live"})
    EXPECT_TRUE(reached.contains(id)) << id;
}

TEST_F(Readers, WithoutScriptsSeeVerdictScoresAndGrid) {
  tab().allow_scripts(false);
  tab().open_file(full);
  tab().allow_scripts(true);  // for the questions of this test; the page's own have not run
  EXPECT_FALSE(tab().holds("document.getElementById('static').hidden"));
  EXPECT_FALSE(tab().holds("globalThis.app && app.ready"));
  EXPECT_NE(words("#verdict").find("4 heads"), std::string::npos) << words("#verdict");
  EXPECT_TRUE(there("#scores-table tbody tr"));
  EXPECT_GE(tab().number("document.querySelectorAll('#static svg').length"), 4);
}

TEST_F(Readers, SavePicturesThatParse) {
  open(full);
  for (const std::string& view : views()) {
    go_to("#view=" + view);
    const Json documents = tab().evaluate(
        "app.figures.filter((f) => f.picture).map((f) => { const d = new DOMParser()"
        ".parseFromString(svg(f.picture, palette('light'), 'again: x'), 'image/svg+xml'); return "
        "[f.canvas.id, d.querySelector('parsererror') === null && d.querySelector('metadata')"
        ".textContent === 'again: x' && d.querySelector('title').textContent.length > 0, "
        "csv(f.picture.table()).split('\\r\\n').length]; })");
    for (const Json& one : documents.items()) {
      const std::string name = view + " " + one.items()[0].dump();
      EXPECT_TRUE(one.items()[1].boolean()) << name;
      EXPECT_GE(one.items()[2].number(), 2) << name;
    }
  }
}

/// The program writes the same items in the same words as the page.
TEST_F(Readers, GetTheSameSvgFromThePageAndTheProgram) {
  study.done({"heads", "full", "--pattern", "0.0", "--example", "3", "--svg", "p.svg"});
  const std::string program = read_file(study.path("p.svg"));
  open(full, "#view=head&h=0.0&ex=3");
  const std::string page =
      tab().text("svg(" + figure("pattern") + ".picture, palette('light'), '')");
  const auto outlines = [](const std::string& document) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = document.find("stroke-width=\"4\"", at)) != document.npos; ++at)
      ++count;
    return count;
  };
  EXPECT_GT(outlines(program), 5u);
  EXPECT_EQ(outlines(program), outlines(page));
  for (const char* head :
       {"<path fill=\"#00224e\"", "font-family=\"Helvetica, Arial, &quot;Liberation Sans&quot;",
        "dominant-baseline=\"central\""}) {
    EXPECT_NE(program.find(head), program.npos) << head;
    EXPECT_NE(page.find(head), page.npos) << head;
  }
}

}  // namespace
}  // namespace headlab::browser
