// Pages of stored patterns in a browser: every view opens without an exception, fits its screen,
// and shows no empty part where a page of a run needs its model.
#include <cstdlib>

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
      for (const char* view : {"first", "head", "results", "learn", "about"}) {
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

/// A frame as examples/headlab.py gives it to a notebook. The tests may look into it only if it
/// has the origin of its document.
TEST_F(StoredPage, WorksInTheFrameOfANotebook) {
  const std::string source = HEADLAB_SOURCE_DIR;
  write_file(folder / "write.py",
             "import sys\n"
             "sys.dont_write_bytecode = True\n"
             "sys.path.insert(0, '" +
                 source +
                 "/examples')\n"
                 "import headlab\n"
                 "headlab.program = '" HEADLAB_PROGRAM
                 "'\n"
                 "uniform = [[0.25] * 4] * 4\n"
                 "page = headlab.show([[uniform] * 2] * 2, ['a', '<b>', '\"c\"', '&d'])\n"
                 "open('frame.html', 'w').write(page._repr_html_())\n");
  const std::string line = "cd " + folder.path().string() + " && python3 write.py";
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  ASSERT_EQ(std::system(line.c_str()), 0);
  std::string html = read_file(folder / "frame.html");
  const std::string allowed = "allow-scripts";
  ASSERT_NE(html.find("sandbox=\"allow-scripts"), html.npos);
  html.replace(html.find(allowed), allowed.size(), "allow-scripts allow-same-origin");
  write_file(folder / "frame.html", "<!doctype html><p>A notebook</p>" + html);
  tab().open_file(folder / "frame.html");
  const std::string inside = "document.querySelector('iframe').contentDocument";
  tab().wait_until(inside + ".getElementById('view').getAttribute('aria-busy') === 'false'", 20);
  EXPECT_EQ(tab().number(inside + ".querySelectorAll('#maps .map').length"), 4);
  EXPECT_TRUE(tab().holds("[..." + inside +
                          ".querySelectorAll('.tok')].some((token) => token.value === '<b>')"));
  tab().evaluate(inside + ".querySelector('#look-closer').click()");
  tab().wait_until(inside + ".getElementById('pattern')", 5);
  EXPECT_EQ(tab().complaints(), std::vector<std::string>{});
}

}}  // namespace headlab::browser
