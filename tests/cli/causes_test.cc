// The commands that ask for causes: their keys, their files, and that they only read the model.
// What they compute is tested in tests/heads.
#include "cli/program.h"

namespace headlab::cli {
namespace {

using Causes = Program;

TEST_F(Causes, AblatePrintsItsKeysAndKeepsThem) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path / "a");
  const Json json = done({"ablate", "a", "--examples", "32", "--json"}).json();
  for (const char* key : {"headlab", "attention", "kind", "examples", "seed", "loss", "heads"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
  ASSERT_EQ(json.at("heads").items().size(), 4u);
  for (const char* key : {"layer", "head", "loss", "change", "low", "high", "p"}) {
    EXPECT_NE(json.at("heads").items()[0].find(key), nullptr) << key;
  }
  EXPECT_EQ(json, Json::parse(file("a/ablation.json")));
  auto after = contents(folder.path / "a");
  EXPECT_EQ(after.erase("ablation.json"), 1u);
  EXPECT_EQ(after, before);
  EXPECT_EQ(json.at("loss"), done({"eval", "a", "--examples", "32", "--json"}).json().at("loss"));
}

TEST_F(Causes, AblateShowsAMapAndATable) {
  done(tiny({"--out", "a"}));
  const Outcome text = done({"ablate", "a", "--examples", "32", "--kind", "resample"});
  EXPECT_TRUE(holds(text.out, "95% interval")) << text.out;
  EXPECT_TRUE(holds(text.out, "\n 0.3 ")) << text.out;
  EXPECT_TRUE(holds(text.out, "resample-ablation")) << text.out;
}

TEST_F(Causes, GoldEdgesSayWhetherTheyMatter) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path / "a");
  const Words words = {"ablate", "a", "--gold-edges", "--examples", "32"};
  const Outcome text = done(words);
  EXPECT_TRUE(holds(text.out, "verdict")) << text.out;
  const Json json = done({"ablate", "a", "--gold-edges", "--examples", "32", "--json"}).json();
  EXPECT_EQ(json.at("relations").items().size(), 4u);
  EXPECT_EQ(json.at("relations").items()[0].at("tests").items().back().at("heads").items().size(),
            4u);
  auto after = contents(folder.path / "a");
  EXPECT_EQ(after.erase("gold_edges.json"), 1u);
  EXPECT_EQ(after, before);
}

TEST_F(Causes, AblateRefusesWhatItDoesNotKnow) {
  done(tiny({"--out", "a"}));
  const Outcome outcome = run({"ablate", "a", "--kind", "meen"});
  EXPECT_EQ(outcome.status, 2);
  expect_sentence(outcome.err, {"kind of ablation 'meen'", "mean"});
  EXPECT_FALSE(fs::exists(folder.path / "a" / "ablation.json"));
}

}  // namespace
}  // namespace headlab::cli
