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

  /// The text of the card of a clicked head under a name.
  std::string fact(const std::string& head, const std::string& name) {
    click("#grid [data-head='" + head + "']");
    return tab().text(
        "[...document.querySelectorAll('#card dt')].find((dt) => dt.textContent === '" + name +
        "')?.nextElementSibling.textContent ?? ''");
  }
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

TEST_F(PageOfARun, OpensWithItsStory) {
  open(full, "#view=story");
  EXPECT_TRUE(shows("#answered", " of 4 are right"));
  EXPECT_GT(tab().text("document.querySelector('#conclusion-live a').getAttribute('href')").size(),
            1u);
  const std::string first = words("#answered");
  mark("asked", 0, 3);
  EXPECT_NE(words("#answered"), first) << "the token under the pointer is the query";
}

TEST_F(PageOfARun, ShowsThePointInScenes) {
  open(full, "#view=story");
  click("#scene-start");
  EXPECT_FALSE(there("#scene-back")) << "nothing is before the first scene";
  std::set<std::string> told = {words("#scene-words")};
  while (there("#scene-next")) {
    click("#scene-next");
    EXPECT_TRUE(there("#scene-back"));
    EXPECT_TRUE(told.insert(words("#scene-words")).second) << words("#scene-words");
    if (told.size() == 3) {
      EXPECT_TRUE(shows("#scene-words", " is off."));
      EXPECT_TRUE(shows("#agrees", "✓ the same")) << words("#live-result");
    }
  }
  EXPECT_GE(told.size(), 5u);
  click("#scene-back");
  EXPECT_FALSE(told.insert(words("#scene-words")).second) << "the way back is the way forth";
  click("#scene-end");
  EXPECT_FALSE(there("#undo")) << words("#edited");
}

