// Pages of stored patterns in a browser: every view opens without an exception, fits its screen,
// and shows no empty part where a page of a run needs its model.
#include "browser/study.h"
#include "support/stored_files.h"

namespace headlab::browser { namespace {

class StoredPage : public OnPage {
 protected:
  StoredPage() {
    write_stored_files(folder.path(), 40);
    write_one_example(folder.path());
  }
  /// Writes a page by this command line and returns its path.
  fs::path page(const std::string& line) const {
    const Words words = cli::typed("page " + line + " --out page.html");
    const Outcome outcome = cli::Process(words, {.folder = folder.path()}).finish();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return folder / "page.html";
  }
  TemporaryFolder folder;
};

TEST_F(StoredPage, OpensInAllItsViewsAtBothWidths) {
  for (const char* line :
       {"--patterns p.npy --tokens t.json --truth f.jsonl", "--patterns q.npy --tokens u.json"}) {
    SCOPED_TRACE(line);
    for (const int width : {1280, 390}) {
      tab().resize(width, 800);
      open(page(line));
      EXPECT_EQ(tab().number("document.querySelectorAll('#maps .map').length"), 4);
      for (const char* view : {"first", "story", "head", "findings", "learn", "about"}) {
        go_to(std::string("#view=") + view);
        EXPECT_EQ(tab().text("app.view.name"), view);
        EXPECT_LE(tab().number("document.documentElement.scrollWidth"), width) << view;
        EXPECT_EQ(tab().text("(document.getElementById('view').innerText.match(/undefined|NaN/) || "
                             "[''])[0]"),
                  "")
            << view;
      }
      EXPECT_FALSE(there("#view-bench")) << "there is no model to experiment with";
    }
  }
}

TEST_F(StoredPage, ShowsAHeadThatIsClicked) {
  tab().resize(1280, 800);
  open(page("--patterns p.npy --tokens t.json --truth f.jsonl"));
  click("#maps [data-head='0.1']");
  EXPECT_TRUE(words("#drawer").starts_with("0.1")) << words("#drawer");
  EXPECT_FALSE(there(".map.off")) << "nothing can be ablated";
  EXPECT_TRUE(there(".arc"));
  click("#look-closer");
  EXPECT_TRUE(there("canvas#pattern") || there("svg#pattern"));
  click("#tab-known");
  EXPECT_TRUE(shows("#view", "Known patterns"));
}

}}  // namespace headlab::browser
