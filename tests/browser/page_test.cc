// The page of a run as its reader sees it: it checks its model against the program's, tells its
// story, and shows what the program found: the numbers under the pointer are those of its files.
// Read next: bench_test.cc; study.h; readers_test.cc; walks_test.cc.
#include <regex>

#include "browser/study.h"

namespace headlab::browser { namespace {

class PageOfARun : public OnPage {
 protected:
  const Study& study = the_study();
  fs::path full = study.path("full/report.html");
};

TEST_F(PageOfARun, ChecksItselfAsksForNothingAndStaysSmall) {
  open(full);
  EXPECT_TRUE(shows("#check", "✓ checked"));
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_TRUE(tab().holds("document.getElementById('static').hidden"));
  EXPECT_LE(fs::file_size(full), 1'000'000u);
  for (const char* view : kViews) {
    go_to(std::string("#view=") + view);
    EXPECT_LE(tab().number("document.querySelectorAll('*').length"), 2000) << view;
    EXPECT_NE(words("#view-title"), "") << view;
  }
}

/// The ten questions of a stranger, each with the clicks that lead to the sentence that answers it.
TEST_F(PageOfARun, AnswersTheTenQuestionsOfAStranger) {
  open(full);
  const Json relations = study.json("full/heads.json").at("relations");
  const std::string owner = at2(relations.items()[0].at("owner"));
  EXPECT_TRUE(shows("#detail", "the model names the tokens 1, 3 and 5 back")) << "What is asked?";
  EXPECT_TRUE(shows("#headline", "4 heads")) << "How many heads are there, and what do they do?";
  click("[id='map-" + owner + "']");
  EXPECT_TRUE(shows("#drawer", "of its attention is on the keys of \u201c1 back\u201d"))
      << "What is a head looking at? " << words("#drawer");
  EXPECT_TRUE(shows("#drawer", "baseline 0.")) << "Is it chance? " << words("#drawer");
  EXPECT_TRUE(shows("#drawer", "It is the owner.")) << "Who finds it?";
  EXPECT_TRUE(shows("#drawer", "Without it ")) << "Is it needed? " << words("#drawer");
  EXPECT_TRUE(shows("#drawer", "half of its final attention")) << "When did it emerge?";
  EXPECT_TRUE(shows("#drawer", " enough") || shows("#drawer", "No head can go unnoticed"))
      << "Which head could go? " << words("#drawer");
  click("[id='pill-" + owner + "']");
  EXPECT_TRUE(shows("#headline", "Without head " + owner)) << "What if I switch it off?";
  EXPECT_TRUE(shows("#detail", "Counted on ")) << "On how many examples? " << words("#detail");
}

TEST_F(PageOfARun, ReadsOutThePatternOfTheProgram) {
  open(full, "#view=head&h=0.0&ex=3&rel=back3");
  const Json pattern = study.done({"pattern", "full", "0.0", "--example", "3", "--json"}).json();
  for (const auto& [row, column] : {std::pair{7, 4}, {15, 10}, {3, 3}}) {
    const double weight = pattern.at("pattern").items()[row].items()[column].number();
    const std::string shown = mark("pattern", row, column);
    EXPECT_TRUE(shown.starts_with("query " + std::to_string(row))) << shown;
    EXPECT_NEAR(number_in(shown.substr(shown.find(": ") + 2)), weight, 1e-3 * std::max(weight, 0.1))
        << shown;
  }
  for (const Json& cells : pattern.at("truth").items()) {
    if (cells.at("relation").string() != "back3") continue;
    for (int row : {5, 9, 15}) {
      mark("pattern", row, 0);
      std::vector<int> right;
      for (int column = 0; column < 16; ++column, tab().press("ArrowRight"))
        if (readout().find("right key of 3 back") != std::string::npos) right.push_back(column);
      EXPECT_EQ(Json(right), cells.at("keys").items()[row]) << row;
    }
  }
}

TEST_F(PageOfARun, LocksACellOpensItsRowAndUnlocks) {
  open(full, "#view=head&h=0.1&ex=3");
  EXPECT_TRUE(there("#row")) << "the strongest cell is locked at the start";
  mark("pattern", 7, 4);
  tab().press("Enter");
  wait();
  EXPECT_TRUE(caption("row").starts_with("Why query 7")) << caption("row");
  EXPECT_TRUE(shows("figure:has(#row) figcaption", "Key 4 "));
  EXPECT_EQ(table("row").size(), 8u) << "a causal query sees as many keys";
  for (const char* name : {"flow", "writes", "truth", "plane"}) {
    click(std::string("#tab-") + name);
    EXPECT_FALSE(
        tab().holds(std::string("document.getElementById('") + name + "').offsetHeight === 0"))
        << name;
  }
  tab().evaluate("document.getElementById('pattern').focus()");
  tab().press("Escape");
  wait();
  tab().wait_until("!location.hash.includes('q=')");
  open(full, "#view=head&h=0.1&ex=3&win=4-11,2-9");
  tab().evaluate("document.getElementById('pattern').focus()");
  for (const char* key : {"ArrowDown", "ArrowDown", "ArrowRight", "Enter"}) tab().press(key);
  wait();
  EXPECT_TRUE(caption("row").starts_with("Why query 5")) << "of a zoomed pattern";
}

/// The owner of a relation adds most to the logit of its answer.
TEST_F(PageOfARun, DrawsWhatEachHeadAddsToAnAnswer) {
  const std::string owner =
      at2(study.json("full/heads.json").at("relations").items()[0].at("owner"));
  open(full, "#view=head&tab=flow&q=9&rel=back1&h=" + owner);
  auto added = table("flow");
  ASSERT_EQ(added.size(), 4u) << caption("flow");
  std::ranges::sort(added, {}, [](const auto& row) { return -number_in(row[1]); });
  EXPECT_EQ(added[0][0], owner);
}

TEST_F(PageOfARun, PutsAnotherHeadBesideOrItsOwnPast) {
  open(full, "#view=head&h=0.0&ex=3");
  EXPECT_FALSE(there("label:not([hidden]) #beside"));
  click("#beside-open");
  EXPECT_TRUE(shows("label:has(#beside) option:checked", "most like it"));
  for (const char* other : {"0.1", "start"}) {
    choose("beside", other);
    const std::string shown = mark("beside-pattern", 7, 4);
    EXPECT_NE(shown.find("query 7, key 4: 0.0 "), shown.npos) << shown;
    EXPECT_NE(shown.find("difference"), shown.npos) << shown;
  }
  open(study.path("pruned/report.html"), "#view=head&h=0.0&b=parent");
  EXPECT_TRUE(shows("figure:has(#beside-pattern) figcaption", "before pruning"));
}

TEST_F(PageOfARun, ShowsEveryResultByItsOwnDescription) {
  open(full, "#view=results");
  const Json files = tab().evaluate(
      "[...document.querySelectorAll('#pick-file option')].map((option) => option.value)");
  EXPECT_GE(files.items().size(), 5u);
  const std::regex tedious(  // or a p below the least, or a number that is 0 up to rounding
      R"([1-9]\d*\.\d{6}|0\.[1-9]\d{5}|^1\.00e|^−0\.?0*$|e−(8|9|1\d))");
  for (const Json& file : files.items()) {
    choose("pick-file", file.string());
    if (file.string() == "training") continue;  // it has charts and no table
    EXPECT_FALSE(rows("#result").empty()) << file.string();
    EXPECT_EQ(there("#result #curve"), file.string() == "curve");
    for (const auto& row : rows("#result"))
      for (const std::string& cell : row)
        EXPECT_FALSE(std::regex_search(cell, tedious)) << file.string() << ": " << cell;
  }
  choose("pick-file", "interactions");
  const auto pairs = rows("#result");
  const Json first_pair = study.json("full/interactions.json").at("pairs").items()[0];
  EXPECT_EQ(pairs[0][0] + " " + pairs[0][1],
            at2(first_pair.at("first")) + " " + at2(first_pair.at("second")))
      << "in the order of the file: redundant pairs come first";
  choose("pick-file", "ablation");
  click("#result [aria-label='Sort by loss']");
  const auto sorted = rows("#result");
  for (std::size_t i = 1; i < sorted.size(); ++i)
    EXPECT_GE(number_in(sorted[i - 1][1]), number_in(sorted[i][1]));
  EXPECT_TRUE(shows("#result figcaption", "loss")) << "and draws it";
  EXPECT_EQ(caption("map-0").substr(0, 24), "cost of ablating a head:") << "a map of all heads";
  EXPECT_EQ(table("map-0")[0].size(), 5u);
  tab().evaluate("document.querySelector('#result th .term').focus()");
  EXPECT_TRUE(shows("#meaning", "LAYER.HEAD")) << words("#meaning");
  choose("pick-file", "curve");
  tab().evaluate("document.querySelector('#result th .term').focus()");
  EXPECT_TRUE(shows("#meaning", "how heads are chosen")) << "columns of the curve too";
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
  EXPECT_TRUE(shows("#check", "✗"));
  EXPECT_FALSE(tab().holds("document.getElementById('banner').hidden"));
  EXPECT_NE(words("#banner"), "");
  go_to("#view=bench");
  EXPECT_FALSE(there("#live-loss"));
}

/// A page says what it cannot compute, and how its weights would come in.
TEST_F(PageOfARun, SaysWhyItsModelDoesNotRun) {
  std::string html = read_file(full);
  const auto change = [&](const std::string& from, const std::string& to) {
    html.replace(html.find(from), from.size(), to);
  };
  change("\"positions\":\"learned\"", "\"positions\":\"starry\"");
  const std::size_t at = html.find("id=\"facts\">") + 11;
  std::uint32_t hash = 0x811c9dc5;  // FNV-1a of the facts, which the page checks
  for (const char c : html.substr(at, html.find("</script>", at) - at))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  const std::size_t sum = html.find(">", html.find("id=\"checksum\"")) + 1;
  html.replace(sum, html.find("<", sum) - sum, std::to_string(hash));
  write_file(folder / "starry.html", html);
  open(folder / "starry.html");
  EXPECT_TRUE(shows("#check", "cannot compute")) << words("#check");
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden")) << words("#banner");
  EXPECT_TRUE(there("#maps canvas")) << "mean patterns are there";
  for (const char* view : {"bench", "head"}) {
    go_to(std::string("#view=") + view);
    EXPECT_TRUE(shows("#view", "cannot compute positions starry")) << view << words("#view");
  }
  study.done({"page", "full", "--no-weights", "--out", "light.html"});
  open(study.path("light.html"), "#view=bench");
  EXPECT_TRUE(shows("#view", "headlab page full embeds them")) << words("#view");
  study.done({"page", "full", "--budget", "0.4", "--out", "small.html"});
  open(study.path("small.html"), "#view=bench");
  EXPECT_TRUE(shows("#view", "with a larger --budget embeds them")) << words("#view");
  study.done({"page", "full", "--budget", "2", "--out", "large.html"});
  open(study.path("large.html"), "#view=bench");
  EXPECT_TRUE(there("#live-loss")) << "which is true";
}

TEST_F(PageOfARun, KeepsItsStateInTheAddress) {
  open(full, "#view=head&h=0.2&ex=3&q=7");
  tab().click("#view-bench");
  wait();
  EXPECT_TRUE(there("#live-loss"));
  tab().evaluate("history.back()");
  tab().wait_until("document.getElementById('pattern')");
  EXPECT_EQ(tab().text("location.hash"), "#view=head&h=0.2&ex=3&q=7");
}

TEST_F(PageOfARun, FallsBackWithANoticeOnABadAddress) {
  for (const char* hash :
       {"#view=nowhere", "#h=9.9", "#ex=-1&view=head", "#gates=0.1:7", "#view=constructor",
        "#%E0%A4%A", "#view=head&q=banana&&==&h", "#tokens=999,999&view=bench", "#scene=99",
        "#view=learn&lesson=nothing"}) {
    open(full, hash);
    EXPECT_TRUE(tab().holds("document.getElementById('view').children.length > 1")) << hash;
  }
  open(full, "#view=head&h=9.9");
  EXPECT_NE(words("#notices"), "");
}

TEST_F(PageOfARun, ShowsItsHeadsOverTraining) {
  open(full, "#view=results&file=training");
  std::set<std::string> titles;
  const Json captions = tab().evaluate(
      "[...document.querySelectorAll('#result figcaption b')].map((b) => b.textContent)");
  for (const Json& title : captions.items()) titles.insert(title.string());
  EXPECT_EQ(titles.size(), captions.items().size()) << "each chart has a title of its own";
  press_on("pick-step", "Home");
  EXPECT_EQ(tab().number("app.state.step"), 0);
  tab().click("#play");
  EXPECT_EQ(words("#play"), "Pause");
  tab().wait_until("app.state.step > 0");
  tab().click("#play");
}

/// At an earlier step all sentences are of that step; before training nothing has an owner.
TEST_F(PageOfARun, SpeaksOfTheStepThatIsShown) {
  open(full, "#step=0");
  EXPECT_TRUE(words("#headline").starts_with("At step 0: ")) << words("#headline");
  EXPECT_TRUE(shows("#headline", "no head has a role yet")) << words("#headline");
  EXPECT_FALSE(there(".map.own")) << "no map is coloured";
  EXPECT_TRUE(shows("#drawer", "At step 0: No role.")) << words("#drawer");
  EXPECT_TRUE(shows("#drawer", "Step 0 is before that.")) << words("#drawer");
  EXPECT_EQ(words("#next"), "Back to the trained model");
  click("#next");
  EXPECT_TRUE(there(".map.own"));
}

/// The readout of one view does not appear in the next.
TEST_F(PageOfARun, ForgetsWhatWasReadOut) {
  open(full, "#view=bench");
  EXPECT_NE(readout(), "");
  click("#view-learn");
  EXPECT_EQ(readout(), "");
}

TEST_F(PageOfARun, TellsItsSettingsAsTheyTookEffect) {
  open(full, "#view=about");
  for (const auto& row : rows("#view"))
    if (row[0] == "d_head" || row[0] == "d_value") {
      EXPECT_EQ(row[1], "8") << row[0] << ": of 32 columns in four heads";
    }
}

}  // namespace
}  // namespace headlab::browser
