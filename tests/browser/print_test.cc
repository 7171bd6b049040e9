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
