// The lessons as a reader works on them: a page of them alone, and that of a run. Read next:
// lessons_test.cc.
#pragma once

#include "browser/study.h"

namespace headlab::browser {

class Lessons : public OnPage {
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
  void lesson(int number, const std::string& more = "") {
    open(book(), "#view=learn&page=" + std::to_string(number) + more);
  }
  void lesson_of_run(int number, const std::string& more = "") {
    open(full, "#view=learn&world=run&page=" + std::to_string(number) + more);
  }
  /// Chooses an option of a list.
  void choose(const std::string& id, const std::string& value) {
    tab().evaluate("(() => { const list = document.getElementById('" + id +
                   "'); list.value = " + Json(value).dump() +
                   "; list.dispatchEvent(new Event('change', {bubbles: true})); })()");
    wait();
  }
  void type(const std::string& id, const std::string& value) {
    tab().evaluate("(() => { const field = document.getElementById('" + id +
                   "'); field.value = " + Json(value).dump() +
                   "; field.dispatchEvent(new Event('input', {bubbles: true})); })()");
    wait();
  }
  void press_on(const std::string& id, const std::string& key) {
    tab().evaluate("document.getElementById('" + id + "').focus()");
    tab().press(key);
    wait();
  }
  void click(const std::string& selector) {
    tab().click(selector);
    wait();
  }
  bool shows(const std::string& selector, const std::string& part) {
    return words(selector).find(part) != std::string::npos;
  }
  std::string title_of(const std::string& id) {
    return tab().text(figure(id) + ".picture.title + ' ' + " + figure(id) + ".picture.sentence");
  }
  std::string said(int exercise) {
    return words("#exercise-" + std::to_string(exercise) + "-said");
  }
  std::string answered(int exercise, const std::string& answer) {
    const std::string id = "exercise-" + std::to_string(exercise);
    type(id, answer);
    press_on(id, "Enter");
    return said(exercise);
  }
  void expect_right(int exercise, const std::string& answer) {
    EXPECT_TRUE(answered(exercise, answer).starts_with("✓")) << exercise << said(exercise);
  }
  void expect_wrong(int exercise, const std::string& answer) {
    EXPECT_TRUE(answered(exercise, answer).starts_with("✗")) << exercise << said(exercise);
  }
};

}  // namespace headlab::browser
