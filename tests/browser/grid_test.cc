// The grid of heads in Story: arrow keys move in it, and its cells show by what heads are sorted.
// Read next: study.h.
#include "browser/study.h"

namespace headlab::browser { namespace {

class GridOfHeads : public OnPage {
 protected:
  fs::path full = the_study().path("full/report.html");
};

TEST_F(GridOfHeads, OffersItsHeadsToTheKeyboard) {
  open(full, "#view=story");
  tab().evaluate("document.querySelector('#grid .cell[tabindex=\"0\"]').focus()");
  const auto focused = [&] { return tab().text("document.activeElement.dataset.head"); };
  for (const auto& [key, head] : {std::pair{"Home", "0.0"},
                                  {"ArrowDown", "0.0"},
                                  {"ArrowRight", "0.1"},
                                  {"End", "0.3"},
                                  {"ArrowRight", "0.3"},
                                  {"ArrowDown", "0.3"},
                                  {"ArrowLeft", "0.2"}}) {
    tab().press(key);
    EXPECT_EQ(focused(), head) << key;
    EXPECT_TRUE(words("#card").starts_with(head)) << "its card opens with the focus";
  }
  EXPECT_NE(tab().text("getComputedStyle(document.activeElement).outlineStyle"), "none");
  tab().press("Enter");
  wait();
  EXPECT_TRUE(words("#card").starts_with("0.2"));
  EXPECT_TRUE(there("#pattern"));
  for (const bool off : {true, false}) {
    tab().press("x");
    wait();
    EXPECT_TRUE(words("#card").ends_with(off ? "Restore 0.2" : "Ablate 0.2"));
  }
  for (const char* relation : {"\"\"", "null"}) {  // no right keys, then those of the head again
    tab().press("g");
    EXPECT_EQ(tab().text("JSON.stringify(app.state.rel)"), relation);
  }
}

TEST_F(GridOfHeads, ShowsByWhatItsHeadsAreSorted) {
  const auto feet = [&] {
    std::vector<std::string> all;
    for (const char* n : {"0", "1", "2", "3"}) {
      all.push_back(tab().text(std::string("document.querySelectorAll('#grid .cell')[") + n +
                               "].lastChild.textContent"));
    }
    return all;
  };
  open(full, "#view=story");
  for (const std::string& foot : feet()) EXPECT_TRUE(foot.starts_with("off: ")) << foot;
  choose("sort", "lift");
  const std::vector<std::string> lifts = feet();
  for (std::size_t i = 1; i < lifts.size(); ++i) {
    EXPECT_GE(number_in(lifts[i - 1]), number_in(lifts[i])) << "the largest comes first";
  }
  EXPECT_FALSE(lifts[0].starts_with("off: ")) << lifts[0];
  choose("sort", "cost");
  for (const std::string& foot : feet()) EXPECT_TRUE(foot.starts_with("off: ")) << foot;
}

}  // namespace
}  // namespace headlab::browser
