// The main story, told by the program alone: train, look, prune, resume, look again. The JSON that
// other programs read is checked here, and that a repeated command gives the same numbers. Errors
// are tested in mistakes_test.cc and damage_test.cc.
#include "cli/program.h"
#include "headlab/core/base/safetensors.h"

namespace headlab::cli { namespace {

using Story = Program;

void expect_keys(const Json& json, const Words& keys) {
  for (const std::string& key : keys)
    EXPECT_NE(json.find(key), nullptr) << key << " is not in " << json.dump();
}

TEST_F(Story, TrainPrintsItsKeysAndEvalTheSameLoss) {
  const Json json = done(tiny({"--out", "a", "--json"})).json();
  expect_keys(json, {"headlab", "loss", "accuracy", "targets", "steps", "seconds", "tokens_per_s",
                     "seed", "command"});
  ASSERT_EQ(json.at("targets").items().size(), 4u);
  expect_keys(json.at("targets").items()[0], {"name", "loss", "accuracy"});
  EXPECT_EQ(json.at("steps").integer(), 30);
  const Json again = done({"eval", "a", "--examples", "32", "--json"}).json();
  for (const char* key : {"loss", "accuracy", "targets"}) EXPECT_EQ(again.at(key), json.at(key));
}

TEST_F(Story, TrainSaysWhereTheTimeWent) {
  expect_parts(done(tiny({"--out", "a", "--profile"})).out, {"where the time went"});
  const Json rows = done(tiny({"--out", "b", "--profile", "--json"})).json().at("profile");
  double shares = 0;
  std::set<std::string> seen;
  for (const Json& row : rows.items()) {
    expect_keys(row, {"work", "pass", "calls", "ms", "share"});
    shares += row.at("share").number();
    seen.insert(row.at("work").string() + " " + row.at("pass").string());
  }
  EXPECT_NEAR(shares, 1, 0.001);
  for (const char* work : {"linear forward", "linear backward", "attention forward",
                           "attention backward", "layer_norm backward", "optimizer "})
    EXPECT_TRUE(seen.contains(work)) << work;
}

TEST_F(Story, HeadsPrintsItsKeysAndKeepsThem) {
  done(tiny({"--out", "a"}));
  const Json json = done({"heads", "a", "--json"}).json();
  expect_keys(json, {"headlab", "attention", "relations", "heads"});
  ASSERT_EQ(json.at("relations").items().size(), 4u);
  const Json& relation = json.at("relations").items()[0];
  expect_keys(relation, {"name", "positional", "owner", "best"});
  expect_keys(relation.at("best"), {"layer", "head", "mass", "top1", "lift", "p"});
  ASSERT_EQ(json.at("heads").items().size(), 4u);
  const Json& head = json.at("heads").items()[0];
  expect_keys(head, {"layer", "head", "entropy", "scores"});
  expect_keys(head.at("scores").at("back1"), {"mass", "top1", "lift"});
  expect_keys(head, {"confidence", "distance", "rank", "patterns", "offsets", "labels", "like"});
  expect_keys(json, {"permutations", "specialization", "distances", "seed", "settings"});
  EXPECT_TRUE(relation.at("best").at("lift_untrained").is_number());
  EXPECT_EQ(kept("a/heads.json"), json);
}

class Pruning : public Program, public testing::WithParamInterface<const char*> {};

TEST_P(Pruning, WritesARunThatEveryCommandAccepts) {
  done(tiny({"--out", "a"}));
  const Json json =
      done({"prune", "a", "--method", GetParam(), "--keep", "2", "--out", "b", "--json"}).json();
  ASSERT_EQ(json.at("kept").items().size(), 2u);
  expect_keys(json.at("before"), {"loss", "accuracy", "parameters", "ms_per_batch"});
  expect_keys(json.at("after"), {"loss", "accuracy", "parameters", "ms_per_batch"});
  // Each head of width 4 has 3 x (16 x 4 + 4) for q, k, v and 4 x 16 of W_O.
  EXPECT_EQ(json.at("before").at("parameters").integer() -
                json.at("after").at("parameters").integer(),
            2 * (3 * (16 * 4 + 4) + 4 * 16));
  EXPECT_EQ(done({"heads", "b", "--json"}).json().at("heads").items().size(), 2u);
  EXPECT_EQ(done({"eval", "b", "--examples", "32", "--json"}).json().at("loss"),
            json.at("after").at("loss"));
  EXPECT_EQ(done({"prune", "b", "--keep", "0", "--out", "c", "--json"}).json().at("kept"),
            Json::array());
  done({"train", "--resume", "b", "--steps", "2"});
}

INSTANTIATE_TEST_SUITE_P(Methods, Pruning,
                         testing::Values("greedy", "importance", "magnitude", "random"));

TEST_F(Story, PruningToNoHeadSaysWhatIsLeft) {
  done(tiny({"--out", "a"}));
  const std::string said = "no head is left: the model predicts from the token and its position";
  EXPECT_TRUE(holds(done(typed("prune a --keep 0 --out b")).out, said));
  EXPECT_TRUE(holds(done(typed("prune a --drop 100 --out c")).out, said));
  EXPECT_TRUE(holds(done(typed("prune a --remove 0.0,0.1,0.2,0.3 --out d")).out, said));
  EXPECT_FALSE(holds(done(typed("prune a --keep 1 --out e")).out, "no head is left"));
}

TEST_F(Story, FinetunesAfterPruning) {
  done(tiny({"--out", "a"}));
  const Outcome prune = done(typed("prune a --keep 3 --finetune 20 --out b --json"));
  const Json json = prune.json();
  EXPECT_NE(json.at("after").at("loss"), json.at("without_finetuning").at("loss"));
  EXPECT_TRUE(holds(prune.err, "step 20/20")) << prune.err;
}

TEST_F(Story, SamplesFromAText) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the fox sat. ";
  write_file(folder.path() / "fox.txt", text);
  done(
      typed("train --task text:file=fox.txt,length=16 --steps 5 --layers 1 --d-model 16 --d-ff 0 "
            "--out a"));
  const Words words = {"sample", "a", "--prompt", "the f", "--tokens", "20"};
  const Outcome sample = done(words);
  EXPECT_EQ(sample.out.substr(0, 5), "the f");
  EXPECT_EQ(sample.out.size(), 5u + 20u + 1u);
  EXPECT_EQ(done(words).out, sample.out);
  EXPECT_NE(done(with(words, {"--seed", "1", "--json"})).json().at("text").string() + "\n",
            sample.out);
}

TEST_F(Story, ProgressGoesToStderrInPlainLines) {
  const Outcome train = done(tiny({"--out", "a", "--eval-every", "10"}));
  EXPECT_FALSE(holds(train.out, "step 10/30"));
  expect_parts(train.err, {"step 10/30", "step 20/30", "step 30/30", "held-out loss"});
  EXPECT_FALSE(holds(train.err, "\r")) << train.err;
  EXPECT_FALSE(holds(train.err, "\033")) << train.err;
}

TEST_F(Story, BenchSaysOfWhichBuildItIs) {
  const Outcome bench = done(typed("bench --config toy --steps 2 --batch 2 --heads 2 --json"));
  EXPECT_EQ(bench.json().at("config").string(), "toy");
  EXPECT_EQ(bench.json().at("build").string(), build());
  const Outcome threads = done(typed("bench --steps 1 --batch 1 --threads 1,2 --json"));
  EXPECT_EQ(threads.json().at("rows").items().size(), 2u);
  EXPECT_TRUE(threads.json().at("command").string().ends_with("--threads 1,2"));
  const Outcome shown = done({"bench", "--config", "toy", "--steps", "1", "--batch", "1"});
  EXPECT_TRUE(shown.out.starts_with(text("headlab ", version(), " (", build(), ")\n")));
}

TEST_F(Story, ShowsHowHeadsDevelopedIfTheyWereTracked) {
  done(tiny({"--out", "a", "--track-heads", "10"}));
  const Json json = done({"history", "a", "--json"}).json();
  expect_keys(json, {"headlab", "attention", "steps", "relations", "command"});
  EXPECT_EQ(json.at("steps").dump(), "[10,20,30]");
  ASSERT_EQ(json.at("relations").items().size(), 4u);
  expect_keys(json.at("relations").items()[0],
              {"name", "layer", "head", "emergence_step", "lifts"});
  EXPECT_TRUE(holds(done({"history", "a"}).out, "lift over training"));
  done({"train", "--resume", "a", "--steps", "45"});
  EXPECT_EQ(done({"history", "a", "--json"}).json().at("steps").dump(), "[10,20,30,40,45]");
}

TEST_F(Story, ResumesARunOfAProgramBitForBit) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  const std::string command = "python3 " HEADLAB_SOURCE_DIR "/examples/tasks/modular.py";
  const auto train = [&](const char* steps, const char* out) {
    done(tiny({"--task", "command:" + command, "--schedule", "constant", "--steps", steps, "--out",
               out}));
  };
  train("8", "whole");
  train("5", "half");
  const Words resume = {"train", "--resume", "half", "--steps", "8"};
  EXPECT_TRUE(holds(run(resume).err, "you have not named it"));
  const Outcome resumed = run(resume, {.environment = {"HEADLAB_COMMAND=" + command}});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  const std::string call = "command: HEADLAB_COMMAND='" + command + "' headlab ";
  EXPECT_TRUE(holds(again_of(resumed.out), call.substr(9) + "train --config half/config.json"));
  for (int i = 0; i < 2; ++i) {  // the second replaces what the first has found
    const Outcome found = run({"heads", "half", "--out", "found.json"},
                              {.environment = {"HEADLAB_COMMAND=" + command}});
    EXPECT_EQ(found.status, 0) << found.err;
    EXPECT_TRUE(holds("command: " + again_of(found.out), call + "heads half")) << found.out;
  }
  const auto values = [&](const char* name) {
    std::vector<std::string> bytes;
    for (const StoredTensor& tensor :
         read_safetensors(folder.path() / name / "model.safetensors").tensors)
      bytes.push_back(tensor.bytes);
    return bytes;
  };
  EXPECT_EQ(values("whole"), values("half"));
}

}  // namespace
}  // namespace headlab::cli
