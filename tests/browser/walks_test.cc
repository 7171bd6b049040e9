// Random walks through a page: a reader who clicks, types and drags whatever there is, seeded, so
// that a walk can be walked again. Nothing throws, the dial says what the program says, heads cost
// the same everywhere, and "Undo all" leads back. HEADLAB_WALKS is how many are walked.
// Read next: study.h.
#include <cstdlib>
#include <random>

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
  /// The page contradicts nobody: not the program, not itself.
  void expect_agreement(const std::string& path) {
    if (there("#agrees")) {
      EXPECT_FALSE(shows("#agrees", "✗")) << path << words("#agrees");
    }
    if (there("#grid") && !there("#undo")) {
      EXPECT_TRUE(tab().holds(
          "(() => { const card = document.getElementById('card').textContent, cost = "
          "/without itloss (\\S+)/.exec(card)?.[1], head = /^(\\S+)/.exec(card)[1], cell = "
          "document.querySelector(`[data-head=\"${head}\"]`)?.textContent; return !cost || !cell "
          "|| "
          "!/off:/.test(cell) || cell.includes(cost); })()"))
          << path << words("#card");
    }
    EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden")) << path;
    EXPECT_FALSE(shows("#view", "undefined") || shows("#view", "NaN")) << path << words("#view");
  }

  std::mt19937_64 random_;
};

TEST_F(Walks, NeverThrowContradictOrGetLost) {
  const char* asked = std::getenv("HEADLAB_WALKS");
  const int walks = asked != nullptr ? std::atoi(asked) : 4;
  const Study& study = the_study();
  for (int walk = 0; walk < walks; ++walk) {
    random_.seed(static_cast<std::uint64_t>(walk));
    open(study.path(walk % 4 == 3 ? "pruned/report.html" : "full/report.html"));
    const std::string start = words("#grid");
    std::string path = "walk " + std::to_string(walk);
    for (int step = 0; step < 30; ++step) {
      path += "\n  " + act();
      wait();
      expect_agreement(path);
    }
    if (there("#undo")) click("#undo");
    EXPECT_FALSE(there("#undo")) << path;
    tab().evaluate("new Promise((done) => setTimeout(done, 300))");  // the address is written
    tab().evaluate("location.hash = '#v=1'");
    wait();
    EXPECT_EQ(words("#grid"), start) << path;
    ASSERT_EQ(tab().complaints(), std::vector<std::string>{}) << path;
  }
}

}  // namespace
}  // namespace headlab::browser
