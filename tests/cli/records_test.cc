// Records that are true: what a run, a pruned run and a result say of themselves is what they are,
// also after somebody went on. Read next: again_test.cc, which follows the commands.
#include "cli/program.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

using Records = Program;

/// Runs the commands that `out` ends with, where the folder is in the way with --force.
class Followed : public Program {
 protected:
  void follow(const std::string& out) const {
    for (Words words : commands_again(out)) {
      const bool resumes = std::find(words.begin(), words.end(), "--resume") != words.end();
      if (!resumes) words.push_back("--force");
      done(words);
    }
  }
  void expect_made_again(const std::string& run, const std::string& out) const {
    const std::string model = file(run + "/model.safetensors"), config = file(run + "/config.json");
    ASSERT_FALSE(commands_again(out).empty()) << out;
    follow(out);
    EXPECT_EQ(file(run + "/model.safetensors"), model) << out;
    EXPECT_EQ(file(run + "/config.json"), config) << out;
  }
};

TEST_F(Followed, TrainWithAndWithoutOut) {
  expect_made_again("a", done(tiny({"--out", "a"})).out);
  expect_made_again("runs/relations", done(tiny({})).out);
}

TEST_F(Followed, SaysWhatToDoWhereTheFolderIs) {
  const Outcome train = done(tiny({"--out", "a"}));
  EXPECT_TRUE(holds(again_of(train.out), "--seed 0  # a exists now: add --force")) << train.out;
  EXPECT_EQ(run(commands_again(train.out)[0]).status, 1);
}

TEST_F(Followed, PrunedRunsThatAreResumed) {
  done(tiny({"--out", "a", "--seed", "3"}));
  done(typed("prune a --method random --keep 2 --finetune 7 --seed 4 --examples 40 --out b"));
  expect_made_again("b", done({"train", "--resume", "b"}).out);
}

TEST_F(Followed, RunsThatWentOnFurtherThanPlanned) {
  done(tiny({"--out", "a"}));
  done({"train", "--resume", "a", "--steps", "36"});
  expect_made_again("a", done({"train", "--resume", "a", "--steps", "40"}).out);
  done(typed("prune a --method random --keep 2 --finetune 3 --out b"));
  expect_made_again("b", done({"train", "--resume", "b", "--steps", "8"}).out);
}

TEST_F(Records, AConfigOfAPrunedRunSaysHowItWasMade) {
  done(tiny({"--out", "a"}));
  done(typed("prune a --method random --keep 2 --finetune 3 --out b"));
  const Json config = Json::parse(file("b/config.json"));
  EXPECT_EQ(config.at("parent").string(), "a");
  EXPECT_EQ(config.at("pruning").string(),
            "method=random keep=2 finetune=3 examples=512 per_layer_min=0 gate_steps=600 "
            "lambda=0.2 seed=0");
  // From its config alone it is another run: it never saw its parent, and does not say so.
  expect_parts(done({"train", "--config", "b/config.json", "--out", "c"}).err,
               {"b/config.json was made by pruning a"});
  EXPECT_EQ(Json::parse(file("c/config.json")).at("parent").string(), "");
  EXPECT_EQ(Json::parse(file("c/config.json")).at("pruning").string(), "");
}

TEST_F(Records, PruneJsonEqualsTheOutputAndFollowsTheRun) {
  done(tiny({"--out", "a"}));
  const Json printed =
      done(typed("prune a --method random --keep 2 --finetune 3 --out b --json")).json();
  const Json before = kept("b/prune.json");
  EXPECT_EQ(printed, before);
  done({"train", "--resume", "b", "--steps", "9"});
  const Json after = kept("b/prune.json");
  EXPECT_EQ(after.at("finetuned").integer(), 9);
  EXPECT_NE(after.at("weights"), before.at("weights"));
  EXPECT_EQ(after.at("before"), before.at("before"));
  EXPECT_EQ(after.at("after").at("loss"),
            done({"eval", "b", "--examples", "32", "--json"}).json().at("loss"));
}

TEST_F(Records, ResultsSayWhichWeightsTheyDescribe) {
  done(tiny({"--out", "a"}));
  done({"ablate", "a", "--examples", "30"});
  const Json first = kept("a/ablation.json");
  EXPECT_EQ(first.at("step").integer(), 30);
  EXPECT_EQ(first.at("weights").string().size(), 16u);
  expect_parts(done({"train", "--resume", "a", "--steps", "35"}).err,
               {"note: ablation.json describes earlier weights"});
  expect_parts(done({"ablate", "a", "--examples", "30"}).err, {"other weights: it is replaced"});
  const Json second = kept("a/ablation.json");
  EXPECT_EQ(second.at("step").integer(), 35);
  EXPECT_NE(second.at("weights"), first.at("weights"));
  EXPECT_EQ(second.find("others"), nullptr);
}

TEST_F(Records, ResultsAddToThoseOfOtherSettings) {
  done(tiny({"--out", "a"}));
  for (const char* kind : {"zero", "mean", "zero"})
    done({"ablate", "a", "--examples", "30", "--kind", kind});
  const Json held = kept("a/ablation.json");
  EXPECT_EQ(held.at("kind").string(), "zero");
  ASSERT_EQ(held.at("others").items().size(), 1u);
  EXPECT_EQ(held.at("others").items()[0].at("kind").string(), "mean");
}

TEST_F(Records, ResultsAreKeptElsewhere) {
  done(tiny({"--out", "a"}));
  done({"ablate", "a", "--examples", "30", "--out", "b.json"});
  EXPECT_FALSE(fs::exists(folder / "a" / "ablation.json"));
  EXPECT_EQ(kept("b.json").at("step").integer(), 30);
}

TEST_F(Records, LinesOfATrainingFitEightyColumns) {
  Process process(tiny({"--out", "a", "--steps", "10000000", "--eval-every", "2"}), waiting());
  const std::string said = process.signalled("step 6/10000000", SIGINT).err;
  for (const std::string_view line : split(said, '\n'))
    EXPECT_LE(line.starts_with("step ") ? display_width(line) : 0, 80u) << line;
  expect_parts(said, {"step 2/10000000  train", "  held", "  accuracy 0."});
  const std::string brief = done(tiny({"--out", "b"})).err;
  expect_parts(brief,
               {"step 30/30  train loss ", " (since ", ")  held-out loss ", "  accuracy 0."});
}

TEST_F(Records, TrainSaysWhatItTook) {
  const Outcome train = done(tiny({"--out", "a", "--heads", "2", "--eval-every", "15"}));
  expect_parts(train.err, {"heads=2 d_model=16", "the task chose ", "(since 0)", "(since 15)"});
  expect_parts(done(typed("train --config a/config.json --task recall --steps 1 --out b")).err,
               {"note: a/config.json brought ", "layers=1", "where the task recommends layers=2"});
}

TEST_F(Records, TheBestOfATextIsKept) {
  done(
      typed("train --task text:length=16 --steps 6 --eval-every 2 --lr 0.3 --clip 0 --warmup 0 "
            "--d-model 8 --heads 1 --layers 1 --batch 4 --eval-examples 8 --out a"));
  double lowest = 1e9;
  for (const Json& line : read_log(folder / "a" / "metrics.jsonl"))
    lowest = std::min(lowest, line.at("loss").number());
  const Json best = done({"eval", "a", "--best", "--examples", "8", "--json"}).json();
  EXPECT_NE(best.at("loss").number(), lowest);  // of other blocks than those that chose it
  EXPECT_TRUE(holds(done({"eval", "a", "--examples", "8"}).out, "perplexity"));
}

}  // namespace
}  // namespace headlab::cli
