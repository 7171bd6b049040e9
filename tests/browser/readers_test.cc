// The page for everyone: dark, narrow, without motion, without scripts, by keyboard and by
// name; and every token stays text. Read next: cases_test.cc.
#include <cstring>
#include <regex>

#include "browser/study.h"

namespace headlab::browser { namespace {

/// Records the picture that a button saves, instead of saving it.
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
    saved_width_ = tab().number("figures.find((f) => f.canvas.id === '" + id + "').picture.width");
    return tab().text("files[0]");
  }
  /// The picture of a command, as wide as the figure that was saved last.
  std::string program(Words words) const {
    const double mm = saved_width_ / 72 * 25.4 * 7 / 11;  // a unit has 7/11 points
    for (const char* more : {"--svg", "c.svg", "--width"}) words.emplace_back(more);
    words.push_back(std::to_string(mm) + "mm");
    study.done(words);
    return read_file(study.path("c.svg"));
  }
  double saved_width_ = 700;
};

TEST_F(Readers, DarkPreferenceGivesDarkPaperAndAnInvertedScale) {
  const auto corner = [&] {  // of a pattern, that no reader points at
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
    for (const char* view :
         {"bench", "results", "about", "learn&lesson=true", "learn&lesson=many"}) {
      go_to(std::string("#view=") + view);
      tab().evaluate("document.querySelectorAll('#view .more').forEach((one) => one.open = true)");
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

TEST_F(Readers, WithAScreenReaderFindANameForEverything) {
  open(full);
  for (const std::string view : kViews) {
    go_to("#view=" + view);
    expect_names(view);
    EXPECT_EQ(tab().number("document.querySelectorAll('h1').length"), 1) << view;
  }
}

TEST_F(Readers, WithAScreenReaderGetATableForEveryPicture) {
  open(full, "#view=head&h=0.0&ex=3");
  EXPECT_NE(tab().text("document.getElementById('pattern').getAttribute('aria-label')"), "");
  EXPECT_EQ(table("pattern").size(), 16u);
  EXPECT_TRUE(shows("figure:has(#pattern) details", "headlab pattern full 0.0 --example 3"));
  open(full, "#view=head&h=0.0&tokens=15,10,3");
  EXPECT_EQ(table("pattern").size(), 3u);
  EXPECT_FALSE(there("figure:has(#pattern) details .term")) << "the tokens p, k and d are no terms";
}

/// In one column, what comes next to who listens is below or next to what came before.
TEST_F(Readers, WithAScreenReaderHearThePageInReadingOrder) {
  tab().resize(320, 640);
  open(full);
  for (const std::string view : kViews) {
    go_to("#view=" + view);
    EXPECT_EQ(
        tab().text(
            "(() => { const parts = [...document.querySelectorAll('header, #views, #controls, "
            "#view :is(h3, figure, table, .conclusion, .note, .controls, .cell)')].filter((e) => "
            "e.offsetHeight && !e.closest('aside')); return parts.filter((e, i) => i && "
            "e.getBoundingClientRect().top < parts[i - 1].getBoundingClientRect().top - 40)"
            ".map((e) => e.outerHTML.slice(0, 80)).join(); })()"),
        "")
        << view;
  }
}

/// The card of a head that is tapped is in sight on a small screen too.
TEST_F(Readers, TappingAHeadOpensItsCard) {
  tab().resize(320, 640);
  open(full);
  for (const char* head : {"0.0", "0.3"}) {
    click(std::string("#maps [data-head='") + head + "']");
    EXPECT_TRUE(words("#drawer").starts_with(head));
    EXPECT_TRUE(
        tab().holds("(() => { const b = document.getElementById('drawer').getBoundingClientRect(); "
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
  for (const char* id : {"skip", "link", "theme", "keys", "view-head", "view-bench", "next"})
    EXPECT_TRUE(reached.contains(id)) << id;
  open(full, "#view=head&h=0.0");
  int tabs = 0;
  do tab().press("Tab");
  while (++tabs < 40 && tab().text("document.activeElement.id") != "pattern");
  EXPECT_LE(tabs, 21) << "to the pattern";
}

TEST_F(Readers, WithoutScriptsSeeConclusionMapsAndScores) {
  tab().allow_scripts(false);
  tab().open_file(full);
  tab().allow_scripts(true);  // for the questions of this test; the page's own have not run
  EXPECT_FALSE(tab().holds("document.getElementById('static').hidden"));
  EXPECT_TRUE(tab().holds("document.getElementById('app').hidden"));
  EXPECT_TRUE(shows("#conclusion", "4 heads")) << words("#conclusion");
  EXPECT_TRUE(shows("#conclusion", "the model names the tokens 1, 3 and 5 back"))
      << "what is asked";
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
    if (view == "results" || view == "head") {
      EXPECT_GE(saved.items().size(), 4u) << view;
    }
  }
}

/// The lines and dots of a chart with their colours, each at places from 0 to 1 within its frame,
/// which is the rule that goes down and then to the right. A dot is its middle.
std::vector<std::pair<std::string, std::vector<double>>> drawn_in(const std::string& svg) {
  static const std::regex mark(
      R"re(<(?:path d="([^"]*)"|circle (cx="[^"]*" cy="[^"]*")[^>]*) fill="([^"]*)"(?: stroke="([^"]*)")?)re");
  static const std::regex number(R"(-?[\d.]+)");
  std::vector<std::pair<std::string, std::vector<double>>> drawn;
  std::vector<double> frame;
  for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) {
    const std::string path = (*at)[1].str() + (*at)[2].str();
    std::vector<double> n;
    for (std::sregex_iterator i(path.begin(), path.end(), number), last; i != last; ++i)
      n.push_back(std::stod(i->str()));
    if (n.size() == 6 && n[0] == n[2] && n[3] == n[5]) {
      frame = n;
      continue;
    }
    if (frame.empty()) continue;
    for (std::size_t i = 0; path.back() == 'z' && i + 2 < n.size(); i += 2)
      n[0] += n[i + 2], n[1] += n[i + 3];
    if (path.back() == 'z') n = {2 * n[0] / double(n.size()), 2 * n[1] / double(n.size())};
    for (std::size_t i = 0; i < n.size(); ++i)
      n[i] = std::max(0.0, i % 2 == 0 ? (n[i] - frame[0]) / (frame[4] - frame[0])
                                      : (n[i] - frame[1]) / (frame[3] - frame[1]));
    drawn.emplace_back((*at)[3].str() + (*at)[4].str(), n);
  }
  return drawn;
}

/// The words of a picture, with the minus signs and exponents of the program.
std::set<std::string> texts_in(std::string svg) {
  static const std::regex words("<text[^>]*>([^<]*)</text>"), minus("\u2212"), exponent("e-0");
  svg = std::regex_replace(std::regex_replace(svg, minus, "-"), exponent, "e-");
  std::set<std::string> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), words), end; at != end; ++at)
    all.insert((*at)[1]);
  return all;
}

/// The same lines and dots in the same colours at the same places, in the same order, and all words
/// of the program's picture. If there are several plots, the first ones are compared: the program
/// draws them in one picture, the page in one each; `first` is the page's first.
void expect_same(const std::string& page, const std::string& program,
                 const std::string& first = "") {
  auto ours = drawn_in(page), theirs = drawn_in(program);
  if (!first.empty()) {
    ASSERT_EQ(ours.size(), theirs.size());
    ours.resize(drawn_in(first).size());
    theirs.resize(ours.size());
  }
  ASSERT_GE(theirs.size(), 2u);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(ours[i].first, theirs[i].first) << i;
    ASSERT_EQ(ours[i].second.size(), theirs[i].second.size()) << i;
    for (std::size_t j = 0; j < theirs[i].second.size(); ++j)
      EXPECT_NEAR(ours[i].second[j], theirs[i].second[j], 0.01) << i << " " << j;
  }
  const std::set<std::string> here = texts_in(page);
  static const std::regex panel(R"(\([a-z]\))");
  for (const std::string& words : texts_in(program)) {
    const bool is_panel = !first.empty() && std::regex_match(words, panel);
    EXPECT_TRUE(is_panel || here.contains(words)) << "the page lacks " << words;
  }
}

