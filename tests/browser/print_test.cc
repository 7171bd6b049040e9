// The page on paper: the open view without its controls, with all pictures in light colours.
// Read next: study.h.
#include "browser/study.h"

namespace headlab::browser { namespace {

class Print : public OnPage {
 protected:
  fs::path full = the_study().path("full/report.html");
};

TEST_F(Print, PrintsTheOpenViewWithoutTheTabs) {
  open(full, "#view=head&h=0.0");
  const Json pdf = tab().call("Page.printToPDF", {{"printBackground", true}});
  EXPECT_GT(pdf.at("data").string().size(), 10'000u);
  tab().prefer({}, "print");
  EXPECT_TRUE(tab().holds("getComputedStyle(document.getElementById('views')).display === 'none'"));
}

TEST_F(Print, ShowsTheMapsAndTokensOfTheFirstScreen) {
  tab().resize(1280, 800);
  open(full);
  tab().prefer({}, "print");
  for (const char* part : {".map canvas", ".tok", "#drawer", ".arc", "#headline"})
    EXPECT_TRUE(
        tab().holds(std::string("document.querySelector('") + part + "').getClientRects().length"))
        << part;
  for (const char* control : {"#next", ".steps", "#views"})
    EXPECT_FALSE(tab().holds(std::string("document.querySelector('") + control +
                             "').getClientRects().length"))
        << control;
}

/// Returns for each figure that is printed its name and whether it has dark pixels, as it looks on
/// paper; and the labels that are cut off at its edges.
constexpr const char* kPrintedFigures = R"js((async () => {
  dispatchEvent(new Event('beforeprint'));
  const found = [];
  for (const drawing of document.querySelectorAll('svg.paper')) {
    const {width, height} = drawing.viewBox.baseVal;
    const image = new Image();
    image.src = 'data:image/svg+xml,' + encodeURIComponent(
      new XMLSerializer().serializeToString(drawing));
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [width, height];
    canvas.getContext('2d').drawImage(image, 0, 0, width, height);
    const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) dark += data[i] + data[i + 1] + data[i + 2] < 300;
    const box = drawing.getBoundingClientRect();
    const cut = [...drawing.querySelectorAll('text')].filter((label) => {
      const {left, right} = label.getBoundingClientRect();
      return left < box.left - 2 || right > box.right + 2;
    });
    found.push({name: drawing.parentNode.querySelector('canvas').id, dark, wide: box.width,
      cut: cut.map((label) => label.textContent).join('; ')});
  }
  dispatchEvent(new Event('afterprint'));
  return found;
})())js";

TEST_F(Print, ShowsTheFiguresOfEveryViewWithWholeLabels) {
  the_study().done({"sweep", "--task", "relations:length=8", "--heads", "1,2", "--seeds", "2",
                    "--d-model", "16", "--steps", "10", "--eval-examples", "32", "--out",
                    "printed"});
  const fs::path sweep = the_study().page("printed");
  tab().resize(1280, 800);
  std::set<std::string> seen;
  for (const auto& [page, hash] : {std::pair{full, "#view=head&h=0.0&tab=row"},
                                   {full, "#view=head&h=0.0&tab=flow"},
                                   {full, "#view=head&h=0.0&tab=plane"},
                                   {full, "#view=bench"},
                                   {full, "#view=results&file=training"},
                                   {full, "#view=results&file=curve"},
                                   {full, "#view=results&file=ablation"},
                                   {sweep, "#view=sweep"}}) {
    open(page, hash);
    tab().wait_until("app.busy <= 0", 60);
    tab().prefer({}, "print");
    const Json figures = tab().evaluate(kPrintedFigures);
    tab().prefer({}, "screen");
    EXPECT_FALSE(figures.items().empty()) << hash;
    for (const Json& figure : figures.items()) {
      seen.insert(figure.at("name").string());
      EXPECT_GT(figure.at("dark").number(), 20) << hash << figure.dump();
      EXPECT_GT(figure.at("wide").number(), 100) << hash << figure.dump();
      EXPECT_EQ(figure.at("cut").string(), "") << hash << figure.dump();
    }
  }
  for (const char* name : {"pattern", "row", "flow", "plane", "by-question", "live-pattern",
                           "history", "losses", "curve", "result-0", "loss-by-heads"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

/// Pictures are canvases, which keep the colours in which they were drawn.
TEST_F(Print, ShowsLightPicturesUnderDarkColours) {
  tab().prefer({{"prefers-color-scheme", "dark"}});
  const char* corner =
      "[...document.getElementById('pattern').getContext('2d').getImageData(340, 80, 1, 1).data]";
  open(full, "#view=head&h=0.0");
  const std::string dark = tab().text(corner);
  tab().evaluate(
      "globalThis.printed = ''; addEventListener('beforeprint', () => { printed = "
      "JSON.stringify(" +
      std::string(corner) + "); })");
  tab().call("Page.printToPDF", {{"printBackground", true}});
  EXPECT_EQ(tab().text("printed"), "[255,255,255,255]");
  EXPECT_EQ(tab().text(corner), dark) << "after printing the page is as before";
}

}  // namespace
}  // namespace headlab::browser