/// Each is answered by the story itself, or by the card of a head that is clicked.
TEST_F(PageOfARun, AnswersTheTenQuestionsOfAStranger) {
  study.done({"page", "full", "pruned", "--out", "both.html"});
  open(study.path("both.html"), "#view=story");
  EXPECT_TRUE(shows("#question", "the token 1 back (back1)")) << "What is asked?";
  const Json relations = study.json("full/heads.json").at("relations");
  const std::string owner = at2(relations.items()[0].at("owner"));
  const std::size_t h = owner.back() - '0';
  EXPECT_TRUE(shows("#conclusion-live", owner + " owns back1")) << "Who finds it?";
  const auto needed = rows("#view")[1];
  EXPECT_EQ(needed[0] + " " + needed[1], "4 the task, by its definition") << "How many suffice?";
  EXPECT_NE(needed[2].find("with fewer the loss stays high"), needed[2].npos) << "Why no more?";
  const Json ablation = study.json("full/ablation.json").at("heads").items()[h];
  EXPECT_NEAR(number_in(fact(owner, "without it").substr(6)), ablation.at("change").number(), 1e-2)
      << "What does it cost to lose it?";
  const Json score = study.json("full/heads.json").at("heads").items()[h].at("scores").at("back1");
  const std::string on = fact(owner, "on back1");
  EXPECT_NEAR(number_in(on.substr(on.find(", p ") + 4)), score.at("p_holm").number(), 1e-4)
      << "one p everywhere";
  EXPECT_GT(number_in(fact(owner, "emerged")), 0) << "When did its role emerge?";
  EXPECT_TRUE(fact(owner, "kept").starts_with("among the best ")) << "Is it needed as it is?";
  const Json alone = study.json("full/curve.json").at("subsets").at("losses").items()[1U << h];
  EXPECT_NEAR(number_in(fact(owner, "alone")), alone.number(), 5e-3) << "What would it do alone?";
  const Json pruned = study.json("pruned/prune.json");
  for (const auto& [list, said] :
       {std::pair{"kept", "kept: loss "}, {"removed_heads", "removed: loss "}})
    EXPECT_TRUE(fact(at2(pruned.at(list).items()[0]), "in pruned").starts_with(said)) << said;
  const Json pairs = study.json("full/interactions.json").at("pairs");
  for (const Json& pair : pairs.items())
    if (pair.at("redundant").boolean()) {
      EXPECT_NE(fact(at2(pair.at("first")), "does it too").find(at2(pair.at("second"))),
                std::string::npos)
          << "Who backs it up?";
      EXPECT_TRUE(shows("#card p", "attends to the token")) << "who is second says so";
    }
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
        if (readout().find("right key of back3") != std::string::npos) right.push_back(column);
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
  for (const char* name : {"flow", "writes", "truth", "time", "plane"}) {
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
    EXPECT_TRUE(there("div:has(> figure #pattern) > #card")) << "where there is room";
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

TEST_F(PageOfARun, OpensTheMeaningOfAWordInPlace) {
  open(full, "#view=story");
  tab().evaluate(
      "[...document.querySelectorAll('#card .term')].find((word) => word.textContent "
      "=== 'baseline').focus()");
  EXPECT_FALSE(tab().holds("document.getElementById('meaning').hidden"));
  EXPECT_TRUE(shows("#meaning", "ignores content"));
  tab().evaluate("document.activeElement.blur()");
  EXPECT_TRUE(tab().holds("document.getElementById('meaning').hidden"));
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
  open(folder / "starry.html", "#view=story");
  EXPECT_TRUE(shows("#check", "cannot compute")) << words("#check");
  EXPECT_TRUE(tab().holds("document.getElementById('banner').hidden")) << words("#banner");
  EXPECT_TRUE(there("#grid canvas")) << "mean patterns are there";
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
  open(full, "#view=story");
  const std::string last = words("#grid");
  press_on("pick-step", "Home");
  EXPECT_NE(words("#grid"), last) << "maps and bars are of the step";
  EXPECT_TRUE(shows("#other-step", "step 0")) << words("#other-step");
  EXPECT_TRUE(shows("#card p", ", at the end of training"));
  EXPECT_FALSE(shows("#grid", "off:")) << "what heads cost at the end is no number of this step";
  tab().click("#play");
  EXPECT_EQ(words("#play"), "Pause");
  tab().wait_until("!document.getElementById('other-step').textContent.includes('step 0')");
  tab().click("#play");
  press_on("pick-step", "End");
  EXPECT_EQ(words("#other-step"), "");
  open(full, "#view=head&h=0.2&tab=time");
  double least = 1;
  for (const auto& row : table("time")) least = std::min(least, number_in(row[2]));
  EXPECT_LT(least, 0) << "lifts below 0 are drawn as what they are";
  EXPECT_TRUE(tab().holds(
      "(() => { const {marks, table} = figures.find((f) => f.canvas.id === 'time').picture; const "
      "tops = Array.from({length: marks.rows}, (_, r) => Array.from({length: marks.cols(r)}, (__, "
      "c) => marks.box(r, c)[1])).flat(), lifts = table().rows.map((row) => row[2]); return "
      "lifts.every((a, i) => lifts.every((b, j) => a - b < 0.05 || tops[i] < tops[j])); })()"))
      << "and lower ones lie lower";
}

/// The page of a run that kept its weights, without them.
TEST_F(PageOfARun, ShowsMapsOfStepsWhoseWeightsItLacks) {
  study.done({"page", "full", "--no-weights", "--out", "maps.html"});
  open(study.path("maps.html"), "#view=story");
  const char* map = "document.querySelector('#grid canvas').toDataURL()";
  const std::string last = tab().text(map);
  press_on("pick-step", "Home");
  EXPECT_TRUE(shows("#other-step", "maps are mean patterns after step")) << words("#other-step");
  const std::string early = tab().text(map);
  EXPECT_NE(early, last);
  for (int i = 0; i < 4; ++i) press_on("pick-step", "ArrowRight");
  EXPECT_NE(tab().text(map), early) << "each step has its own";
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

TEST_F(PageOfARun, KeepsThePlacesOfRemovedHeads) {
  open(study.path("pruned/report.html"), "#view=story");
  EXPECT_EQ(tab().number("document.querySelectorAll('#grid .cell').length"), 4);
  EXPECT_EQ(tab().number("document.querySelectorAll('#grid .cell.gone').length"), 1);
  EXPECT_TRUE(shows("#grid .gone", "removed"));
}

}  // namespace
}  // namespace headlab::browser