TEST_F(Readers, GetTheSameCurveFromThePageAndTheProgram) {
  open(full, "#view=results&file=curve");
  expect_same(svg_of("curve"),
              program({"curve", "full", "--methods", "random,ablation,greedy,exhaustive"}));
}

TEST_F(Readers, GetTheSameLossesAndEmergenceStepsFromPageAndProgram) {
  open(full, "#view=results&file=training");
  const std::string first = svg_of("losses");
  std::string losses = first;
  const int plots = static_cast<int>(tab().number("run().facts.figures.losses.plots.length"));
  for (int i = 1; i < plots; ++i) losses += svg_of("losses-" + std::to_string(i));
  expect_same(losses, program({"runs", "full"}), first);
  open(full, "#view=results&file=training");
  expect_same(svg_of("history"), program({"history", "full"}));
}

TEST_F(Readers, GetTheSameLossByHeadsFromThePageAndTheProgram) {
  const Words sweep = cli::typed(
      "sweep --task relations:length=8 --heads 1,2,4 --seeds 3 --d-model 16 --steps 10 --batch 8 "
      "--eval-examples 32 --out swept");
  study.done(sweep);
  study.done({"page", "swept"});
  open(study.path("swept/report.html"));
  expect_same(svg_of("loss-by-heads"), program(sweep));
}

/// The program writes the same items in the same words as the page.
TEST_F(Readers, GetTheSameSvgFromThePageAndTheProgram) {
  study.done({"pattern", "full", "0.0", "--example", "5", "--svg", "p.svg"});
  const std::string program = read_file(study.path("p.svg"));
  open(full, "#view=head&h=0.0&ex=5");
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
