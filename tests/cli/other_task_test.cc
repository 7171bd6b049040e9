// The flag --task of analyses: another length or other data than those of the run, held against
// numbers that the test computes from logits and tokens.
#include <cmath>

#include "cli/program.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "lab/results/npy.h"

namespace headlab::cli { namespace {

using OtherTask = Program;

const std::string kLonger = "relations:length=12";

/// Loss of the target `back1` from logits [N, T, K, V]: the token before is the answer.
double loss_of_back1(const FloatArray& logits, const Batch& batch) {
  const Index T = logits.shape[1], K = logits.shape[2], V = logits.shape[3];
  double sum = 0, count = 0;
  for (Index b = 0; b < logits.shape[0]; ++b) {
    for (Index t = 1; t < T; ++t) {
      const float* x = logits.values.data() + ((b * T + t) * K) * V;
      double total = 0;
      for (Index v = 0; v < V; ++v) total += std::exp(static_cast<double>(x[v]));
      sum += std::log(total) - static_cast<double>(x[batch.tokens[b * T + t - 1]]);
      ++count;
    }
  }
  return sum / count;
}

TEST_F(OtherTask, LossIsThatOfTheWrittenLogits) {
  done(tiny({"--positions", "rotary", "--out", "r"}));
  const Json found =
      done({"eval", "r", "--task", kLonger, "--examples", "16", "--logits", "logits.npy", "--json"})
          .json();
  const FloatArray logits = read_npy_floats(file("logits.npy"));
  EXPECT_EQ(logits.shape, (std::vector<std::int64_t>{16, 12, 4, 16}));
  const Batch batch = held_out_examples(*make_task(kLonger), 16).batch;
  EXPECT_NEAR(found.at("targets").items()[0].at("loss").number(), loss_of_back1(logits, batch),
              1e-5);
}

TEST_F(OtherTask, OwnTaskGivesTheSameNumbers) {
  done(tiny({"--out", "r"}));
  const Json own = done({"eval", "r", "--json"}).json();
  const std::string whole = kept("r/config.json").at("task").string();
  for (const std::string& spec :
       {std::string("relations"), std::string("relations:length=8"), whole}) {
    const Json found = done({"eval", "r", "--task", spec, "--json"}).json();
    for (const char* key : {"loss", "accuracy", "targets"}) {
      EXPECT_EQ(found.at(key), own.at(key)) << spec;
    }
  }
  done({"heads", "r", "--examples", "32", "--task", "relations"});
  EXPECT_TRUE(fs::exists(folder.path() / "r/heads.json")) << "the task is the run's own";
}

TEST_F(OtherTask, EveryAnalysisTakesItAndLeavesTheRunUnchanged) {
  done(tiny({"--positions", "alibi", "--out", "r"}));
  const auto before = contents(folder.path() / "r");
  for (const std::string command :
       {"eval r", "heads r --svg heads.svg", "pattern r", "pattern r 0.1", "lens r",
        "ablate r --examples 32", "patch r --examples 4", "attribute r"}) {
    const Outcome outcome = done(with(typed(command), {"--task", kLonger}));
    expect_parts(outcome.out,
                 {"--task " + kLonger, command.starts_with("pattern") ? "" : "length=12"});
  }
  EXPECT_EQ(contents(folder.path() / "r"), before);
  done(with(typed("lens r --out other.json --task"), {kLonger}));
  EXPECT_TRUE(kept("other.json").at("options").at("task").string().starts_with(kLonger));
  done({"lens", "r"});
  EXPECT_EQ(kept("r/lens.json").at("options").find("task"), nullptr);
  expect_refused(run(with(typed("lens r --out r/lens.json --task"), {kLonger})), 1,
                 {"cannot write --out r/lens.json", "the run's own task"});
}

TEST_F(OtherTask, RefusalNamesTheFlagAndTheDifference) {
  done(tiny({"--out", "r"}));
  const auto refuses = [&](const std::string& task, int status, const Words& parts) {
    expect_refused(run({"eval", "r", "--task", task}), status, parts);
  };
  refuses(kLonger, 1,
          {"cannot use --task relations:length=12", "need 12 positions", "has learned 8"});
  refuses("relations:vocab=20", 1,
          {"cannot use --task", "its token 'q' must be in the vocabulary"});
  refuses("relations:vocab=8", 1,
          {"cannot use --task", "must have 16 tokens, as the model, not 8: 'i'"});
  refuses(
      "relations:relations=1+2", 1,
      {"its targets must be back1, back3, back5, same, as those of the model, not back1, back2"});
  refuses("relations:relations=next", 1,
          {"it must be for a decoder, as the model is, not for an encoder"});
  refuses("relations:lenght=9", 2, {"lenght", "did you mean 'length'?"});
  refuses("relation", 2, {"unknown task 'relation'; did you mean 'relations'?"});
}

TEST_F(OtherTask, FileReplacesOnlyTheHeldOutPart) {
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    lines +=
        text(R"({"tokens":["a","b","c"],"targets":[null,null,")", i % 2 == 0 ? "a" : "b", "\"]}\n");
  }
  write_file(folder.path() / "train.jsonl", lines);
  write_file(folder.path() / "same.jsonl", lines);
  write_file(folder.path() / "mine.jsonl", R"({"tokens":["a","b","c"],"targets":[null,null,"a"]})");
  write_file(folder.path() / "new.jsonl", R"({"tokens":["a","dog"],"targets":[null,"a"]})");
  done(
      typed("train --task file:train=train.jsonl,held_out=same.jsonl,test=same.jsonl --layers 1 "
            "--heads 1 --d-model 8 --steps 2 --batch 2 --out r"));
  const Json found =
      done({"eval", "r", "--task", "file:held_out=mine.jsonl", "--logits", "x.npy", "--json"})
          .json();
  EXPECT_EQ(found.at("examples"), Json(1));
  const FloatArray logits = read_npy_floats(file("x.npy"));
  double total = 0;
  for (std::size_t v = 0; v < 3; ++v) total += std::exp(double(logits.values[2 * 3 + v]));
  EXPECT_NEAR(found.at("loss").number(), std::log(total) - double(logits.values[2 * 3]), 1e-5);
  expect_refused(run({"eval", "r", "--task", "file:held_out=new.jsonl"}), 1,
                 {"cannot use --task file:held_out=new.jsonl",
                  "its token 'dog' must be in the vocabulary of the model"});
}

TEST_F(OtherTask, TrainingGoesOnWithLongerSequencesWhereNoPositionIsLearned) {
  done(tiny({"--positions", "sinusoidal", "--out", "r"}));
  const Json before = done({"eval", "r", "--task", kLonger, "--examples", "32", "--json"}).json();
  done({"train", "--from", "r", "--task", kLonger, "--steps", "0", "--out", "longer"});
  const Json after = done({"eval", "longer", "--examples", "32", "--json"}).json();
  EXPECT_EQ(after.at("loss"), before.at("loss"));
  done(tiny({"--out", "learned"}));
  expect_refused(run({"train", "--from", "learned", "--task", kLonger, "--out", "x"}), 1,
                 {"cannot use the model with the task relations:length=12",
                  "need 12 positions, and the model has learned 8", "--positions rotary"});
  EXPECT_FALSE(fs::exists(folder.path() / "x"));
}

}}  // namespace headlab::cli
