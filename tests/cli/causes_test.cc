// The commands that ask for causes: their keys, their files, and that they only read the model.
// Their computations are tested in tests/heads.
#include "cli/program.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

using Causes = Program;

TEST_F(Causes, AblatePrintsItsHeadsAndTheLossOfTheRun) {
  done(tiny({"--out", "a"}));
  const Json json = done({"ablate", "a", "--examples", "32", "--json"}).json();
  ASSERT_EQ(json.at("heads").items().size(), 4u);
  for (const char* key : {"layer", "head", "loss", "change", "low", "high", "p"})
    EXPECT_NE(json.at("heads").items()[0].find(key), nullptr) << key;
  EXPECT_EQ(json.at("loss"), done({"eval", "a", "--examples", "32", "--json"}).json().at("loss"));
}

struct Question {
  const char* name;
  Words words;
  Words keys;
};

class Questions : public Program, public testing::WithParamInterface<Question> {};

TEST_P(Questions, ArePrintedKeptAndOnlyReadTheModel) {
  done(tiny({"--out", "a", "--layers", "2", "--steps", "3"}));
  const auto before = contents(folder.path() / "a");
  Words words = GetParam().words;
  words.insert(words.begin() + 1, "a");
  expect_parts(done(words).out, {"\ncommand: headlab " + words[0]});
  const Json json = done(with(words, {"--json"})).json();
  for (const std::string& key : GetParam().keys) EXPECT_NE(json.find(key), nullptr) << key;
  EXPECT_EQ(json, kept(std::string("a/") + GetParam().name));
  auto after = contents(folder.path() / "a");
  EXPECT_EQ(after.erase(GetParam().name), 1u);
  EXPECT_EQ(after, before);
  done(tiny({"--out", "a", "--layers", "2", "--steps", "2", "--force"}));
  EXPECT_EQ(contents(folder.path() / "a").count(GetParam().name), 0u) << "it is of another model";
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Questions,
    testing::Values(Question{"ablation.json",
                             {"ablate", "--examples", "32"},
                             {"headlab", "attention", "kind", "examples", "seed", "loss", "heads"}},
                    Question{"interactions.json",
                             {"ablate", "--pairs", "--examples", "32"},
                             {"attention", "kind", "examples", "seed", "pairs"}},
                    Question{"truth_edges.json",
                             {"ablate", "--truth-edges", "--examples", "32"},
                             {"attention", "examples", "draws", "seed", "relations"}},
                    Question{"circuits.json",
                             {"circuits", "--draws", "10"},
                             {"attention", "draws", "seed", "heads", "compositions"}},
                    Question{"attribution.json",
                             {"attribute", "--examples", "32"},
                             {"attention", "examples", "targets", "parts", "logits"}},
                    Question{"patching.json",
                             {"patch", "--examples", "32"},
                             {"attention", "pairs", "clean", "corrupted", "heads", "residual"}}));

TEST_F(Causes, CircuitsShowAHeadsMatrices) {
  done(tiny({"--out", "a"}));
  for (const char* matrix : {"ov", "qk"}) {
    const Words words = {"circuits", "a", "--head", "0.2", "--matrix", matrix};
    EXPECT_TRUE(holds(done(words).out, " │")) << matrix;
    const Json rows = done(with(words, {"--json"})).json().at(matrix);
    const TokenCircuits circuits = token_circuits(open_run(folder.path() / "a").model, {0, 2});
    const Tensor& expected = std::string(matrix) == "qk" ? circuits.qk : circuits.ov;
    ASSERT_EQ(rows.items().size(), 16u);
    for (Index i = 0; i < 16; ++i)
      for (Index j = 0; j < expected.size(1); ++j)
        ASSERT_EQ(rows.items()[i].items()[j].number(),
                  static_cast<double>(expected.data()[i * expected.size(1) + j]));
  }
  expect_sentence(run({"circuits", "a", "--head", "0.9"}).err, {"find head 0.9", "0.3"});
  expect_sentence(run({"circuits", "a", "--head", "0.1", "--matrix", "oo"}).err,
                  {"unknown matrix 'oo'"});
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "circuits.json"));
}

TEST_F(Causes, CircuitsSayOfWhichDistanceTheyAreWherePositionsTurnQueries) {
  done(tiny({"--out", "a"}));
  done(tiny({"--out", "r", "--positions", "rotary"}));
  EXPECT_FALSE(holds(done({"circuits", "a", "--draws", "10"}).out, "--distance"));
  expect_parts(done({"circuits", "r", "--draws", "10"}).out,
               {"queries are 0 positions after their keys"});
  expect_parts(done({"circuits", "r", "--draws", "10", "--distance", "2"}).out,
               {"queries are 2 positions after their keys"});
  expect_parts(done({"circuits", "r", "--head", "0.1", "--matrix", "qk"}).out,
               {"queries are 0 positions after their keys"});
}

TEST_F(Causes, AttributionRefusesPostNorm) {
  done(tiny({"--out", "a", "--norm-place", "post"}));
  expect_refused(run({"attribute", "a"}), 1, {"post-norm", "cannot attribute logits"});
}

TEST_F(Causes, NamedSetOfHeadsIsAblatedTogether) {
  done(tiny({"--out", "a"}));
  const Json ablated =
      done({"ablate", "a", "--head", "0.1,0.2", "--examples", "32", "--json"}).json();
  const Json without =
      done({"eval", "a", "--without", "0.1,0.2", "--examples", "32", "--json"}).json();
  const double loss = without.at("loss").number();
  EXPECT_NEAR(ablated.at("set").items()[0].at("loss").number(), loss, 1e-5);
  EXPECT_NE(ablated.at("loss").number(), loss);
  const Json removed = done({"prune", "a", "--remove", "0.1,0.2", "--out", "b", "--json"}).json();
  EXPECT_EQ(removed.at("after").at("loss").number(), loss);
  EXPECT_EQ(removed.at("removed_heads").dump(), "[[0,1],[0,2]]");
  const Outcome again = done({"train", "--resume", "b", "--steps", "3"});
  EXPECT_TRUE(holds(again_of(again.out), "prune a --remove 0.1,0.2 ")) << again.out;
  for (const Words& words : {Words{"ablate", "a", "--head", "0.1,0.9"},
                             {"eval", "a", "--without", "0.9"},
                             {"prune", "a", "--remove", "0.9", "--out", "c"},
                             {"prune", "a", "--remove", "0.1", "--keep", "1", "--out", "c"}})
    EXPECT_EQ(run(words).status, 2) << words[0];
}

}  // namespace
}  // namespace headlab::cli
