// Pages that are not the usual one: an encoder-decoder, a sweep, a run without analysis, no layers,
// one token, hostile tokens, controls on which no head may own anything, and sequences of 1024.
// Read next: study.h.
#include "browser/study.h"

namespace headlab::browser { namespace {

class Cases : public OnPage {
 protected:
  Study study;

  /// Opens every view of the page that is there.
  void open_all_views(const fs::path& page) {
    open(page);
    const Json views =
        tab().evaluate("app.views.filter((v) => v.available(app.page)).map((v) => v.name)");
    EXPECT_FALSE(views.items().empty());
    for (const Json& view : views.items()) {
      go_to("#view=" + view.string());
      EXPECT_TRUE(tab().holds("document.getElementById('view').children.length > 0"))
          << view.string();
    }
  }
};

TEST_F(Cases, AnEncoderDecoderHasThreeKindsOfModulesAndTwoRails) {
  study.train("reverse_cross", "a", {"--steps", "20", "--d-model", "16", "--heads", "2"});
  study.done({"heads", "a"});
  open_all_views(study.page("a"));
  EXPECT_EQ(tab().text("[...new Set(run().modules.map((m) => m.kind))].sort().join()"),
            "cross,encoder,self");
  EXPECT_TRUE(tab().holds("app.check.ok"));
  const std::string cross = tab().text(
      "(() => { const m = run().modules.find((x) => x.kind === 'cross'); return "
      "`${m.index}.${m.heads[0]}`; })()");
  go_to("#view=head&h=" + cross);
  EXPECT_TRUE(tab().holds(figure("pattern") + ".picture.marks.rows > 0"));
  EXPECT_TRUE(there("#rails"));
  go_to("#view=compare");
  const std::string distances = tab().text(figure("distances") + ".picture.sentence");
  EXPECT_NE(distances.find("Most alike"), std::string::npos) << distances;
  EXPECT_NE(distances.find("0.833"), std::string::npos) << "the largest that there is: √ln 2";
}

TEST_F(Cases, ARunWithoutAnalysisNamesTheCommandsThatItLacks) {
  study.train("relations", "a", {"--steps", "3", "--d-model", "16", "--heads", "2"});
  open_all_views(study.page("a"));
  go_to("#view=heads");
  EXPECT_NE(words("#view").find("headlab heads a"), std::string::npos) << words("#view");
  EXPECT_FALSE(tab().holds("document.getElementById('view').textContent.includes('★ back')"));
}

TEST_F(Cases, AModelWithoutLayersHasAPage) {
  study.train("relations", "a", {"--steps", "3", "--d-model", "16", "--layers", "0"});
  open_all_views(study.page("a"));
  EXPECT_TRUE(tab().holds("app.check.ok"));
}

TEST_F(Cases, AModelWithoutHeadsInALayerHasAPage) {
  study.train("induction", "a",
              {"--steps", "3", "--d-model", "16", "--layers", "2", "--heads", "1"});
  study.done({"prune", "a", "--method", "magnitude", "--keep", "1", "--out", "b"});
  open_all_views(study.page("b"));
  EXPECT_EQ(tab().number("run().modules.reduce((n, m) => n + m.heads.length, 0)"), 1);
}

/// All words of the open view: of its text, and of its pictures with their tables.
constexpr const char* kWordsOfView =
    "document.getElementById('view').textContent + app.figures.filter((f) => f.picture).map((f) => "
    "[f.picture.title, f.picture.sentence, JSON.stringify(f.picture.table()), "
    "...f.picture.items.map((item) => item.text || '')].join(' ')).join(' ')";

TEST_F(Cases, ControlsHaveNoOwnerAnywhere) {
  for (const char* task : {"memoryless", "random"}) {
    const std::string name = task;
    study.train(name, name,
                {"--steps", "300", "--d-model", "32", "--heads", "4", "--track-heads", "60",
                 "--keep-weights", "3"});
    for (const Words& words : {Words{"heads", name}, Words{"ablate", name},
                               Words{"ablate", name, "--gold-edges"}, Words{"curve", name}})
      study.done(words);
    open_all_views(study.page(name));
    EXPECT_NE(tab().text("document.getElementById('verdict').textContent").find("No head owns"),
              std::string::npos);
    EXPECT_EQ(tab().number("headsOf(run()).flatMap((x) => ownedBy(x)).length"), 0);
    std::vector<std::string> places;
    const Json views = tab().evaluate("app.views.filter(isShown).map((v) => v.name)");
    for (const Json& view : views.items()) places.push_back("#view=" + view.string());
    for (int lesson = 2; lesson <= 9; ++lesson)
      places.push_back("#view=learn&world=run&lab=open:1&page=" + std::to_string(lesson));
    for (const std::string& place : places) {
      go_to(place);
      const std::string found = tab().text(
          "((words) => (words.replace('★ owns the relation', '').match(/.{0,40}(★|owns "
          "(previous|same)|(?<!nobody )does (previous|same)|(?<!nothing |role )was born).{0,40}/) "
          "|| "
          "[''])[0])(" +
          std::string(kWordsOfView) + ")");
      EXPECT_EQ(found, "") << task << " " << place;
    }
  }
}

TEST_F(Cases, TokensStayTextWhateverTheySay) {
  write_file(study.path("hostile.txt"), [] {
    std::string text;
    for (int i = 0; i < 300; ++i)
      text +=
          "</script><img src=x "
          "onerror=alert(1)>\xE2\x80\xAE\xD7\x90\xF0\x9F\x98\x80\xE2\x80\xA8&\"'\t\n";
    return text;
  }());
  study.train("text:file=hostile.txt,length=16", "a",
              {"--steps", "3", "--d-model", "16", "--heads", "2", "--layers", "1", "--batch", "4"});
  study.done({"heads", "a"});
  open_all_views(study.page("a"));
  EXPECT_EQ(tab().number("document.images.length"), 0);
  EXPECT_TRUE(tab().holds("app.check.ok"));
}

TEST_F(Cases, ASweepHasASliderOverItsModels) {
  study.done({"sweep", "--task", "relations:length=8", "--heads", "1,2", "--seeds", "2",
              "--d-model", "16", "--steps", "10", "--batch", "8", "--warmup", "5",
              "--eval-examples", "32", "--out", "s"});
  study.done({"page", "s"});
  open(study.path("s/report.html"));
  EXPECT_EQ(tab().text("app.state.view"), "sweep") << "a sweep opens with its knee";
  EXPECT_TRUE(there("#knee") && there("#sweep-run"));
  EXPECT_EQ(tab().number("app.page.runs.length"), 2);
  tab().evaluate("document.getElementById('sweep-run').focus()");
  tab().press("ArrowRight");
  wait();
  EXPECT_EQ(tab().text("app.state.run"), "2");
}

/// 96 heads on 1024 tokens: hovering costs milliseconds.
TEST_F(Cases, LongSequencesOfManyHeadsAnswerThePointer) {
  study.train("induction:length=1024", "a",
              {"--steps", "1", "--d-model", "96", "--layers", "8", "--heads", "12", "--batch", "1",
               "--eval-examples", "2", "--eval-every", "0"});
  open(study.page("a", {"--examples", "1", "--no-weights"}), "#view=heads");
  EXPECT_EQ(tab().number("document.querySelectorAll('#grid .cell').length"), 96);
  go_to("#view=head&h=0.3&ex=0");
  const double slow = tab().number(
      "(() => { const f = " + figure("pattern") +
      "; const times = []; const b = "
      "f.canvas.getBoundingClientRect(); for (let i = 0; i < 200; ++i) { const start = "
      "performance.now(); f.canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: b.x + "
      "60 "
      "+ (i * 37) % (b.width - 80), clientY: b.y + 60 + (i * 53) % (b.height - 80), bubbles: "
      "true}));"
      " times.push(performance.now() - start); } return times.sort((p, q) => p - q)[190]; })()");
  EXPECT_LE(slow, 24);
  EXPECT_NE(readout(), "");
  const Json metrics = tab().call("Performance.getMetrics");
  for (const Json& metric : metrics.at("metrics").items())
    if (metric.at("name").string() == "JSHeapUsedSize") {
      EXPECT_LE(metric.at("value").number(), 300e6);
    }
}

}  // namespace
}  // namespace headlab::browser
