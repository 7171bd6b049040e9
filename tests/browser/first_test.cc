// The first screen: it fits 1280 x 800, says what there is to see, and shows within an instant what
// a click changes. On a small screen the drawer opens below the tapped head and covers none.
// Read next: study.h.
#include <cstdlib>

#include "browser/study.h"

namespace headlab::browser { namespace {

class FirstScreen : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");

  /// The owner of the first relation, as "layer.head".
  std::string owner() const {
    const Json relations = study.json("full/heads.json").at("relations");
    return at2(relations.items()[0].at("owner"));
  }
  /// Runs without scores, without pairs, with a curve of few sizes, and with one of a greedy
  /// search.
  void train_runs_that_lack_files() const {
    const Words small = {"--steps", "150", "--d-model", "16", "--heads", "4"};
    for (const char* run : {"bare", "ablated", "sizes", "greedy"}) {
      study.train("relations:length=8", run, small);
    }
    study.train("text:length=16", "text", small);
    for (const char* run : {"ablated", "sizes", "greedy", "text"}) study.done({"heads", run});
    study.done({"ablate", "ablated"});
    study.done({"curve", "sizes", "--methods", "exhaustive", "--sizes", "2"});
    study.done({"curve", "greedy", "--methods", "greedy"});
    study.done({"curve", "text"});
    for (const char* run : {"bare", "ablated", "sizes", "greedy", "text"}) study.page(run);
  }
  /// The headline of the page, and for each head its drawer and the rows that it shows.
  Json said_of_drawers() {
    return tab().evaluate(
        "(async () => { const words = (id) => document.getElementById(id).textContent; const "
        "counted = async () => { do await new Promise((done) => setTimeout(done, 20)); while "
        "(app.busy > 0); }; await counted(); const said = {headline: words('headline'), live: "
        "isLive(), examples: task().set('held_out').size, drawer: {}, rows: {}}; for (const x of "
        "headsOf()) { go({h: x.at}); await counted(); said.drawer[x.at] = words('drawer'); "
        "said.rows[x.at] = rowsOfCard(x); } return said; })()");
  }
  std::string map_of(const std::string& head) const { return "#maps [data-head='" + head + "']"; }
  /// The first head of the strip: its absence breaks an answer of the example.
  std::string breaking_head() {
    click("#step-1");
    const std::string head = tab().text("Object.keys(app.state.gates)[0]");
    tab().press("Escape");
    wait();
    return head;
  }
};

/// The demo measures by hand what the page of README's commands measures itself, and more.
TEST_F(FirstScreen, IsTheSameWhoeverMeasured) {
  study.train("relations", "plain",
              {"--heads", "4", "--d-model", "32", "--steps", "300", "--batch", "32", "--lr", "3e-3",
               "--track-heads", "30", "--keep-weights", "6", "--eval-every", "30"});
  const fs::path plain = study.page("plain");
  const auto said = [&](const fs::path& page) {
    open(page);
    std::string all;
    for (const char* part : {"#headline", "#detail", "#maps", ".steps"}) all += words(part) + "\n";
    return all;
  };
  EXPECT_EQ(said(plain), said(full));
}

TEST_F(FirstScreen, FitsWithoutScrollingAndSaysWhatThereIsToSee) {
  tab().resize(1280, 800);
  open(full);
  EXPECT_EQ(tab().text("app.state.view"), "first");
  EXPECT_TRUE(words("#headline").starts_with("4 heads")) << words("#headline");
  EXPECT_TRUE(shows("#detail", "the model names the tokens 1, 3 and 5 back")) << words("#detail");
  EXPECT_LE(tab().number("document.documentElement.scrollHeight"), 800);
  EXPECT_EQ(tab().number("document.querySelectorAll('#maps .map').length"), 4);
  EXPECT_TRUE(
      tab().holds("document.getElementById('step-1').getBoundingClientRect().bottom <= 800"));
  EXPECT_EQ(tab().number("document.querySelectorAll('.lane').length"), 4);
  EXPECT_EQ(tab().number("document.querySelectorAll('.drawer-column').length"), 4);
}

TEST_F(FirstScreen, CutsNoSentenceOfTheDrawerOff) {
  tab().resize(1280, 800);
  open(full);
  EXPECT_EQ(tab().text("headsOf().flatMap((x) => { go({h: x.at}); return "
                       "[...document.querySelectorAll('.drawer-column p')].filter((p) => "
                       "p.scrollHeight > p.clientHeight + 1).map((p) => p.textContent); }).join()"),
            "");
}

TEST_F(FirstScreen, SelectsByAClickAndAblatesByASecondAct) {
  open(full);
  EXPECT_EQ(tab().text("[...document.querySelectorAll('.loss-svg text')].map((tick) => "
                       "tick.textContent).filter((words) => /^[0-9.]+$/.test(words)).join(' ')"),
            "0.0001 0.001 0.01 0.1 1 10");
  const std::string head = breaking_head();
  const std::string before = words("#loss-now");
  EXPECT_FALSE(there(".answer.bad")) << "the example opens with right answers";
  click(map_of(head));
  click(map_of(head));
  EXPECT_FALSE(there(".map.off")) << "a second click does nothing";
  EXPECT_TRUE(there(map_of(head) + "[aria-current='true']"));
  EXPECT_TRUE(words("#drawer").starts_with(head));
  EXPECT_EQ(words("#next"), "Ablate head " + head);
  click("[id='pill-" + head + "']");
  EXPECT_TRUE(words("#headline").starts_with("Without head " + head)) << words("#headline");
  EXPECT_TRUE(shows("#detail", " break")) << words("#detail");
  EXPECT_TRUE(there(".answer.bad"));
  EXPECT_TRUE(there(".arc.off[data-head='" + head + "']")) << "its arc fades";
  EXPECT_GT(number_in(words("#loss-now")), number_in(before));
  EXPECT_TRUE(there(map_of(head) + ".off"));
  EXPECT_EQ(words("#next"), "Restore head " + head);
  click("#reset");
  EXPECT_FALSE(there(".answer.bad"));
  EXPECT_EQ(words("#loss-now"), before);
  EXPECT_TRUE(there(map_of(head) + "[aria-current='true']")) << "the head stays selected";
  tab().press("x");
  wait();
  EXPECT_TRUE(there(map_of(head) + ".off")) << "x ablates it";
}

TEST_F(FirstScreen, AnswersAClickAtOnce) {
  open(full);
  const std::string head = owner();
  click(map_of(head));
  double least = 1e9;
  for (int i = 0; i < 6; ++i) {
    least =
        std::min(least, tab().number("(() => { const start = performance.now(); "
                                     "document.getElementById('pill-" +
                                     head + "').click(); return performance.now() - start; })()"));
    wait();
  }
  RecordProperty("click_ms", static_cast<int>(least));
  EXPECT_LT(least, 300) << "ms";
}

TEST_F(FirstScreen, EachStepChangesTheScreen) {
  open(full);
  const auto screen = [&] { return words("#headline") + words("#detail") + words("#maps"); };
  std::set<std::string> seen = {screen()};
  const int steps = static_cast<int>(tab().number("document.querySelectorAll('.step').length"));
  EXPECT_GE(steps, 4);
  click("#next");
  EXPECT_TRUE(there("#step-1[aria-current]")) << "the button takes the step that it names";
  EXPECT_TRUE(there(".answer.bad"));
  for (int step = 2; step <= steps; ++step) {
    EXPECT_TRUE(seen.insert(screen()).second) << step << screen();
    EXPECT_NE(words("#next"), "Start again") << "before step " << step;
    click("#step-next");
  }
  EXPECT_EQ(words("#next"), "Start again");
  EXPECT_TRUE(seen.insert(screen()).second) << screen();
  tab().press("Escape");
  wait();
  EXPECT_TRUE(seen.contains(screen())) << "Escape restores the start";
}

TEST_F(FirstScreen, TakesTypedTokensInPlace) {
  open(full);
  const std::string type =
      "(() => { const tile = document.querySelectorAll('.tokens-row.example .tok')[3]; "
      "tile.focus(); tile.value = tile.value === 'b' ? 'c' : 'b'; tile.dispatchEvent(new "
      "Event('input', {bubbles: true})); return tile.value; })()";
  const std::string typed = tab().text(type);
  wait();
  EXPECT_EQ(tab().text("document.querySelectorAll('.tokens-row.example .tok')[3].value"), typed);
  EXPECT_EQ(tab().text("task().tokens[app.state.tokens[3]]"), typed);
  EXPECT_TRUE(there("#answers .answer i")) << "the page knows the rule of this task";
  const std::string unknown =
      "(() => { const tile = document.querySelectorAll('.tokens-row.example .tok')[3]; tile.value "
      "= '?'; tile.dispatchEvent(new Event('input', {bubbles: true})); return tile.value; })()";
  EXPECT_EQ(tab().text(unknown), typed) << "no token of the task";
}

/// Compares what the page says of a run with the run's files, by a script without code of the page.
/// Returns its complaints, and adds the numbers that it computed again to `recomputed`.
std::string contradictions(const fs::path& run, const Json& said, int* recomputed = nullptr) {
  const TemporaryFolder folder;
  write_file(folder / "said.json", said.dump());
  const std::string command = "python3 \"" HEADLAB_SOURCE_DIR "/tests/report/sentences.py\" \"" +
                              run.string() + "\" \"" + (folder / "said.json").string() +
                              "\" \"" HEADLAB_PROGRAM "\" > \"" + (folder / "out").string() +
                              "\" 2>&1";
  const int status = std::system(command.c_str());
  const std::string out = read_file(folder / "out");
  const std::size_t last = out.find("computed again: ");
  if (last == out.npos) return "sentences.py failed: " + out;
  if (recomputed != nullptr) *recomputed += std::stoi(out.substr(last + 16));
  return status == 0 ? "" : out.substr(0, last);
}

TEST_F(FirstScreen, SaysNothingThatTheFilesContradict) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  const Words small = {"--steps", "150", "--d-model", "16", "--heads", "2", "--track-heads", "50"};
  for (const char* task : {"reverse_cross", "sort", "memoryless", "patches"}) {
    study.train(task, task, small);
    for (const char* command : {"heads", "curve", "page"}) study.done({command, task});
  }
  train_runs_that_lack_files();
  int recomputed = 0;
  Json said;
  for (const char* run : {"full", "pruned", "bare", "ablated", "sizes", "greedy", "text",
                          "reverse_cross", "sort", "memoryless", "patches"}) {
    open(study.path(run) / "report.html");
    said = said_of_drawers();
    EXPECT_EQ(contradictions(study.path(run), said, &recomputed), "") << run << said.dump();
    wait();
  }
  std::cout << recomputed << " numbers of sentences were computed again\n";
  EXPECT_GE(recomputed, 100);
  Json other = said;
  other["headline"] = "7 heads; 7 do the work. Try to break it.";
  EXPECT_NE(contradictions(study.path("patches"), other), "") << "the script can complain";
  other = said;
  Json& row = other["rows"].members()[0].second.items()[2];
  row["words"] = "Yes. Without it 1.5 % of all answers are right, before 2.5 %.";
  EXPECT_NE(contradictions(study.path("patches"), other), "") << "of each row of the card";
}

