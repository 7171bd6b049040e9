// The speed of a page: the best of some tries, with a margin for a busy machine. A page of the
// usual size opens and answers before its reader can wait; one of a model of 0.8 million parameters
// works in slices, so that it can always be scrolled; one of 3 million answers within a second.
// Read next: study.h.
#include <iostream>
#include <limits>

#include "browser/study.h"

namespace headlab::browser { namespace {

class Times : public OnPage {
 protected:
  const Study& study = the_study();

  /// A model of text with this width, of which training is not the point.
  fs::path page_of_text(const char* name, const char* width, const Words& more = {}) {
    study.train("text:length=64", name,
                {"--steps", "1", "--d-model", width, "--layers", "4", "--heads", "4", "--batch",
                 "2", "--eval-every", "0", "--eval-examples", "2"});
    return study.page(name, more);
  }
  /// Milliseconds that an act takes until something is true; the page is asked in each frame.
  double until(const std::string& act, const std::string& truth) {
    return tab().number("(async () => { const start = performance.now(); " + act + "; while (!(" +
                        truth +
                        ")) await new Promise((done) => setTimeout(done, "
                        "1)); return performance.now() - start; })()");
  }
  /// Opens a page: milliseconds until it is idle, and those of the longest task meanwhile.
  std::pair<double, double> opened(const fs::path& page) {
    open(page);
    return {tab().number("Math.max(...taken.map((task) => task.startTime + task.duration), "
                         "performance.timing.domComplete - performance.timing.navigationStart)"),
            tab().number("Math.max(0, ...taken.map((task) => task.duration))")};
  }
  /// Remembers the tasks of each page that took 50 ms or more.
  void watch_tasks() {
    tab().call("Page.addScriptToEvaluateOnNewDocument",
               {{"source",
                 "globalThis.taken = []; new PerformanceObserver((list) => taken.push(..."
                 "list.getEntries())).observe({type: 'longtask', buffered: true})"}});
  }
  /// The time from a gate to its loss, the first of it and that over all examples.
  std::pair<double, double> gate(const std::string& id) {
    const std::string click = "countRecords.clear(); document.getElementById('" + id + "').click()";
    const double first = until(click, "!document.querySelector('.waiting')");
    return {first, first + until("0", "measuredNow().now.done")};
  }
};

constexpr double kForever = std::numeric_limits<double>::infinity();

/// Acts on the first screen of a run as large as the demo's, with its weights at emergence steps:
/// each from the event until the changed numbers are painted.
class Interactions : public Times {
 protected:
  void prepare() override {
    study.train("relations", "eight",
                {"--heads", "8", "--steps", "300", "--track-heads", "30", "--keep-weights", "6"});
    for (const char* command : {"heads", "curve", "page"}) study.done({command, "eight"});
    tab().resize(1280, 800);
    open(study.path("eight/report.html"));
  }
  /// The times of nine acts in milliseconds, sorted. `act` reads `i`; it has been done once before.
  std::vector<double> painted(const std::string& act) {
    const Json times = tab().evaluate(
        "(async () => { const frame = () => new Promise((done) => requestAnimationFrame(() => "
        "setTimeout(done))); const times = []; for (let i = 0; i < 10; ++i) { const before = "
        "trace(); const start = performance.now(); " +
        act +
        "; while (trace() === before || !trace()) await frame(); await frame(); "
        "times.push(performance.now() - start); while (app.busy > 0) await "
        "new Promise((done) => setTimeout(done, 5)); } return times.slice(1).sort((a, b) => a - "
        "b); })()");
    std::vector<double> sorted;
    for (const Json& time : times.items()) sorted.push_back(time.number());
    return sorted;
  }
  /// The best is within the bound, and the median within three times as much on a busy machine.
  void expect_at_once(const char* name, const std::string& act) {
    const std::vector<double> times = painted(act);
    RecordProperty(text(name, "_median_ms"), static_cast<int>(times[4]));
    std::cout << name << ": median " << times[4] << " ms, best " << times[0] << " ms\n";
    EXPECT_LT(times[0], 300) << name << ", ms";
    EXPECT_LT(times[4], 900) << name << ", ms";
  }
};

TEST_F(Interactions, ArePaintedWithinAnInstant) {
  expect_at_once("ablate", "ablate(headsOf()[i % 8])");
  tab().press("Escape");
  wait();
  expect_at_once("token",
                 "const tile = document.querySelectorAll('.tokens-row.example .tok')[3]; "
                 "tile.focus(); tile.value = 'bc'[i % 2] === tile.value ? 'd' : 'bc'[i % 2]; "
                 "tile.dispatchEvent(new Event('input', {bubbles: true}))");
  tab().press("Escape");
  go_to("#view=results&file=training");
  expect_at_once("step",
                 "const slider = document.getElementById('pick-step'); slider.value = "
                 "i % 2; slider.dispatchEvent(new Event('input', {bubbles: true}))");
}

TEST_F(Times, APageOpensAndItsGatesAnswerAtOnce) {
  watch_tasks();
  double load = kForever, answer = kForever;
  for (int i = 0; i < 3; ++i) load = std::min(load, opened(study.path("full/report.html")).first);
  go_to("#view=bench");
  for (int i = 0; i < 6; ++i) answer = std::min(answer, gate("gate-0.1").second);
  RecordProperty("load_ms", static_cast<int>(load));
  RecordProperty("gate_ms", static_cast<int>(answer));
  EXPECT_LT(load, 1500) << "ms";  // other tests run at the same time
  EXPECT_LT(answer, 900) << "ms, three times what a quiet machine needs at most";
}

TEST_F(Times, AModelOfNearlyAMillionParametersWorksInSlices) {
  watch_tasks();
  const fs::path page = page_of_text("middle", "128");
  double longest = kForever, first = kForever;
  for (int i = 0; i < 4; ++i) longest = std::min(longest, opened(page).second);
  go_to("#view=bench");
  for (int i = 0; i < 4; ++i) first = std::min(first, gate("gate-0.1").first);
  RecordProperty("task_ms", static_cast<int>(longest));
  RecordProperty("gate_ms", static_cast<int>(first));
  EXPECT_LT(longest, 900) << "ms: it would stand still";  // other tests run at the same time
  EXPECT_LT(first, 900) << "ms";
}

TEST_F(Times, AModelOfThreeMillionParametersAnswersWithinASecond) {
  double first = kForever;
  open(page_of_text("large", "256", {"--budget", "25"}), "#view=bench");
  for (int i = 0; i < 3; ++i) first = std::min(first, gate("gate-0.1").first);
  RecordProperty("gate_ms", static_cast<int>(first));
  EXPECT_LT(first, 2500) << "ms";
}

}  // namespace
}  // namespace headlab::browser
