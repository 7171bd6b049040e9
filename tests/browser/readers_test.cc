// The page for everyone: dark, printed, narrow, without motion, without scripts, by keyboard and by
// name; and whatever stands in a token, it stays text. Read next: cases_test.cc.
#include <regex>
#include <set>

#include "browser/study.h"

namespace headlab::browser { namespace {

/// What a button of a picture saves, instead of saving it.
constexpr const char* kCatchFiles =
    "globalThis.files = []; URL.createObjectURL = (blob) => (files.push(blob.text()), 'blob:x'); "
    "URL.revokeObjectURL = () => {}; HTMLAnchorElement.prototype.click = () => {};";

class Readers : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");

  /// A figure as the page saves it.
  std::string svg_of(const std::string& id) {
    tab().evaluate(kCatchFiles);
    const std::string figure = "figure:has(#" + id + ")";
    tab().click(figure + " summary");
    tab().wait_until("document.querySelector('" + figure + " details button')");
    tab().click(figure + " details button");
    return tab().text("files[0]");
  }
};

TEST_F(Readers, WhoPreferDarkGetDarkPaperAndItsOwnEndOfTheScale) {
  const auto corner = [&] {  // of a pattern, where nobody looks
    return tab().text(
        "[...document.getElementById('pattern').getContext('2d').getImageData(340, 80, 1, "
        "1).data]");
  };
  open(full, "#view=head&h=0.0");
  EXPECT_EQ(corner(), "[255,255,255,255]");
  tab().prefer({{"prefers-color-scheme", "dark"}});
  open(full, "#view=head&h=0.0");
  EXPECT_EQ(corner(), "[20,22,26,255]");
  click("#theme");
  EXPECT_EQ(corner(), "[255,255,255,255]");
}

TEST_F(Readers, WithForcedColoursOrLessMotionStillReadEveryView) {
  tab().prefer({{"forced-colors", "active"}, {"prefers-reduced-motion", "reduce"}});
  open(full);
  for (const char* view : kViews) go_to(std::string("#view=") + view);
  EXPECT_TRUE(tab().holds(
      "document.getAnimations().length === 0 && [...document.querySelectorAll('*')].every((e) => "
      "parseFloat(getComputedStyle(e).transitionDuration) === 0)"));
}

/// Words and numbers that go on in a second line, though they have no hyphen.
constexpr const char* kBrokenWords =
    "[...document.querySelectorAll('#view :is(th, td, .big)')].flatMap((cell) => { const found = "
    "[], texts = document.createTreeWalker(cell, 4), range = document.createRange(); for (let "
    "node; "
    "(node = texts.nextNode());) for (const word of node.data.matchAll(/[\\w.]+/g)) { "
    "range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length); "
    "if (range.getClientRects().length > 1) found.push(word[0]); } return found; }).join(' ')";

TEST_F(Readers, OnNarrowScreensNeverScrollSidewaysNorBreakWords) {
  tab().resize(320, 640);
  open(full);
  for (const char* view : kViews) {
    go_to(std::string("#view=") + view);
    EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 320) << view;
    EXPECT_EQ(tab().text(kBrokenWords), "") << view;
    EXPECT_TRUE(
        tab().holds("(() => { const b = document.querySelector('#views [aria-current]')"
                    ".getBoundingClientRect(); return b.left >= 0 && b.right <= 320; })()"))
        << view << ": the open place is in sight";
  }
}

/// Tables are never cut between rows; those that are wider than their box fade at that side.
TEST_F(Readers, SeeThatATableGoesOn) {
  open(full);
  double wider = 0;
  for (const int width : {320, 700}) {
    tab().resize(width, 640);
    for (const char* view : {"story", "bench", "findings", "about", "learn&lesson=many"}) {
      go_to(std::string("#view=") + view);
      tab().evaluate("globalThis.boxes = [...document.querySelectorAll('#view .table')]");
      wider += tab().number("boxes.filter((box) => box.scrollWidth > box.clientWidth).length");
      EXPECT_EQ(tab().text("boxes.filter((box) => box.scrollHeight > box.clientHeight + 1 || "
                           "!/gradient/.test(getComputedStyle(box).backgroundImage)).length"),
                "0")
          << view << width;
    }
  }
  EXPECT_GT(wider, 0);
}