/// Sweeps with a decision and without one; the groups of the last differ in no number of heads.
TEST_F(FirstScreen, SweepConclusionsAgreeWithItsTables) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  const Words small = {"--task",
                       "relations:length=8,vocab=6,classes=3,relations=1+3",
                       "--batch",
                       "16",
                       "--lr",
                       "2e-2",
                       "--warmup",
                       "10",
                       "--eval-examples",
                       "64"};
  const std::vector<std::pair<std::string, Words>> sweeps = {
      {"decided", {"--heads", "1,2", "--d-model", "16", "--steps", "300", "--seeds", "7"}},
      {"few", {"--heads", "1,2,4", "--d-model", "16", "--steps", "40", "--seeds", "3"}},
      {"alike", {"--heads", "1,2", "--d-model", "8", "--steps", "2", "--seeds", "8"}},
      {"widths", {"--heads", "2", "--d-model", "8,16", "--steps", "5", "--seeds", "2"}},
      {"families", {"--heads", "1,2", "--d-model", "8,16", "--steps", "20", "--seeds", "3"}}};
  for (const auto& [name, more] : sweeps) {
    Words words = {"sweep", "--out", name};
    words.insert(words.end(), small.begin(), small.end());
    study.done(cli::with(words, more));
    open(study.page(name));
    const double families = std::max(1.0, tab().number("familiesOf().length"));
    EXPECT_EQ(there("#sweep-family"), families > 1) << name;
    for (int family = 0; family < families; ++family) {
      if (there("#sweep-family")) {
        choose("sweep-family", tab().text(text("familiesOf()[", family, "].name")));
      }
      const Json said = tab().evaluate(
          "({headline: document.getElementById('headline').textContent, detail: "
          "document.getElementById('detail').textContent, opens: "
          "sweepOf().groups[app.state.group].name})");
      EXPECT_EQ(contradictions(study.path(name), said), "") << name << said.dump();
    }
    wait();
  }
  EXPECT_NE(contradictions(study.path("few"),
                           Json::object({{"headline", "Loss falls until 2 heads and no further."},
                                         {"detail", ""},
                                         {"opens", "heads=2"}})),
            "")
      << "the script can complain";
}

