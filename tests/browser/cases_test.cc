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
    EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden"));
    for (const char* view : kViews) {
      go_to(std::string("#view=") + view);
      EXPECT_TRUE(tab().holds("document.getElementById('view').children.length > 1")) << view;
    }
  }
};

TEST_F(Cases, AnEncoderDecoderHasThreeKindsOfAttentionLayersAndTwoRows) {
  study.train("reverse_cross", "a", {"--steps", "20", "--d-model", "16", "--heads", "2"});
  study.done({"heads", "a"});
  open_all_views(study.page("a"));
  go_to("#view=first");
  for (const char* part :
       {"Encoder layer 0", "Decoder layer 0", "Cross-attention of decoder layer 0"})
    EXPECT_TRUE(there(std::string("#maps .map-cell[title='") + part + "']")) << part;
  const std::string cross =
      tab().text("document.querySelector(\"#maps .map-cell[title^='Cross'] .map\").dataset.head");
  go_to("#view=head&h=" + cross);
  EXPECT_FALSE(table("pattern").empty());
  const std::string keys = tab().text(
      "[...document.querySelectorAll('figure:has(#pattern) th')].map((cell) => "
      "cell.textContent).join('')");
  go_to("#view=bench");
  EXPECT_NE(keys.find(tab().text("document.getElementById('typed').value")), std::string::npos)
      << "the columns are the tokens of the source, from the first: " << keys;
  choose("typed", tab().text("document.getElementById('typed').value.split('').reverse().join('')"),
         "input");
  EXPECT_TRUE(shows("#edited", "tokens typed"));
}

TEST_F(Cases, ARunWithoutAnalysisNamesTheCommandsThatItLacks) {
  study.train("relations", "a", {"--steps", "3", "--d-model", "16", "--heads", "2"});
  open(study.page("a", {"--no-measure"}));
  EXPECT_TRUE(shows("#headline", "not trained yet")) << words("#headline");
  EXPECT_FALSE(there(".map.own"));
  go_to("#view=results");
  EXPECT_TRUE(shows("#view", "headlab heads a")) << words("#view");
  open_all_views(study.page("a"));
}

TEST_F(Cases, AModelWithoutLayersHasAPage) {
  study.train("relations", "a", {"--steps", "3", "--d-model", "16", "--layers", "0"});
  open_all_views(study.page("a"));
}

TEST_F(Cases, AModelWithoutHeadsInALayerHasAPage) {
  study.train("induction", "a",
              {"--steps", "3", "--d-model", "16", "--layers", "2", "--heads", "1"});
  study.done({"prune", "a", "--method", "magnitude", "--keep", "1", "--out", "b"});
  open_all_views(study.page("b"));
  go_to("#view=first");
  EXPECT_EQ(tab().number("document.querySelectorAll('#maps .map').length"), 1);
}

TEST_F(Cases, ControlsHaveNoOwnerAnywhere) {
  for (const char* task : {"memoryless", "random"}) {
    const std::string name = task;
    study.train(name, name,
                {"--steps", "300", "--d-model", "32", "--heads", "4", "--track-heads", "60",
                 "--keep-weights", "3"});
    for (const Words& words :
         {Words{"heads", name}, Words{"ablate", name},
          Words{"ablate", name, "--truth-edges", "--examples", "128"}, Words{"curve", name}})
      study.done(words);
    open_all_views(study.page(name));
    EXPECT_NE(words("#conclusion").find("No head owns"), std::string::npos);
    std::vector<std::string> places;
    for (const char* view : kViews) places.push_back(std::string("#view=") + view);
    for (const char* lesson : kLessons)
      if (std::string(lesson) != "glossary")
        places.push_back("#view=learn&world=run&lab=open:1&lesson=" + std::string(lesson));
    for (const std::string& place : places) {
      go_to(place);
      const std::string found = tab().text(
          "((words) => (words.match(/.{0,40}(★(?!: no room)|owns (previous|same)|(?<!nobody )does "
          "(previous|same)|emerged ?at step).{0,40}/) || [''])[0])("
          "document.getElementById('view').textContent)");
      EXPECT_EQ(found, "") << task << " " << place;
    }
    go_to("#view=first");
    EXPECT_TRUE(shows("#headline", "nothing to find")) << words("#headline");
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
  go_to("#view=bench");
  EXPECT_EQ(table("by-question")[0][0], "next") << "a question is named for what it asks";
  const double before = tab().number("document.getElementById('typed').value.length");
  choose("typed", "<", "input");
  for (int i = 0; i < 3; ++i) click("#continue");
  EXPECT_GE(tab().number("document.getElementById('typed').value.length"), 4) << "it goes on";
  EXPECT_GE(before, 16);
}

TEST_F(Cases, ASweepHasALineAlongItsNumbersOfHeads) {
  study.done({"sweep", "--task", "relations:length=8", "--heads", "1,2", "--seeds", "2",
              "--d-model", "16", "--steps", "10", "--batch", "8", "--warmup", "5",
              "--eval-examples", "32", "--out", "s"});
  study.done({"page", "s"});
  open(study.path("s/report.html"));
  EXPECT_TRUE(there("#loss-by-heads") && there("#sweep-heads"))
      << "a sweep opens with its loss by heads";
  EXPECT_FALSE(shows("#view", "enough") && !shows("#view", "too few"))
      << "two seeds cannot tell: " << words("#headline");
  const auto maps = [&] {
    return tab().number("document.querySelectorAll('#sweep-grid .trial-map').length");
  };
  press_on("sweep-heads", "Home");
  EXPECT_EQ(maps(), 2) << "one head in each of two seeds";
  press_on("sweep-heads", "ArrowRight");
  EXPECT_EQ(maps(), 4);
  const std::string whole_maps = R"js([...document.querySelectorAll('.trial-map canvas')].filter(
    (map) => {
      const colour = (x, y) => map.getContext('2d').getImageData(x, y, 1, 1).data.join();
      return colour(0, map.height - 1) !== colour(map.width - 1, 0);
    }).length)js";
  EXPECT_EQ(tab().number(whole_maps), 4)
      << "the last query sees the first key, the first query not the last key";
  const auto axis = tab().middle_of("#loss-by-heads");
  tab().click(Tab::Place{axis.x - 200, axis.y});
  EXPECT_EQ(maps(), 2) << "the pointer takes the line along";
  EXPECT_EQ(tab().text("document.getElementById('sweep-heads').getAttribute('aria-valuetext')"),
            "1 head");
  press_on("sweep-heads", "End");
  click("#open-1");
  EXPECT_EQ(tab().text("app.state.view"), "first");
  EXPECT_EQ(tab().number("document.querySelectorAll('#maps .map').length"), 2);
  EXPECT_FALSE(shows("#drawer", "Not scored")) << "a sweep keeps the scores of its trials";
  open(study.path("s/report.html"), "#view=first&run=2&h=0.1");
  EXPECT_TRUE(words("#drawer").starts_with("0.1")) << "a link to a head that run 1 does not have";
}

