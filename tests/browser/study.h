// Runs and pages for the tests of the page: runs that the program trains once for all tests, with
// every file that a page can hold, and the pages of them. Small enough for a few seconds; large
// enough that some heads own a relation. Read next: page_test.cc.
#pragma once

#include <set>

#include "browser/tab.h"
#include "cli/program.h"

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
    done(cli::with(words, more));
  }
  /// The page of a run, made if it is not there.
  fs::path page(const std::string& run_name, const Words& more = {}) const {
    done(cli::with({"page", run_name}, more));
    return path(run_name + "/report.html");
  }

 private:
  TemporaryFolder folder_;
};

/// The views of a page of a run, by the names in its address.
constexpr const char* kViews[] = {"first", "head", "bench", "results", "learn", "about"};
/// The lessons, by theirs.
constexpr const char* kLessons[] = {"vectors", "numbers", "budget",    "patterns",
                                    "many",    "true",    "exercises", "glossary"};

/// `full`: four heads on `relations`, with every analysis; `pruned`: three of them. Made once.
inline const Study& the_study() {
  static const std::unique_ptr<Study> study = [] {
    auto made = std::make_unique<Study>();
    made->train("relations", "full",
                {"--heads", "4", "--d-model", "32", "--steps", "300", "--batch", "32", "--lr",
                 "3e-3", "--track-heads", "30", "--keep-weights", "6", "--eval-every", "30"});
    for (const Words& words :
         {Words{"heads", "full"}, Words{"ablate", "full", "--examples", "512"},
          Words{"ablate", "full", "--truth-edges", "--examples", "512"},
          Words{"ablate", "full", "--pairs", "--examples", "128"},
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
  }
  void wait() {
    tab().wait_until("document.getElementById('view').getAttribute('aria-busy') === 'false'", 60);
  }
  /// Changes the state of the page by its address, as a reader does who follows a link.
  void go_to(const std::string& hash) {
    tab().evaluate("location.hash = " + Json(hash).dump());
    tab().wait_until("location.hash.length > 1", 5);
    wait();
  }

  void tidy_up() override {
    if (!url_.empty()) expect_quiet();
  }

  /// Goes to a mark of a picture with the arrow keys; what is said there.
  std::string mark(const std::string& id, int row, int column) {
    tab().evaluate("document.getElementById('" + id + "').focus()");
    tab().press("ArrowDown");
    for (const char* back : {"PageUp", "PageUp", "PageUp", "Home"}) tab().press(back);
    for (int r = 0; r < row; ++r) tab().press("ArrowDown");
    for (int c = 0; c < column; ++c) tab().press("ArrowRight");
    return readout();
  }
  /// The table of a picture, row by row, as words.
  std::vector<std::vector<std::string>> table(const std::string& id) {
    const std::string figure = "figure:has(#" + id + ")";
    if (!there(figure + " details[open]")) tab().click(figure + " summary");
    tab().wait_until("document.querySelector('" + figure + " td')");
    return rows(figure);
  }
  std::vector<std::vector<std::string>> rows(const std::string& selector) {
    std::vector<std::vector<std::string>> rows;
    const Json cells =
        tab().evaluate("[...document.querySelectorAll('" + selector +
                       " tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))");
    for (const Json& row : cells.items()) {
      rows.emplace_back();
      for (const Json& cell : row.items()) rows.back().push_back(cell.string());
    }
    return rows;
  }
  void click(const std::string& selector) {
    tab().click(selector);
    wait();
  }
  /// Chooses an option of a list, or types into a field.
  void choose(const std::string& id, const std::string& value, const char* event = "change") {
    tab().evaluate("(() => { const field = document.getElementById('" + id +
                   "'); field.value = " + Json(value).dump() + "; field.dispatchEvent(new Event('" +
                   event + "', {bubbles: true})); })()");
    wait();
  }
  void press_on(const std::string& id, const std::string& key) {
    tab().evaluate("document.getElementById('" + id + "').focus()");
    tab().press(key);
    wait();
  }
  bool shows(const std::string& selector, const std::string& part) {
    return words(selector).find(part) != std::string::npos;
  }
  /// The title of a picture and its sentence.
  std::string caption(const std::string& id) { return words("figure:has(#" + id + ") figcaption"); }
  /// The first number in a text, with a minus sign and an exponent as the page writes them.
  static double number_in(std::string words) {
    for (std::size_t at; (at = words.find("\xE2\x88\x92")) != words.npos;)
      words.replace(at, 3, "-");
    const std::size_t at = words.find_first_of("-.0123456789");
    return at == words.npos ? std::nan("") : std::stod(words.substr(at));
  }
  /// Every part that can be focused or is a picture has a name for those who listen.
  void expect_names(const std::string& where) {
    const std::set<std::string> roles = {"button",    "link",  "combobox", "slider",    "checkbox",
                                         "image",     "img",   "gridcell", "grid",      "textbox",
                                         "searchbox", "table", "region",   "spinbutton"};
    std::size_t named = 0;
    for (const Json& node : tab().accessible_nodes()) {
      const Json* role = node.find("role");
      if (role == nullptr || !roles.contains(role->at("value").string())) continue;
      const Json* name = node.find("name");
      const Json* value = name != nullptr ? name->find("value") : nullptr;
      EXPECT_TRUE(value != nullptr && !value->string().empty()) << where << ": " << node.dump();
      ++named;
    }
    EXPECT_GT(named, 0u) << where;
  }
  /// "layer.head" of such a pair.
  static std::string at2(const Json& head) {
    return head.items()[0].dump() + "." + head.items()[1].dump();
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
