// The same numbers again: whatever the threads, after a pause, from the config that a run keeps,
// and by the command that a result is printed with. Equal means equal bits. Read next:
// interrupt_test.cc, where the pause is Ctrl-C.
#include "cli/program.h"
#include "headlab/core/base/safetensors.h"

namespace headlab::cli { namespace {

using Again = Program;

TEST_F(Again, ThreadsChangeNothing) {
  // 128 x 16 tokens: enough rows that every kernel cuts its work.
  const Words words = {"train", "--steps", "5", "--batch", "128", "--d-ff", "64", "--json"};
  std::map<std::string, Json> losses;
  for (const char* threads : {"1", "2", "3"}) {
    const Words more = with(words, {"--out", threads, "--threads", threads});
    losses[threads] = done(more).json().at("loss");
  }
  EXPECT_EQ(file("1/model.safetensors"), file("2/model.safetensors"));
  EXPECT_EQ(file("1/model.safetensors"), file("3/model.safetensors"));
  EXPECT_EQ(losses["1"], losses["2"]);
  EXPECT_EQ(losses["1"], losses["3"]);
}

TEST_F(Again, ConfigOfARunReproducesIt) {
  done(tiny(typed("--out a --heads 2 --dropout 0.1 --seed 5 --lr 3e-3")));
  done({"train", "--config", "a/config.json", "--out", "b"});
  EXPECT_EQ(file("a/model.safetensors"), file("b/model.safetensors"));
  EXPECT_EQ(file("a/config.json"), file("b/config.json"));
}

TEST_F(Again, FlagsOverrideTheConfig) {
  done(tiny({"--out", "a"}));
  done(typed("train --config a/config.json --out b --seed 6 --heads 2"));
  const Json config = Json::parse(file("b/config.json"));
  EXPECT_EQ(config.at("seed").integer(), 6);
  EXPECT_EQ(config.at("heads").integer(), 2);
  EXPECT_EQ(config.at("d_model").integer(), 16);
  EXPECT_NE(file("a/model.safetensors"), file("b/model.safetensors"));
}

TEST_F(Again, EvalAndHeadsPrintTheirCommands) {
  done(tiny({"--out", "a"}));
  for (const Words& words :
       {Words{"eval", "a", "--examples", "16"}, Words{"heads", "a", "--examples", "16"},
        Words{"pattern", "a", "0.1"}}) {
    const Outcome first = done(words);
    EXPECT_EQ(commands_again(first.out), std::vector<Words>{words}) << first.out;
    EXPECT_EQ(done(words).out, first.out);
  }
}

TEST_F(Again, PrunePrintsItsCommandAndItsSeeds) {
  done(tiny({"--out", "a", "--seed", "3"}));
  const Words words = typed("prune a --keep 2 --method random --seed 4 --out b --finetune 5");
  const Outcome first = done(words);
  EXPECT_EQ(commands_again(first.out), std::vector<Words>{words}) << first.out;
  EXPECT_TRUE(holds(first.out, "seed 4") && holds(first.out, "seed 3")) << first.out;
  const std::string model = file("b/model.safetensors");
  done(with(words, {"--force"}));
  EXPECT_EQ(file("b/model.safetensors"), model);
}

TEST_F(Again, ResumedRunPrintsTheCommandThatReproducesIt) {
  done(tiny({"--out", "a"}));
  const Outcome resumed = done({"train", "--resume", "a"});
  EXPECT_TRUE(again_of(resumed.out).starts_with("headlab train --config a/config.json --out a  #"))
      << resumed.out;
  expect_parts(resumed.err, {"resuming a at step 30 of 30"});
}

}  // namespace
}  // namespace headlab::cli