TEST_F(FirstScreen, HoveringMovesNothing) {
  tab().resize(1280, 800);
  open(full);
  const char* places =
      "[...document.querySelectorAll('.map, .drawer, .steps, .lane')].map((e) => { const b = "
      "e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height].join(); }).join(' ')";
  const std::string before = tab().text(places);
  for (const char* head : {"0.0", "0.1", "0.2", "0.3"}) {
    tab().evaluate("document.querySelector(\"" + map_of(head) +
                   "\").dispatchEvent(new PointerEvent('pointerenter'))");
    EXPECT_TRUE(words("#drawer").starts_with(head));
    EXPECT_EQ(tab().text(places), before) << head;
  }
}

TEST_F(FirstScreen, GivesLongSequencesTheWholeWidth) {
  Study own;
  own.train("relations:length=32", "long", {"--heads", "2", "--steps", "1"});
  tab().resize(1280, 800);
  open(own.page("long"));
  EXPECT_GT(tab().number("document.querySelector('.board').getBoundingClientRect().width"), 1200);
}

TEST_F(FirstScreen, LeadsToTheHeadWithItsExample) {
  open(full);
  click(map_of("0.2"));
  const std::string example = tab().text("String(exampleIndex())");
  click("#look-closer");
  EXPECT_TRUE(there("#pattern"));
  EXPECT_EQ(tab().text("chosen().at"), "0.2");
  EXPECT_EQ(tab().text("String(exampleIndex())"), example);
  click("#view-results");
  EXPECT_TRUE(there("#conclusion-live")) << "what the program found is one click away";
}

