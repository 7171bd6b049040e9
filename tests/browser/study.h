// What the tests of the page look at: runs that the program trains once for all tests, with every
// file that a page can hold, and the pages of them. Small enough for a few seconds; large enough
// that some heads own a relation. Read next: page_test.cc.
#pragma once

#include <algorithm>

#include "browser/tab.h"
#include "cli/program.h"
#include "headlab/base/text.h"

namespace headlab::browser {

using cli::Outcome;
using cli::Words;

/// A folder in which the program runs; it goes when the tests end.
class Study {
 public:
  Outcome run(const Words& words) const {
    return cli::Process(words, {.folder = folder_.path()}).finish();
  }
  /// Runs what is a preparation. Throws what the program says against it.
  Outcome done(const Words& words) const {
    Outcome outcome = run(words);
    if (outcome.status != 0) throw std::runtime_error(outcome.err);
    return outcome;
  }
  fs::path path(const std::string& name) const { return folder_ / name; }
  Json json(const std::string& name) const { return Json::parse(read_file(path(name))); }

  /// A training of `task` by these words.
  void train(const std::string& task, const std::string& out, const Words& more) const {
    Words words = {"train", "--task", task, "--out", out, "--warmup", "20"};
    if (std::ranges::count(more, "--eval-examples") == 0)
      words.insert(words.end(), {"--eval-examples", "64"});
    words.insert(words.end(), more.begin(), more.end());
    done(words);
  }
  /// The page of a run, made if it is not there.
  fs::path page(const std::string& run_name, const Words& more = {}) const {
    Words words = {"page", run_name};
    words.insert(words.end(), more.begin(), more.end());
    done(words);
    return path(run_name + "/report.html");
  }

 private:
  TemporaryFolder folder_;
};

/// `full`: four heads on `relations`, with every analysis; `pruned`: three of them. Made once.
inline const Study& the_study() {
  static const std::unique_ptr<Study> study = [] {
    auto made = std::make_unique<Study>();
    made->train("relations", "full",
                {"--heads", "4", "--d-model", "32", "--steps", "300", "--batch", "32", "--lr",
                 "3e-3", "--track-heads", "30", "--keep-weights", "6", "--eval-every", "30"});
    for (const Words& words :
         {Words{"heads", "full"}, Words{"ablate", "full"}, Words{"ablate", "full", "--gold-edges"},
          Words{"curve", "full", "--methods", "random,ablation,greedy,exhaustive"},
          Words{"prune", "full", "--method", "greedy", "--keep", "3", "--finetune", "20", "--out",
                "pruned"},
          Words{"heads", "pruned"}, Words{"page", "full"}, Words{"page", "pruned"}})
      made->done(words);
    return made;
  }();
  return *study;
}

/// A test of a page: it opens without asking for anything and without a complaint, and its figures
/// can be found, pointed at and read.
class OnPage : public InBrowser {
 protected:
  /// Opens a page at a state of it, and waits until it is ready and idle.
  void open(const fs::path& file, const std::string& hash = "") {
    if (!url_.empty()) {
      expect_quiet();
      tab().open("about:blank");  // else only the address would change
    }
    url_ = "file://" + file.string();
    tab().open(url_ + hash);
    wait();
    teach_evaluate();
  }
  void wait() { tab().wait_until("app.ready && app.busy === 0", 60); }
  /// What the model in the page computes over a set of examples; see evaluateSteps() in
  /// core_losses.js.
  void teach_evaluate() {
    tab().evaluate(
        "globalThis.evaluate = (run, options = {}) => finish(evaluateSteps(run, options))");
  }
  /// Changes the state of the page by its address, as a reader does who follows a link.
  void go_to(const std::string& hash) {
    tab().evaluate("location.hash = " + Json(hash).dump());
    tab().wait_until("location.hash.length > 1", 5);
    wait();
  }

  void TearDown() override {
    if (!url_.empty()) expect_quiet();
  }

  /// The figure on the canvas with this id, as an expression.
  static std::string figure(const std::string& id) {
    return "app.figures.find((f) => f.canvas.id === '" + id + "')";
  }
  /// The middle of a mark of a figure, in the window, after scrolling to the figure.
  Tab::Place mark(const std::string& id, int row, int column) {
    const std::string at = std::to_string(row) + ", " + std::to_string(column);
    const Json place = tab().evaluate(
        "(() => { const f = " + figure(id) +
        "; f.canvas.scrollIntoView({block: 'start'}); const b = "
        "f.canvas.getBoundingClientRect(); const [x, y, w, h] = f.picture.marks.box(" +
        at +
        "); "
        "scrollBy(0, b.y + y - innerHeight / 2); const c = f.canvas.getBoundingClientRect(); "
        "return [c.x + x + w / 2, c.y + y + h / 2]; })()");
    return {place.items()[0].number(), place.items()[1].number()};
  }
  std::string readout() { return tab().text("document.getElementById('readout').textContent"); }
  std::string words(const std::string& selector) {
    return tab().text("document.querySelector(" + Json(selector).dump() + ").textContent");
  }
  bool there(const std::string& selector) {
    return tab().holds("document.querySelector(" + Json(selector).dump() + ")");
  }

 private:
  /// The page has asked for nothing and complained of nothing.
  void expect_quiet() {
    EXPECT_EQ(tab().requests(url_), std::vector<std::string>{});
    EXPECT_EQ(tab().complaints(), std::vector<std::string>{});
  }

  std::string url_;
};

}  // namespace headlab::browser
