// Random walks through all kinds of pages: a reader who clicks, types and drags whatever there is,
// seeded, so that a walk can be walked again. Nothing throws, the dial says what the program says,
// heads cost the same everywhere, and "Undo all" leads back. HEADLAB_WALKS is how many are walked,
// or which: 250-500 are those from 250 to 499. Read next: study.h.
#include <cstdlib>
#include <random>
#include <regex>

#include "browser/study.h"

namespace headlab::browser { namespace {

class Walks : public OnPage {
 protected:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  /// Does something to one of the controls that can be seen; says what.
  std::string act() {
    const std::string choice = std::to_string(below(1'000'000));
    return tab().text(
        "((n) => { const all = [...document.querySelectorAll('#app button, #app a[href], #app "
        "select, #app input, #app summary, #app canvas[tabindex], #app .cell')].filter((e) => "
        "e.offsetParent && !/^(link|keys-off)$/.test(e.id) && !/SVG|PNG|CSV/.test(e.textContent)); "
        "const e = all[n % all.length], m = Math.floor(n / all.length); const tell = (type) => "
        "e.dispatchEvent(new Event(type, {bubbles: true})); "
        "if (e.tagName === 'SELECT') { e.selectedIndex = m % e.options.length; tell('change'); } "
        "else if (e.type === 'range') { e.value = Number(e.min) + (m % 7) / 6 * (e.max - e.min); "
        "tell('input'); } "
        "else if (e.type === 'text' || e.type === 'search' || e.type === 'number') { e.value = "
        "['abc', '', '0.1 0.2', '7', 'ponmlkjihgfedcba'][m % 5]; tell('input'); } "
        "else if (e.tagName === 'CANVAS') { e.focus(); for (const key of ['ArrowDown', "
        "'ArrowRight', 'Enter']) e.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: "
        "true})); } "
        "else e.click(); return `${e.tagName} ${e.id} ${e.textContent.slice(0, 30)}`; })(" +
        choice + ")");
  }
  /// A page of each kind, made once: a run with everything, one that was pruned, an
  /// encoder-decoder, text, a sweep, and the lessons, of which each walk begins with another.
  std::string page_of(int walk) {
    static const std::vector<std::string> pages = [] {
      const Study& study = the_study();
      study.train("reverse_cross", "cross", {"--steps", "20", "--d-model", "16", "--heads", "2"});
      study.train("text:length=32", "prose",
                  {"--steps", "3", "--d-model", "16", "--heads", "2", "--layers", "1"});
      study.done({"sweep", "--task", "relations:length=8", "--heads", "1,2", "--seeds", "1",
                  "--d-model", "16", "--steps", "10", "--batch", "8", "--warmup", "5",
                  "--eval-examples", "32", "--out", "sweep"});
      study.done({"page", "--textbook", "--no-weights", "--out", "book.html"});
      for (const char* run : {"cross", "prose"}) study.done({"heads", run});
      for (const char* run : {"cross", "prose", "sweep"}) study.done({"page", run});
      std::vector<std::string> all = {"book.html"};
      for (const char* run : {"full", "pruned", "cross", "prose", "sweep"})
        all.push_back(run + std::string("/report.html"));
      return all;
    }();
    return pages[static_cast<std::size_t>(walk) % pages.size()];
  }

  /// The page contradicts neither the program nor itself.
  void expect_agreement(const std::string& path) {
    if (there("#agrees")) {
      EXPECT_FALSE(shows("#agrees", "✗")) << path << words("#agrees");
    }
    if (there("#maps")) {
      EXPECT_TRUE(tab().holds(
          "document.querySelectorAll('.map.off').length === headsOf().filter(isAblated).length"))
          << path;
    }
    if (there("#result") && words("#result").starts_with("Over 512")) {
      EXPECT_TRUE(tab().holds(
          "app.state.file !== 'ablation' || [...document.querySelector('#result table')"
          ".tBodies[0].rows].every((row) => { const x = headsOf().find((y) => y.at === "
          "row.cells[0].textContent"
          "), found = parseFloat(row.cells[2].textContent.replace('\u2212', '-')); return "
          "x && Math.abs(costOf([x]) - found) < 1e-5 + 1e-3 * Math.abs(found); })"))
          << path << words("#result");
    }
    EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden")) << path;
    EXPECT_FALSE(shows("#view", "undefined") || shows("#view", "NaN")) << path << words("#view");
  }

  /// The look of heads and the answers of the model.
  std::string heads() {
    return tab().text(
        "[...document.querySelectorAll('#maps .map')].map((map) => map.className + "
        "map.getAttribute('aria-label') + map.querySelector('canvas')?.toDataURL()).join() + "
        "document.getElementById('answers')?.textContent");
  }
  /// "Undo all" leads back to the page as it opens at the address without what was changed.
  void expect_the_way_back(const fs::path& page, const std::string& path) {
    if (there("#view-bench")) click("#view-bench");
    if (there("#undo")) click("#undo");
    EXPECT_FALSE(there("#undo")) << path;
    for (const char* link : {"#view-first", "#tab-first"})
      if (there(link)) click(link);
    if (!there("#maps")) return;
    tab().evaluate("new Promise((done) => setTimeout(done, 300))");  // the address is written
    const std::string undone = heads(), address = tab().text("location.hash");
    const std::regex changes("&?\\b(gates|hide|tokens|step|scene|kept)=[^&]*");
    open(page, std::regex_replace(address, changes, ""));
    EXPECT_EQ(heads(), undone) << path << "\n  " << address;
  }

  std::mt19937_64 random_;
};

TEST_F(Walks, NeverThrowContradictOrGetLost) {
  const char* given = std::getenv("HEADLAB_WALKS");
  const std::string asked = given != nullptr ? given : "6";
  const std::size_t dash = asked.find('-');
  const int first = dash == std::string::npos ? 0 : std::stoi(asked);
  for (int walk = first; walk < std::stoi(asked.substr(dash + 1)); ++walk) {
    random_.seed(static_cast<std::uint64_t>(walk));
    const fs::path page = the_study().path(page_of(walk));
    open(page, walk % 2 == 0
                   ? std::string("#view=learn&lesson=") + kLessons[below(std::size(kLessons))]
                   : "");
    std::string path = "walk " + std::to_string(walk) + " of " + page_of(walk);
    for (int step = 0; step < 30; ++step) {
      path += "\n  " + act();
      wait();
      expect_agreement(path);
    }
    expect_the_way_back(page, path);
    ASSERT_EQ(tab().complaints(), std::vector<std::string>{}) << path;
  }
}

}  // namespace
}  // namespace headlab::browser