TEST_F(FirstScreen, OpensItsDrawerBelowTheTappedHead) {
  tab().resize(390, 844);
  open(full);
  EXPECT_LE(tab().number("document.documentElement.scrollWidth"), 390);
  EXPECT_TRUE(tab().holds("document.getElementById('drawer').hidden"));
  for (const char* head : {"0.1", "0.3"}) {
    click(map_of(head));
    EXPECT_TRUE(words("#drawer").starts_with(head));
    EXPECT_TRUE(tab().holds(
        "(() => { const drawer = document.getElementById('drawer').getBoundingClientRect(), tapped "
        "= document.querySelector(\"" +
        map_of(head) +
        "\").getBoundingClientRect(); return drawer.top >= tapped.bottom && [...document"
        ".querySelectorAll('.map')].every((map) => { const b = map.getBoundingClientRect(); return "
        "b.bottom <= drawer.top + 1 || b.top >= drawer.bottom - 1; }); })()"))
        << head
        << tab().text(
               "[...document.querySelectorAll('.map, .drawer')].map((e) => { const b "
               "= e.getBoundingClientRect(); return `${e.id} ${b.top} ${b.bottom} "
               "${e.hidden}`; }).join('; ')");
  }
}

TEST_F(FirstScreen, MovesAmongItsMapsByKeyboard) {
  open(full);
  click(map_of("0.1"));
  tab().evaluate("document.querySelector('#maps .map[tabindex=\"0\"]').focus()");
  for (const auto& [key, head] :
       {std::pair{"Home", "0.0"}, {"ArrowRight", "0.1"}, {"End", "0.3"}}) {
    tab().press(key);
    EXPECT_EQ(tab().text("document.activeElement.dataset.head"), head) << key;
    EXPECT_TRUE(words("#drawer").starts_with(head));
  }
  tab().press("Enter");
  wait();
  EXPECT_TRUE(there(map_of("0.3") + "[aria-current='true']")) << "Enter selects";
  EXPECT_FALSE(there(map_of("0.3") + ".off"));
  tab().press("Enter");
  wait();
  EXPECT_EQ(tab().text("document.activeElement.dataset.head"), "0.3") << "the focus stays";
  EXPECT_TRUE(there(map_of("0.3") + ".off")) << "Enter again ablates";
}

}  // namespace
}  // namespace headlab::browser
