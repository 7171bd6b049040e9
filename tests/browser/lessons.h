// The lessons as a reader works on them: a page of them alone, that of a run, or of models that are
// trained for them. Read next: lessons_test.cc; lessons_train_test.cc.
#pragma once

#include "browser/study.h"

namespace headlab::browser {

/// A page of lessons on which answers are given.
class Exercises : public OnPage {
 protected:
  std::string said(int exercise) {
    return words("#exercise-" + std::to_string(exercise) + "-said");
  }
  std::string answered(int exercise, const std::string& answer) {
    const std::string id = "exercise-" + std::to_string(exercise);
    choose(id, answer, "input");
    press_on(id, "Enter");
    return said(exercise);
  }
  void expect_right(int exercise, const std::string& answer) {
    EXPECT_TRUE(answered(exercise, answer).starts_with("✓")) << exercise << said(exercise);
  }
  void expect_wrong(int exercise, const std::string& answer) {
    EXPECT_TRUE(answered(exercise, answer).starts_with("✗")) << exercise << said(exercise);
  }
  /// The exercise on a run that names two heads: the only pair that is right.
  std::string pair_that_is_right(int exercise, int heads) {
    for (int i = 0; i < heads; ++i)
      for (int j = i + 1; j < heads; ++j) {
        const std::string pair = "0." + std::to_string(i) + " 0." + std::to_string(j);
        if (answered(exercise, pair).starts_with("✓")) return pair;
      }
    return "";
  }
};

class Lessons : public Exercises {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");

  /// The page of the lessons alone, written once.
  fs::path book() const {
    static const fs::path path = [&] {
      study.done({"page", "--textbook", "--no-weights", "--out", "textbook.html"});
      return study.path("textbook.html");
    }();
    return path;
  }
  void lesson(const std::string& name, const std::string& more = "") {
    open(book(), "#view=learn&lesson=" + name + more);
  }
  /// Opens what is folded for specialists.
  void open_more() {
    tab().evaluate("document.querySelectorAll('.more').forEach((one) => one.open = true)");
  }
  void lesson_of_run(const std::string& name, const std::string& more = "") {
    open(full, "#view=learn&world=run&lesson=" + name + more);
  }
};

}  // namespace headlab::browser
