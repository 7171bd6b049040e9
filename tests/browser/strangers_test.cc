// The ten questions of a stranger on the page of `sort` and on that of an imported model: what she
// clicks, and the sentence that answers. page_test.cc asks them of a run of `relations`.
// Read next: study.h.
#include "browser/study.h"

namespace headlab::browser { namespace {

class TenQuestions : public OnPage {
 protected:
  Study study;
  int clicks = 0;

  /// Two heads that learn to sort, tracked over training.
  void train_sort() const {
    study.train("sort:symbols=8,shortest=3,longest=4", "sort",
                {"--steps", "300", "--d-model", "32", "--heads", "2", "--lr", "3e-3",
                 "--track-heads", "50", "--keep-weights", "6"});
  }
  void click_on(const std::string& selector) {
    click(selector);
    ++clicks;
  }
  /// Clicks a link whose words are on two lines, between which its middle is.
  void follow(const std::string& id) {
    tab().evaluate("document.getElementById('" + id + "').click()");
    wait();
    ++clicks;
  }
  /// Expects that a part of the page shows these words, after so many clicks at most.
  void expect_answer(const char* question, const std::string& part, const std::string& answer,
                     int most) {
    EXPECT_TRUE(shows(part, answer)) << question << "\n" << words(part);
    EXPECT_LE(clicks, most) << question;
    std::cout << question << " " << clicks << " clicks: " << answer << "\n";
    clicks = 0;
  }
  /// Questions that the first screen answers: where a head looks, its need, whether it is chance.
  void ask_the_card() {
    const std::string head = tab().text("headsOf()[0].at");
    click_on("[id='map-" + head + "']");
    expect_answer("What is a head looking at?", "#drawer", "of its attention is on the keys of", 1);
    expect_answer("Is it true or chance?", "#drawer", "baseline 0.", 0);
    const bool is_kept = shows("#drawer", "No head can go unnoticed");
    expect_answer("Which head could go?", "#drawer",
                  is_kept ? "No head can go unnoticed" : "enough", 0);
    click_on("[id='pill-" + head + "']");
    expect_answer("What if I switch one off?", "#headline", "Without head " + head, 1);
    click_on("#reset");
    clicks = 0;
  }
  void ask_by_typing() {
    tab().evaluate(
        "(() => { const tile = document.querySelector('.tokens-row.example .tok'); tile.focus(); "
        "tile.value = tile.value === 'b' ? 'c' : 'b'; tile.dispatchEvent(new Event('input', "
        "{bubbles: true})); })()");
    wait();
    expect_answer("My own sentence?", "#headline", "the page does not know the right answers", 0);
    click_on("#reset");
    clicks = 0;
  }
  /// Questions that the lessons answer.
  void ask_the_lessons() {
    click_on("#view-learn");
    choose("lab-heads", "4");
    EXPECT_EQ(tab().number("document.getElementById('lab-head').options.length"), 4);
    expect_answer("Change the number of heads?", "#view", "another number of heads", 1);
    choose("lab-function", "1");
    expect_answer("Change the attention formula?", "#opened", "sigmoid", 0);
    follow("to-budget");
    expect_answer("Why several heads?", "#view", "each looks at its own key", 1);
    follow("to-glossary");
    choose("find-term", "lift", "input");
    expect_answer("What is lift?", "#terms", "How far attention mass is above the baseline", 1);
  }
};

TEST_F(TenQuestions, AreAnsweredOnThePageOfSort) {
  train_sort();
  open(study.page("sort"));
  EXPECT_TRUE(shows("#detail", "writes the symbols in ascending order")) << words("#detail");
  ask_the_card();
  tab().press(",");
  wait();
  expect_answer("See training?", "#headline", "At step ", 0);
  click_on("#reset");
  clicks = 0;
  ask_by_typing();
  ask_the_lessons();
}

TEST_F(TenQuestions, AreAnsweredOnThePageOfAnImport) {
  train_sort();
  study.done({"export", "sort", "--to", "transformerlens", "--out", "exported"});
  study.done(
      {"import", "exported", "--task", "sort:symbols=8,shortest=3,longest=4", "--out", "imported"});
  open(study.page("imported"));
  ask_the_card();
  expect_answer("See training?", "#drawer", "only the end of its training is in the file", 0);
  ask_by_typing();
  ask_the_lessons();
}

}  // namespace
}  // namespace headlab::browser
