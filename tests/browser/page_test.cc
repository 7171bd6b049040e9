// The page opens from disk, checks its model against the program's, and shows what the program
// found: the numbers under the pointer, behind a switch and on a slider are those of its files.
// Read next: study.h; readers_test.cc.
#include <cmath>

#include "browser/study.h"

namespace headlab::browser { namespace {

class PageOfARun : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");
};

TEST_F(PageOfARun, ChecksItselfAsksForNothingAndStaysSmall) {
  open(full);
  EXPECT_TRUE(tab().holds("app.check.ok"));
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_NE(words("#check"), "");
  EXPECT_TRUE(tab().holds("document.getElementById('static').hidden"));
  EXPECT_LE(fs::file_size(full), 1'000'000u);
  const Json views =
      tab().evaluate("app.views.filter((v) => v.available(app.page)).map((v) => v.name)");
  for (const Json& view : views.items()) {
    go_to("#view=" + view.string());
    EXPECT_EQ(tab().text("app.state.view"), view.string());
    EXPECT_LE(tab().number("document.querySelectorAll('*').length"), 2000) << view.string();
    EXPECT_NE(words("#view-title"), "") << view.string();
  }
}

TEST_F(PageOfARun, OffersItsHeadsToTheKeyboard) {
  open(full);
  tab().evaluate("document.querySelector('#grid .cell[tabindex=\"0\"]').focus()");
  const auto focused = [&] { return tab().text("document.activeElement.dataset.head"); };
  tab().press("Home");
  EXPECT_EQ(focused(), "0.0");
  tab().press("ArrowRight");
  EXPECT_EQ(focused(), "0.1");
  tab().press("End");
  EXPECT_EQ(focused(), "0.3");
  tab().press("ArrowRight");
  EXPECT_EQ(focused(), "0.3") << "there is nothing behind the last";
  tab().press("ArrowLeft");
  EXPECT_NE(tab().text("getComputedStyle(document.activeElement).outlineStyle"), "none");
  tab().press("Enter");
  wait();
  EXPECT_EQ(tab().text("app.state.view + ' ' + app.state.h"), "head 0.2");
}

TEST_F(PageOfARun, ReadsOutThePatternOfTheProgram) {
  open(full, "#view=head&h=0.2&ex=3");
  const Json pattern =
      study.done({"heads", "full", "--pattern", "0.2", "--example", "3", "--json"}).json();
  for (const auto& [row, column] : {std::pair{7, 4}, {15, 10}, {3, 3}}) {
    tab().point(mark("pattern", row, column));
    const double weight = pattern.at("pattern").items()[row].items()[column].number();
    const std::string shown = readout();
    EXPECT_TRUE(shown.starts_with("query " + std::to_string(row))) << shown;
    const std::size_t colon = shown.find(": ");
    ASSERT_NE(colon, shown.npos) << shown;
    const double read = tab().number("parseFloat(" + Json(shown.substr(colon + 2)).dump() +
                                     ".replace('−', '-').replace('e−', 'e-'))");
    EXPECT_NEAR(read, weight, 1e-4 * std::max(weight, 0.1)) << shown;
  }
}

TEST_F(PageOfARun, SumsTheRowsThatAreLocked) {
  open(full, "#view=head&h=0.1&ex=3");
  tab().click(mark("pattern", 7, 4));
  wait();
  EXPECT_EQ(tab().text("app.state.q"), "[7]");
  tab().click(mark("pattern", 9, 4), shift);
  wait();
  EXPECT_EQ(tab().text("app.state.q"), "[7,9]");
  const double difference = tab().number(
      "(() => { const map = patternOf(trace(), chosen().m, chosen().place); const row = "
      "rowOf(map, app.state.q); return Math.max(...row.map((v, s) => Math.abs(v - map.values[7 * "
      "map.cols + s] - map.values[9 * map.cols + s]))); })()");
  EXPECT_LE(difference, 1e-6);
  tab().evaluate("document.getElementById('pattern').focus()");
  tab().press("Escape");
  wait();
  EXPECT_EQ(tab().text("app.state.q"), "[]");
}

TEST_F(PageOfARun, LosesWhatTheProgramLosesWithoutAHead) {
  open(full, "#view=heads");
  const Json ablation = study.json("full/ablation.json");
  tab().evaluate("document.getElementById('cell-0.2').focus()");
  tab().press("x");
  wait();
  EXPECT_EQ(tab().text("app.state.gates['0.2']"), "0");
  go_to("#view=live&gates=0.2:0");
  tab().wait_until("measured.result && measured.done === measured.of");
  const double loss = tab().number("measured.result.loss");
  const double program = ablation.at("heads").items()[2].at("loss").number();
  EXPECT_NEAR(loss, program, 1e-5 + 1e-4 * program);
  EXPECT_FALSE(tab().holds("document.getElementById('agrees').classList.contains('bad')"));
}

TEST_F(PageOfARun, MeasuresAgainWhereAMeasurementWasInterrupted) {
  open(full, "#view=heads");
  // The next gate moves while the loss with all heads on is about to be measured.
  tab().evaluate(
      "(() => { const steps = evaluateSteps; evaluateSteps = (r, options) => { if "
      "(options.gates === null) { evaluateSteps = steps; go({gates: {'0.1': 0}}); } return "
      "steps(r, options); }; })()");
  go_to("#view=live&gates=0.2:0");
  tab().wait_until("app.state.gates['0.1'] === 0");
  tab().wait_until("measured.result && measured.done === measured.of && app.busy === 0");
  EXPECT_NE(words("#agrees").find("the same"), std::string::npos) << words("#live-result");
  EXPECT_NE(words("#live-result").find("against all heads on"), std::string::npos);
}

TEST_F(PageOfARun, LocksTheCellThatStandsUnderThePointerOfAZoomedPattern) {
  for (const char* view : {"head", "live"}) {
    open(full, "#view=" + std::string(view) + "&h=0.1&ex=3&win=4-11,2-9");
    tab().click(mark(view == std::string("head") ? "pattern" : "live-pattern", 1, 1));
    wait();
    EXPECT_EQ(tab().text("[app.state.q, app.state.k].join()"), "5,3") << view;
  }
}

TEST_F(PageOfARun, LosesWhatTheProgramLosesWithEverySetOfHeads) {
  open(full);
  const Json subsets = study.json("full/curve.json").at("subsets");
  const std::size_t count = subsets.at("losses").items().size();
  ASSERT_EQ(count, 16u);
  const Json losses = tab().evaluate(
      "Array.from({length: 16}, (_, set) => evaluate(run(), {gates: "
      "[Float32Array.from({length: "
      "4}, (_, h) => set >> h & 1)]}).loss)");
  for (std::size_t set = 0; set < count; ++set) {
    const double program = subsets.at("losses").items()[set].number();
    EXPECT_NEAR(losses.items()[set].number(), program, 1e-5 + 1e-4 * program) << set;
  }
}

TEST_F(PageOfARun, TurnsItsModelOffWhenAWeightIsDamaged) {
  std::string html = read_file(full);
  const std::string facts = html.substr(html.find("id=\"facts\">") + 11);
  const Json parsed = Json::parse(facts.substr(0, facts.find("</script>")));
  const std::string id = parsed.at("runs").items()[0].at("weights").at("block").at("id").string();
  const std::size_t at = html.find(">", html.find("id=\"" + id + "\"")) + 41;
  html[at] = html[at] == 'A' ? 'B' : 'A';
  write_file(folder / "damaged.html", html);
  open(folder / "damaged.html");
  EXPECT_FALSE(tab().holds("app.check.ok"));
  EXPECT_FALSE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_NE(words("#banner"), "");
  EXPECT_FALSE(tab().holds("isLive()"));
  go_to("#view=live");
  EXPECT_FALSE(there("#live-loss"));
}

TEST_F(PageOfARun, OutlinesTheTruthAndNothingElse) {
  open(full, "#view=head&h=0.0&ex=3&rel=back3");
  const Json pattern =
      study.done({"heads", "full", "--pattern", "0.0", "--example", "3", "--json"}).json();
  std::vector<std::vector<double>> gold;
  for (const Json& cells : pattern.at("gold").items())
    if (cells.at("relation").string() == "back3")
      for (const Json& keys : cells.at("keys").items()) {
        gold.emplace_back();
        for (const Json& key : keys.items()) gold.back().push_back(key.number());
      }
  ASSERT_EQ(gold.size(), 16u);
  // A cell has an outline if its drawing without it differs.
  const Json outlined = tab().evaluate(
      "(() => { const p = " + figure("pattern") +
      ".picture; const found = []; "
      "for (let r = 0; r < p.marks.rows; ++r) for (let c = 0; c < p.marks.cols(r); ++c) { "
      "const [x, y, w, h] = p.marks.box(r, c); if (p.items.some((i) => i.type === 'rect' && "
      "i.thick "
      "=== 2 && i.x > x && i.y > y && i.x + i.w < x + w && i.y + i.h < y + h)) found.push([r, c]); "
      "} "
      "return found; })()");
  std::vector<std::vector<double>> found(16);
  for (const Json& cell : outlined.items())
    found[static_cast<std::size_t>(cell.items()[0].integer())].push_back(cell.items()[1].number());
  EXPECT_EQ(found, gold);
  // And the outline is on the screen.
  const auto at = mark("pattern", 7, 4);
  EXPECT_GT(at.x, 0);
  EXPECT_TRUE(tab().holds(
      "(() => { const f = " + figure("pattern") +
      "; const [x, y, w, h] = f.picture.marks.box(7, 4); "
      "const pixel = (dx, dy) => [...f.canvas.getContext('2d').getImageData(x + dx, y + dy, 1, "
      "1).data].join(); return pixel(w / 2, h / 2) !== pixel(2, h / 2) || pixel(w / 2, h / 2) !== "
      "pixel(w / 2, 2); })()"));
}

TEST_F(PageOfARun, HidesTheEdgesThatTheProgramHides) {
  open(full);
  const Json report = study.json("full/gold_edges.json");
  for (const Json& relation : report.at("relations").items()) {
    const std::string name = relation.at("name").string();
    const Json& first = relation.at("tests").items()[0];
    const std::string head = first.at("heads").items()[0].dump();  // [layer, head]
    const double change = tab().number(
        "(() => { const r = task().facts.relations.findIndex((x) => x.name === " +
        Json(name).dump() + "); const {m, place} = headNamed(run(), " + head +
        ".join('.')); const loss = (hide) => evaluate(run(), {hide}).relations.find((x) => "
        "x.name === " +
        Json(name).dump() +
        ").loss; const hide = {relation: r, heads: [[m, place]], "
        "random: false}; return loss(hide) - evaluate(run(), {hide: {...hide, heads: []}})"
        ".relations.find((x) => x.name === " +
        Json(name).dump() + ").loss; })()");
    const double program = first.at("gold").at("change").number();
    EXPECT_NEAR(change, program, 1e-4 + 1e-3 * std::abs(program)) << name;
  }
}

TEST_F(PageOfARun, KeepsItsStateInTheAddress) {
  open(full, "#view=head&h=0.2&ex=3&q=7");
  EXPECT_EQ(tab().text("formatHash(parseHash(location.hash).state)"),
            tab().text("formatHash(app.state)"));
  tab().click("#view-live");
  wait();
  EXPECT_EQ(tab().text("app.state.view"), "live");
  tab().evaluate("history.back()");
  tab().wait_until("app.state.view === 'head'");
  EXPECT_EQ(tab().text("app.state.h + app.state.q"), "0.27");
  EXPECT_TRUE(tab().holds(
      "(() => { let seed = 1; const random = (n) => (seed = seed * 48271 % 2147483647) % n; "
      "for (let i = 0; i < 1000; ++i) { const s = defaultState(); s.view = "
      "app.views[random(app.views.length)].name; s.h = `0.${random(4)}`; s.ex = random(500); s.q = "
      "[random(16)]; s.gates = {[`0.${"
      "random(4)}`]: random(100) / 100}; if (JSON.stringify(parseHash(formatHash(s)).state) !== "
      "JSON.stringify(s)) return false; } return true; })()"));
}

TEST_F(PageOfARun, FallsBackWithANoticeOnABadAddress) {
  for (const char* hash : {"#view=nowhere", "#h=9.9", "#ex=-1&view=head", "#gates=0.1:7",
                           "#%E0%A4%A", "#view=head&q=banana&&==&h", "#edit=999:999&view=live"}) {
    open(full, hash);
    EXPECT_TRUE(tab().holds("app.views.some((v) => v.name === app.state.view)")) << hash;
    EXPECT_TRUE(tab().holds("document.getElementById('view').children.length > 0")) << hash;
  }
  open(full, "#view=head&h=9.9");
  EXPECT_NE(words("#notices"), "");
}

TEST_F(PageOfARun, ShowsItsTrainingStepByStep) {
  open(full, "#view=time");
  EXPECT_TRUE(there("#loss") && there("#births"));
  const Json steps = tab().evaluate("run().steps");
  ASSERT_EQ(steps.items().size(), 6u);
  const std::string last = steps.items().back().dump();
  go_to("#view=time&step=" + last);
  const double live = tab().number("evaluate(run(), {model: run().modelAt(" + last + ")}).loss");
  const double program = tab().number("run().facts.evaluation.loss");
  EXPECT_NEAR(live, program, 2e-3 + 1e-2 * program) << "in 16 bits";
  EXPECT_NE(words("#birth-list"), "");
}

TEST_F(PageOfARun, FollowsThePruningCurve) {
  open(full, "#view=prune&method=greedy&kept=2");
  const Json curve = study.json("full/curve.json");
  for (const Json& method : curve.at("methods").items()) {
    if (method.at("method").string() != "greedy") continue;
    const Json& point = method.at("points").items()[2];
    std::string kept;
    for (const Json& head : point.at("heads").items())
      kept += head.items()[0].dump() + "." + head.items()[1].dump() + " ";
    EXPECT_EQ(tab().text("Array.from(document.querySelectorAll('#kept-heads .chosen b'), (b) => "
                         "b.textContent + ' ').join('')"),
              kept);
  }
  tab().evaluate("document.getElementById('kept').focus()");
  tab().press("ArrowRight");
  wait();
  EXPECT_EQ(tab().text("app.state.kept"), "3");
}

TEST_F(PageOfARun, ComparesTwoHeadsCellByCell) {
  open(full, "#view=compare&a=0.0&b=0.1&ex=3");
  tab().point(mark("compare-a", 7, 4));
  const std::string shown = readout();
  for (const char* part : {"query 7, key 4", "A ", "B ", "A − B"})
    EXPECT_NE(shown.find(part), shown.npos) << shown;
}

TEST_F(PageOfARun, ShowsEachNumberForWhatItIs) {
  open(full, "#view=heads&step=1");
  EXPECT_NE(words("#other-step"), "") << "maps of one step, a verdict of another";
  EXPECT_GT(tab().text("document.querySelector('#verdict-live a').getAttribute('href')").size(),
            1u);
  open(full, "#view=live");
  EXPECT_FALSE(there("#guess")) << "nothing is off yet";
  go_to("#view=live&gates=0.1:0");
  EXPECT_TRUE(there("#guess"));
  go_to("#view=live&edit=3:1");
  EXPECT_EQ(tab().text("String(patternCommand()())"), "false")
      << "no command makes an edited input";
  open(full, "#view=time");
  const double least = tab().number(
      "Math.min(...Object.values(run().facts.history.relations).filter((r) => r.best).flatMap((r) "
      "=> r.lift[run().facts.history.heads.findIndex((x) => x.join() === r.best.join())]))");
  EXPECT_NEAR(tab().number("Math.min(...(" + figure("births") +
                           ").picture.table().rows.map((row) => row[2]))"),
              least, 1e-3);
}

TEST_F(PageOfARun, ShowsTheOpenTabOnNarrowScreens) {
  tab().resize(320, 640);
  open(full, "#view=about");
  EXPECT_TRUE(
      tab().holds("(() => { const b = document.querySelector('#views "
                  "[aria-current]').getBoundingClientRect(); return b.left >= 0 && b.left < 320; "
                  "})()"));
}

TEST_F(PageOfARun, KeepsThePlacesOfRemovedHeads) {
  open(study.path("pruned/report.html"), "#view=heads");
  EXPECT_EQ(tab().number("document.querySelectorAll('#grid .cell').length"), 4);
  EXPECT_EQ(tab().number("document.querySelectorAll('#grid .cell.gone').length"), 1);
  EXPECT_NE(words("#grid .gone").find("removed"), std::string::npos);
}

}  // namespace
}  // namespace headlab::browser
