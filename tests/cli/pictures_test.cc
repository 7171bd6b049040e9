// Commands that write pictures with `--svg`, the grid of heads, and what a terminal shows. The
// content of pictures is tested in tests/report.
#include "cli/program.h"

namespace headlab::cli { namespace {

/// A run of four heads whose roles were tracked.
class Pictures : public Program {
 protected:
  Pictures() { done(tiny({"--out", "a", "--track-heads", "10"})); }
};

TEST_F(Pictures, HoldTheCommandThatMakesThemAgain) {
  const Words words = typed("pattern a 0.2 --svg p.svg --width 60mm");
  const Outcome outcome = done(words);
  const std::string again = "command: headlab pattern a 0.2 --svg p.svg --width 60mm";
  expect_parts(outcome.out, {again + "\npicture: p.svg\ncaption: Head 0.2 on "});
  EXPECT_TRUE(holds(file("p.svg"), "<metadata>" + again + "</metadata>"));
  EXPECT_TRUE(holds(file("p.svg"), "width=\"60mm\""));
  const auto before = contents(folder.path());
  done(words);
  EXPECT_EQ(contents(folder.path()), before) << "the same bytes";
}

TEST_F(Pictures, AreOfAllThatIsAPicture) {
  done({"pattern", "a", "--grid", "--svg", "grid.svg"});
  done({"history", "a", "--svg", "emergence.svg"});
  done(typed("curve a --examples 16 --methods greedy --svg curve.svg"));
  done({"runs", "a", ".", "--svg", "losses.svg"});
  for (const char* name : {"grid.svg", "emergence.svg", "curve.svg", "losses.svg"})
    EXPECT_TRUE(file(name).starts_with("<svg ")) << name;
}

TEST_F(Pictures, SweepShowsItsTrials) {
  Words words = tiny({"--heads", "1,2", "--out", "s", "--svg", "s.svg"});
  words[0] = "sweep";
  done(words);
  EXPECT_TRUE(holds(file("s.svg"), "heads=1")) << file("s.svg");
}

TEST_F(Pictures, ComparisonJoinsSeeds) {
  done(tiny({"--out", "b", "--heads", "2"}));
  const Outcome outcome = done(typed("compare a b --svg c.svg"));
  expect_parts(outcome.out, {"picture: c.svg", "caption: Comparison of loss", "a line joins"});
  EXPECT_TRUE(holds(file("c.svg"), "log scale"));
}

TEST_F(Pictures, LeaveJsonAsItIs) {
  const Outcome outcome = done({"pattern", "a", "--grid", "--svg", "grid.svg", "--json"});
  EXPECT_EQ(outcome.json().at("patterns").items().size(), 4u);
  EXPECT_TRUE(file("grid.svg").starts_with("<svg "));
}

TEST_F(Pictures, NeedToKnowOfWhat) {
  for (const Words& words : {Words{"pattern", "a", "--grid", "--width", "84mm"},
                             Words{"pattern", "a", "--grid", "--svg", "p.svg", "--width", "84"},
                             Words{"pattern", "a", "--grid", "--svg", "p.svg", "--width", "9mm"}})
    EXPECT_EQ(run(words).status, 2) << words.back();
}

TEST_F(Pictures, HeadsByRelationsAreDrawnForEveryRun) {
  const Outcome outcome = done({"heads", "a", "--svg", "heads.svg", "--width", "84mm"});
  expect_parts(outcome.out, {"caption: Heads by relations. Lift of 4 heads on 4 relations"});
  expect_parts(file("heads.svg"), {"width=\"84mm\"", "back5", "lift 0"});
}

TEST_F(Pictures, AblationShowsTheCostOfEachHead) {
  const Outcome outcome =
      done({"ablate", "a", "--examples", "32", "--svg", "costs.svg", "--width", "84mm"});
  expect_parts(outcome.out, {"picture: costs.svg", "caption: Cost of each head"});
  expect_parts(file("costs.svg"), {"ablated head", "zero-ablation", "0.3"});
  for (const char* flag : {"--pairs", "--truth-edges"}) {
    expect_refused(run({"ablate", "a", flag, "--svg", "p.svg"}), 2, {"--svg", flag});
  }
}

TEST_F(Pictures, AreRefusedUnderTheNameOfAnotherFormat) {
  for (const char* file : {"p.png", "p.PDF", "p.svgz"}) {
    expect_refused(run({"pattern", "a", "--grid", "--svg", file}), 2, {file, "--svg", ".svg"});
    EXPECT_FALSE(fs::exists(folder.path() / file));
  }
  expect_refused(run({"eval", "a", "--npy", "losses.csv"}), 2, {"losses.csv", ".npy"});
  expect_refused(run({"pattern", "a", "all", "--z", "z.txt"}), 2, {"z.txt", ".npy"});
  done({"pattern", "a", "--grid", "--svg", "p.SVG"});
  done({"pattern", "a", "--grid", "--svg", "no-ending"});
}

TEST_F(Pictures, HaveHeadsThatAreNamedStrictly) {
  for (const char* name :
       {"0.01", "00.1", "0.1.0", "0.", ".1", "0,1", "0.1x", "+0.1", "-0.1", "0.-1"})
    EXPECT_EQ(run({"pattern", "a", name}).status, 2) << name;
  expect_refused(run({"ablate", "a", "--head", "0.0,0.01"}), 2, {"0.01", "LAYER.HEAD"});
}

TEST_F(Pictures, UnwritablePicturesAreErrors) {
  const Outcome outcome = run({"pattern", "a", "--grid", "--svg", "none/p.svg"});
  EXPECT_EQ(outcome.status, 1);
  expect_sentence(outcome.err, {"none/p.svg"});
  EXPECT_TRUE(holds(outcome.out, "command: ")) << "the result is shown all the same";
}

TEST_F(Pictures, MarkARelationOfTheHead) {
  expect_parts(done({"pattern", "a", "0.2", "--relation", "back3"}).out,
               {"ground truth: back3, mean weight on it 0."});
  expect_refused(run({"pattern", "a", "0.2", "--relation", "bakc3"}), 2, {"bakc3", "back3"});
}

}  // namespace
}  // namespace headlab::cli