TEST_F(Cases, ASweepOfSeveralFamiliesShowsOneAtATime) {
  study.done({"sweep", "--task", "relations,duplicate", "--heads", "1,2", "--seeds", "2",
              "--d-model", "16", "--steps", "10", "--batch", "8", "--warmup", "5",
              "--eval-examples", "32", "--out", "s"});
  study.done({"page", "s"});
  open(study.path("s/report.html"));
  EXPECT_EQ(tab().text("document.getElementById('sweep-family').value"), "task=relations");
  EXPECT_TRUE(words("#headline").starts_with("task=relations: ")) << words("#headline");
  EXPECT_TRUE(shows("#sweep-grid", "mean loss"));
  choose("sweep-family", "task=duplicate");
  EXPECT_TRUE(words("#headline").starts_with("task=duplicate: ")) << words("#headline");
  EXPECT_FALSE(shows("#detail", "relations")) << words("#detail");
  press_on("sweep-heads", "Home");
  EXPECT_EQ(tab().number("document.querySelectorAll('#sweep-grid .trial-map').length"), 2)
      << "one head in each of two seeds of one family";
  EXPECT_EQ(tab().text("task().name"), "duplicate") << "the other views show its model";
  for (const std::vector<std::string>& row : table("loss-by-heads")) {
    EXPECT_TRUE(row[0] != "task=relations") << row[0];
  }
}

/// Weights of 64 tokens are small: they are shaded by their root, up to the largest.
TEST_F(Cases, AMapOfText) {
  study.train("text:length=64", "a",
              {"--steps", "3", "--d-model", "16", "--heads", "2", "--layers", "1", "--batch", "4"});
  open_all_views(study.page("a"));
  go_to("#view=head&h=0.0");
  const char* corner =  // of the map: the last query on the first key
      "(() => { const {marks} = figures.find((f) => f.canvas.id === 'pattern').picture; const [x, "
      "y, w, h] = marks.box(63, 0); return document.getElementById('pattern').getContext('2d')"
      ".getImageData(x + w / 2, y + h / 2, 1, 1).data[0]; })()";
  EXPECT_LT(tab().number(corner), 150) << "1/64 of uniform attention can be seen";
  click("#zoom-in");
  EXPECT_TRUE(shows("figure:has(#pattern) figcaption", "the rest of the row"))
      << caption("pattern");
}

/// 48 heads on 1024 tokens: hovering costs milliseconds.
TEST_F(Cases, LongSequencesOfManyHeadsAnswerThePointer) {
  study.train("induction:length=1024", "a",
              {"--steps", "1", "--d-model", "96", "--layers", "4", "--heads", "12", "--batch", "1",
               "--eval-examples", "2", "--eval-every", "0"});
  open(study.page("a", {"--examples", "1", "--no-weights"}));
  EXPECT_EQ(tab().number("document.querySelectorAll('#maps .map').length"), 48);
  go_to("#view=head&h=0.3&ex=0");
  const double slow = tab().number(  // 19 of 20 moves, in the best of five rounds
      "(() => { const canvas = document.getElementById('pattern'); const b = "
      "canvas.getBoundingClientRect(); const move = (i) => { const start = performance.now(); "
      "canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: b.x + 60 + (i * 37) % "
      "(b.width - 80), clientY: b.y + 60 + (i * 53) % (b.height - 80), bubbles: true})); return "
      "performance.now() - start; }; const round = (n) => Array.from({length: 40}, (_, i) => "
      "move(40 * n + i)).sort((p, q) => p - q)[37]; return Math.min(...[0, 1, 2, 3, "
      "4].map(round)); "
      "})()");
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