TEST_F(Readers, CanPrintWhatIsOpen) {
  open(full, "#view=head&h=0.0");
  const Json pdf = tab().call("Page.printToPDF", {{"printBackground", true}});
  EXPECT_GT(pdf.at("data").string().size(), 10'000u);
  tab().prefer({}, "print");
  EXPECT_TRUE(tab().holds("getComputedStyle(document.getElementById('views')).display === 'none'"));
}

TEST_F(Readers, WhoListenFindANameForEverything) {
  open(full);
  for (const std::string view : kViews) {
    go_to("#view=" + view);
    expect_names(view);
    EXPECT_EQ(tab().number("document.querySelectorAll('h1').length"), 1) << view;
  }
}

TEST_F(Readers, WhoListenGetATableBehindEveryPicture) {
  open(full, "#view=head&h=0.0&ex=3");
  EXPECT_NE(tab().text("document.getElementById('pattern').getAttribute('aria-label')"), "");
  EXPECT_EQ(table("pattern").size(), 16u);
  EXPECT_TRUE(
      shows("figure:has(#pattern) details", "headlab heads full --pattern 0.0 --example 3"));
  open(full, "#view=head&h=0.0&tokens=15,10,3");
  EXPECT_EQ(table("pattern").size(), 3u);
  EXPECT_FALSE(there("figure:has(#pattern) details .term")) << "the tokens p, k and d are no terms";
}

/// In one column, what comes next to who listens stands below, or beside, what came before.
TEST_F(Readers, WhoListenHearThePageInTheOrderOfReading) {
  tab().resize(320, 640);
  open(full);
  for (const std::string view : kViews) {
    go_to("#view=" + view);
    EXPECT_EQ(
        tab().text(
            "(() => { const parts = [...document.querySelectorAll('header, #views, #controls, "
            "#view :is(h3, figure, table, .verdict, .note, .controls, .cell)')].filter((e) => "
            "e.offsetHeight && !e.closest('aside')); return parts.filter((e, i) => i && "
            "e.getBoundingClientRect().top < parts[i - 1].getBoundingClientRect().top - 40)"
            ".map((e) => e.outerHTML.slice(0, 80)).join(); })()"),
        "")
        << view;
  }
}

/// The card of a head that is tapped is in sight on a small screen too.
TEST_F(Readers, WhoTapAHeadSeeItsCard) {
  tab().resize(320, 640);
  open(full);
  for (const char* head : {"0.0", "0.3"}) {
    click(std::string("#grid [data-head='") + head + "']");
    EXPECT_TRUE(words("#card").starts_with(head));
    EXPECT_TRUE(
        tab().holds("(() => { const b = document.getElementById('card').getBoundingClientRect(); "
                    "return b.top >= 0 && b.top + 80 <= innerHeight; })()"))
        << head;
  }
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
  for (const char* id : {"skip", "link", "theme", "keys", "view-head", "view-bench", "asked"})
    EXPECT_TRUE(reached.contains(id)) << id;
  open(full, "#view=head&h=0.0");
  int tabs = 0;
  do tab().press("Tab");
  while (++tabs < 40 && tab().text("document.activeElement.id") != "pattern");
  EXPECT_LE(tabs, 20) << "to the pattern";
}

TEST_F(Readers, WithoutScriptsSeeVerdictMapsAndScores) {
  tab().allow_scripts(false);
  tab().open_file(full);
  tab().allow_scripts(true);  // for the questions of this test; the page's own have not run
  EXPECT_FALSE(tab().holds("document.getElementById('static').hidden"));
  EXPECT_TRUE(tab().holds("document.getElementById('app').hidden"));
  EXPECT_TRUE(shows("#verdict", "4 heads")) << words("#verdict");
  EXPECT_TRUE(shows("#verdict", "has to look at the token 1 back")) << "what is asked";
  EXPECT_TRUE(shows("h1", "full"));
  EXPECT_TRUE(there("#scores-table tbody tr"));
  EXPECT_TRUE(shows("#static pre", "0.3") && shows("#static pre", "█")) << words("#static pre");
  tab().resize(320, 640);
  EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 320);
}

