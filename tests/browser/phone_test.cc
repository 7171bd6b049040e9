// Pages on the screen of a phone, 390 x 844: no caption, choice, sentence or name of a bar is cut,
// no text lies on an answer, and the keys of the query are in sight. Read next: phone.js.
#include "browser/study.h"

namespace headlab::browser { namespace {

class OnAPhone : public OnPage {
 protected:
  /// Expects no fault of phone.js in any view of a page, nor with a selected head.
  void expect_whole(const fs::path& page) {
    SCOPED_TRACE(page);
    tab().resize(390, 844);
    open(page);
    const std::string faults = read_file(HEADLAB_SOURCE_DIR "/tests/browser/phone.js");
    Json places = tab().evaluate(
        "[...headsOf().map((x) => `#view=first&h=${x.at}`), ...['head', 'bench', 'about'].map("
        "(view) => `#view=${view}`), ...Object.keys(run().reports).map((file) => "
        "`#view=results&file=${file}`), ...Object.keys(app.lessons).map((one) => "
        "`#view=learn&lesson=${one}`)]");
    places.push_back("#view=first");
    for (const Json& place : places.items()) {
      go_to(place.string());
      EXPECT_EQ(tab().evaluate(faults).dump(), "[]") << place.string();
    }
    tab().resize(1280, 800);
  }
};

TEST_F(OnAPhone, CutsNoTextOfARunWithOwners) { expect_whole(the_study().path("full/report.html")); }

TEST_F(OnAPhone, CutsNoTextOfARunWhoseHeadsShareAQuestion) {
  Study study;
  study.train("sort:symbols=8,shortest=3,longest=4", "sort",
              {"--d-model", "16", "--heads", "2", "--track-heads", "50", "--steps", "300"});
  expect_whole(study.page("sort"));
}

// Its bars end near the edge of the picture. On a wide screen a name of 11 pixels had room for one
// of 9.
TEST_F(OnAPhone, CutsNoNameOfABarOfARunThatGuesses) {
  Study study;
  study.train("relations", "untrained", {"--heads", "4", "--steps", "1"});
  open(study.page("untrained"));
  const std::string faults = read_file(HEADLAB_SOURCE_DIR "/tests/browser/phone.js");
  for (const int width : {390, 768, 1280}) {
    tab().resize(width, 800);
    go_to("#view=first");
    const std::string found = tab().evaluate(faults).dump();
    EXPECT_EQ(found.find("bar-name"), std::string::npos) << width << found;
  }
}

}  // namespace
}  // namespace headlab::browser
