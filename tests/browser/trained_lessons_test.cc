// The lessons that need trained models: the knee, diversity over seeds, all models on one input,
// controls in which nobody owns anything. Read next: lessons.h.
#include "browser/lessons.h"

namespace headlab::browser { namespace {

class TrainedLessons : public Lessons {
 protected:
  /// Lesson 7: diversity over seeds, and all six models on one input.
  void expect_models_of_the_knee() {
    go_to("#view=learn&page=7");
    const std::string diversity = title_of("diversity");
    for (const char* part : {"8: 0.", "5 seeds", "±"})
      EXPECT_NE(diversity.find(part), std::string::npos) << diversity;
    EXPECT_EQ(tab().number("trainedDiversity().length"), 6);
    EXPECT_EQ(tab().number("trainedDiversity()[5].seeds.length"), 5);
    EXPECT_EQ(tab().text("familyPatterns().map((x) => x.maps.length).join()"), "1,2,3,4,5,8");
    EXPECT_NE(title_of("family").find("4 with 4, 4 with 5"), std::string::npos)
        << title_of("family");
    const std::string first =
        tab().text("familyPatterns()[0].maps[0].values.slice(240, 256).join()");
    tab().click("#example-next");
    wait();
    EXPECT_NE(tab().text("familyPatterns()[0].maps[0].values.slice(240, 256).join()"), first);
    tab().click(mark("family", 3, 1));
    wait();
    EXPECT_EQ(tab().text("isRunWorld() + ' ' + headsOf(run()).length + ' ' + app.state.h"),
              "true 4 0.1");
  }

  /// Lesson 8: in both controls some head is first and none is an owner, by the program's numbers.
  void expect_controls() {
    const std::string command = tab().text("app.page.facts.sweep.controls.command");
    Words parts;
    for (const std::string_view part : split(command, ' ')) parts.emplace_back(part);
    study.done({parts.begin() + 1, parts.end()});
    const char* const tasks[] = {"memoryless", "random"};
    for (int i = 0; i < 2; ++i) {
      go_to("#view=learn&page=8&lab=control:" + std::to_string(i));
      std::string run;
      for (const auto& entry : fs::directory_iterator(study.path("sweeps/controls")))
        if (entry.path().string().find(tasks[i]) != std::string::npos) run = entry.path().string();
      const Json best =
          study.done({"heads", run, "--json"}).json().at("relations").items()[0].at("best");
      const std::string table = words("#control-table");
      EXPECT_NE(table.find("nobody"), std::string::npos) << table;
      EXPECT_NEAR(tab().number("firstHeads(controlNow())[0].lift"), best.at("lift").number(), 1e-6);
      EXPECT_NEAR(tab().number("firstHeads(controlNow())[0].p"), best.at("p").number(), 1e-9);
      EXPECT_TRUE(tab().holds("firstHeads(controlNow()).every((r) => r.owner === 'nobody')"));
      EXPECT_NE(title_of("control").find("is first"), std::string::npos) << title_of("control");
    }
    click("#control-again");
    EXPECT_NE(title_of("control").find("Eight heads"), std::string::npos) << title_of("control");
  }
};

TEST_F(TrainedLessons, AreBroughtAlong) {
  study.done({"page", "--textbook", "--out", "book.html"});
  const fs::path trained = study.path("book.html");
  EXPECT_LE(fs::file_size(trained), 1'500'000u);
  open(trained, "#view=learn&page=2");
  EXPECT_TRUE(tab().holds("app.check.ok"));
  EXPECT_EQ(tab().text("app.views.filter(isShown).map((v) => v.name).join()"), "learn,about");
  EXPECT_NE(title_of("knee").find("is enough"), std::string::npos) << title_of("knee");
  EXPECT_EQ(tab().number("headsOf(run()).length"), 8);
  EXPECT_EQ(read_file(trained).find(fs::temp_directory_path().string()), std::string::npos);
  for (int number = 1; number <= 10; ++number)
    go_to("#view=learn&world=run&page=" + std::to_string(number));
  expect_models_of_the_knee();
  expect_controls();
  go_to("#view=learn&page=9");
  expect_wrong(10, "0.0 0.1");
  const std::string best = tab().text(
      "(() => { const s = subsetsOf(run()); return keptNames(s, rankOfSet(s, 15).bits).join(' '); "
      "})()");
  EXPECT_NE(answered(10, best).find("Number 1 of 70"), std::string::npos) << said(10);
}

}  // namespace
}  // namespace headlab::browser