TEST_F(Readers, SavePicturesThatParse) {
  open(full);
  for (const std::string view : kViews) {
    go_to("#view=" + view);
    tab().evaluate(kCatchFiles);
    tab().evaluate(
        "for (const summary of document.querySelectorAll('#view details.tools summary')) if "
        "(summary.offsetParent) summary.click()");
    tab().evaluate("new Promise((done) => setTimeout(done, 50))");
    tab().evaluate(
        "for (const button of document.querySelectorAll('details.tools button')) if "
        "(!button.textContent.includes('PNG')) button.click()");
    const Json saved = tab().evaluate("Promise.all(files)");
    for (const Json& file : saved.items()) {
      if (file.string().starts_with("<svg")) {
        EXPECT_TRUE(
            tab().holds("((text) => { const d = new DOMParser().parseFromString(text, "
                        "'image/svg+xml'); return !d.querySelector('parsererror') && "
                        "d.querySelector('metadata').textContent.includes('headlab') && "
                        "d.querySelector('title').textContent; })(" +
                        file.dump() + ")"))
            << view << file.string().substr(0, 300);
      } else {
        EXPECT_GE(std::ranges::count(file.string(), '\n'), 2) << view << file.string();
      }
    }
    if (view == "story" || view == "head") {
      EXPECT_GE(saved.items().size(), 4u) << view;
    }
  }
}

/// The lines of a chart with their looks, at places from 0 to 1 within its frame, which is the line
/// of three points; ascending.
std::vector<std::pair<std::string, std::vector<double>>> chart_lines(const std::string& svg) {
  static const std::regex path("<path d=\"(M[^\"]*)\" fill=\"none\" stroke=\"([^\"]*)\"[^>]*>");
  static const std::regex number("-?[\\d.]+");
  std::vector<std::pair<std::string, std::vector<double>>> lines;
  std::vector<double> frame;
  for (std::sregex_iterator at(svg.begin(), svg.end(), path), end; at != end; ++at) {
    const std::string d = (*at)[1];
    std::vector<double> places;
    for (std::sregex_iterator n(d.begin(), d.end(), number), last; n != last; ++n)
      places.push_back(std::stod(n->str()));
    if (d.back() == 'z') continue;  // a mark
    if (places.size() == 6) frame = places;
    if (places.size() > 6) lines.emplace_back((*at)[2], places);
  }
  for (auto& [look, places] : lines)
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = i % 2 == 0 ? (places[i] - frame.at(0)) / (frame.at(4) - frame.at(0))
                             : (places[i] - frame.at(1)) / (frame.at(3) - frame.at(1));
  return lines;
}

std::set<std::string> texts_in(const std::string& svg) {
  static const std::regex words("<text[^>]*>([^<]*)</text>");
  std::set<std::string> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), words), end; at != end; ++at)
    all.insert((*at)[1]);
  return all;
}

/// The same lines in the same colours at the same places, and all words of the program's picture.
TEST_F(Readers, GetTheSameCurveFromThePageAndTheProgram) {
  study.done({"curve", "full", "--methods", "random,ablation,greedy,exhaustive", "--svg", "c.svg"});
  const std::string program = read_file(study.path("c.svg"));
  open(full, "#view=findings&file=curve");
  const std::string page = svg_of("curve");
  const auto ours = chart_lines(page), theirs = chart_lines(program);
  ASSERT_EQ(theirs.size(), 4u);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(ours.at(i).first, theirs[i].first) << i;
    ASSERT_EQ(ours[i].second.size(), theirs[i].second.size());
    for (std::size_t j = 0; j < theirs[i].second.size(); ++j)
      EXPECT_NEAR(ours[i].second[j], theirs[i].second[j], 0.01) << i << " " << j;
  }
  const std::set<std::string> here = texts_in(page);
  for (const std::string& words : texts_in(program))
    EXPECT_TRUE(here.contains(words)) << "the page lacks " << words;
}

/// The program writes the same items in the same words as the page.
TEST_F(Readers, GetTheSameSvgFromThePageAndTheProgram) {
  study.done({"heads", "full", "--pattern", "0.0", "--example", "3", "--svg", "p.svg"});
  const std::string program = read_file(study.path("p.svg"));
  open(full, "#view=head&h=0.0&ex=3");
  const std::string page = svg_of("pattern");
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
