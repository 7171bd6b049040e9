// Instruments on a command line: groups of targets, logits, early stopping, the best weights, and
// training from a run. Their computations are tested in tests/train and tests/heads.
#include "cli/program.h"
#include "headlab/lab/runs/run.h"
#include "lab/results/npz.h"

namespace headlab::cli { namespace {

using Numbers = std::vector<std::int64_t>;

class Instruments : public Program {
 protected:
  /// Returns an array of whole numbers of an archive. Its header, 30 bytes before its name, holds
  /// its size from byte 18 on.
  Numbers whole_in(const std::string& archive, const std::string& name) const {
    const std::string bytes = file(archive);
    const std::string path = name + ".npy";
    const std::size_t at = bytes.find(path);
    if (at == bytes.npos) return {};
    std::size_t size = 0;
    for (std::size_t i = 4; i-- > 0;) {
      size = size * 256 + static_cast<unsigned char>(bytes[at - 30 + 18 + i]);
    }
    const std::string_view content = std::string_view(bytes).substr(at + path.size(), size);
    const WholeNumbers array = read_npy(content);
    Numbers numbers;
    for (std::int64_t i = 0; i < array.count(); ++i) numbers.push_back(array[i]);
    return numbers;
  }
};

TEST_F(Instruments, EvalShowsGroupsOfTargetsAndSingleOnes) {
  done(tiny({"--out", "a"}));
  const Json plain = done({"eval", "a", "--json"}).json();
  const Json by = done(typed("eval a --by position --early 2 --late 4 --json")).json();
  EXPECT_EQ(plain.at("targets"), by.at("targets"));
  EXPECT_EQ(by.at("in_context").at("late"), Json(4));
  EXPECT_FALSE(by.at("positions").items().empty());
  EXPECT_FALSE(done(typed("eval a --by answer --json")).json().at("answers").items().empty());
  const std::string csv = done(typed("eval a --examples 4 --csv --table single_targets")).out;
  expect_parts(csv, {"example,position,token,name,answer,predicted,right,loss\n0,", "\n3,"});
  const std::string summary = done(typed("eval a --csv")).out;
  EXPECT_TRUE(summary.starts_with("name,loss,accuracy,count\n")) << summary;
  EXPECT_EQ(run(typed("eval a --early 3")).status, 2);
}

/// Held-out sequence i of the file has i + 2 tokens and i + 1 targets.
TEST_F(Instruments, TakeHeldOutExamplesInTheOrderOfTheFile) {
  std::string train;
  std::string held_out;
  for (int i = 0; i < 7; ++i) {
    Json tokens = Json::array();
    Json targets = Json::array();
    for (int t = 0; t < i + 2; ++t) {
      tokens.push_back(text("w", (i + t) % 7));
      targets.push_back(t == 0 ? Json() : Json(text("w", (i + t - 1) % 7)));
    }
    held_out += Json::object({{"tokens", tokens}, {"targets", targets}}).dump() + "\n";
    const Json::Array pair = {"w1", text("w", i)};
    const Json::Array answers = {Json(), "w1"};
    train += Json::object({{"tokens", pair}, {"targets", answers}}).dump();
    train += "\n";
  }
  write_file(folder / "train.jsonl", train);
  write_file(folder / "held.jsonl", "\n" + held_out);
  done(
      typed("train --task file:train=train.jsonl,held_out=held.jsonl,test=held.jsonl --heads 2 "
            "--d-model 8 --steps 3 --batch 4 --out r"));
  const std::string csv = done(typed("eval r --csv --table single_targets")).out;
  for (int i = 0; i < 7; ++i) {
    std::ptrdiff_t rows = 0;
    for (const std::string_view line : split(csv, '\n')) rows += line.starts_with(text(i, ","));
    EXPECT_EQ(rows, i + 1) << csv;
  }
  for (int i = 0; i < 7; ++i) {
    const Json shown = done({"pattern", "r", "0.0", "--example", text(i), "--json"}).json();
    EXPECT_EQ(std::ssize(shown.at("tokens").items()), i + 2);
    EXPECT_EQ(shown.at("tokens").items()[0], Json(text("w", i)));
  }
  done(typed("eval r --npy l.npz --logits g.npz"));
  done(typed("heads r --npy m.npz --examples 7"));
  done(typed("pattern r --npy p.npz --z z.npz --example 3"));
  done(typed("pattern r --activations a.npz --example 3 --examples 2"));
  expect_parts(file("l.npz"), {"losses.npy", "'<f4'"});
  expect_parts(file("g.npz"), {"logits.npy"});
  expect_parts(file("m.npz"), {"mass.npy"});
  expect_parts(file("p.npz"), {"patterns.npy", "'shape': (4, 5, 5, )"});
  expect_parts(file("z.npz"), {"z.npy", "'shape': (4, 5, 4, )"});
  for (const char* name : {"l.npz", "g.npz", "m.npz"}) {
    EXPECT_EQ(whole_in(name, "lines"), (Numbers{2, 3, 4, 5, 6, 7, 8})) << name;
    EXPECT_EQ(whole_in(name, "lengths"), (Numbers{2, 3, 4, 5, 6, 7, 8})) << name;
    EXPECT_EQ(std::ssize(whole_in(name, "tokens")), 7 * 8) << name;
  }
  EXPECT_EQ(whole_in("a.npz", "lines"), (Numbers{5, 6}));
  for (const char* name : {"p.npz", "z.npz"}) {
    EXPECT_EQ(whole_in(name, "lines"), (Numbers{5})) << name;
    EXPECT_EQ(whole_in(name, "heads"), (Numbers{0, 0, 0, 1, 1, 0, 1, 1})) << name;
  }
}

TEST_F(Instruments, EvalWritesLogits) {
  done(tiny({"--out", "a"}));
  done(typed("eval a --examples 4 --logits l.npy"));
  expect_parts(file("l.npy"), {"NUMPY", "'shape': (4, "});
  EXPECT_EQ(run(typed("eval a --logits l.svg")).status, 2);
}

TEST_F(Instruments, BestWeightsAreReadByEveryCommand) {
  done(
      tiny({"--out", "a", "--steps", "40", "--eval-every", "2", "--lr", "0.3", "--patience", "3"}));
  for (const std::string line :
       {"eval a@best", "heads a@best --examples 16", "ablate a@best --examples 32",
        "circuits a@best --draws 10", "attribute a@best --examples 16", "pattern a@best 0.0",
        "patch a@best --examples 8", "export a@best --to headlab --out e"}) {
    const Outcome outcome = run(typed(line));
    EXPECT_TRUE(outcome.status == 0 || line.starts_with("export")) << line << outcome.err;
  }
  EXPECT_TRUE(fs::exists(folder / "a" / "heads@best.json"));
  EXPECT_FALSE(fs::exists(folder / "a" / "heads.json"));
  const Json best = done(typed("eval a --best --json")).json();
  EXPECT_EQ(best.at("loss"), done(typed("eval a@best --json")).json().at("loss"));
  const Outcome resume = run(typed("train --resume a@best"));
  EXPECT_EQ(resume.status, 1);
  expect_parts(resume.err, {"cannot write a@best", "without @best"});
}

TEST_F(Instruments, EarlyStoppingIsReportedAndResumed) {
  const Outcome train = done(tiny({"--out", "a", "--steps", "40", "--eval-every", "2", "--lr", "0",
                                   "--patience", "2", "--warmup", "0"}));
  expect_parts(train.out, {"a: 6 steps", "ended early: no lower held-out loss in 2 evaluations"});
  EXPECT_TRUE(holds(done({"runs", "."}).out, "ended early"));
  expect_parts(done(typed("train --resume a")).out, {"a: 10 steps", "&& headlab train"});
}

TEST_F(Instruments, TrainingFromARunKeepsItsModelAndComparesRoles) {
  const std::string task = "--task relations:length=8,vocab=6,classes=3,relations=";
  done(typed("train " + task + "1+same --heads 2 --d-model 8 --steps 5 --out a"));
  const Outcome from = done(typed("train --from a " + task + "2+same --steps 3 --seed 4 --out b"));
  expect_parts(again_of(from.out), {"--from a"});
  const Json config = kept("b/config.json");
  EXPECT_EQ(config.at("from"), Json("a"));
  EXPECT_EQ(config.at("d_model"), Json(8));
  EXPECT_EQ(config.at("seed"), Json(4));
  const Json roles = done(typed("transfer b --examples 32 --json")).json();
  EXPECT_EQ(roles.at("heads").items().size(), 2u);
  EXPECT_EQ(run(typed("train --from a --layers 3 --out c")).status, 2);
  EXPECT_EQ(run(typed("train --from a --task copy --out c")).status, 1);
  EXPECT_EQ(run(typed("transfer a")).status, 1);
  done(typed("train --resume a --steps 6"));
  expect_parts(run(typed("transfer b")).err, {"other weights"});
}

TEST_F(Instruments, PatchTakesOwnInputsAndPaths) {
  done(
      typed("train --task relations:length=8,vocab=6,classes=3,relations=1+same --heads 2 "
            "--d-model 8 --layers 2 --steps 5 --out a"));
  const Json own =
      done(Words{"patch", "a", "--paths", "--json", "--input", "a b c d", "--corrupted", "b b c d"})
          .json();
  EXPECT_EQ(own.at("pairs"), Json(1));
  EXPECT_FALSE(own.at("paths").items().empty());
  EXPECT_EQ(run(typed("patch a --input a")).status, 2);
  EXPECT_EQ(run(typed("patch a --corrupted a")).status, 2);
  const Json held_out = done(typed("patch a --examples 32 --json")).json();
  for (const Json& row : held_out.at("estimates").items()) {
    EXPECT_TRUE(row.at("correlation").is_number()) << "a row without a number is left out";
  }
  EXPECT_TRUE(held_out.at("nodes").items()[0].at("effect").at("low").is_number());
}

TEST_F(Instruments, AttributeListsSingleExamples) {
  done(tiny({"--out", "a"}));
  const std::string csv = done(typed("attribute a --examples 4 --csv --table single_examples")).out;
  expect_parts(csv, {"example,line,position,target,answer,against,part,share\n0,", ",embedding,"});
  EXPECT_EQ(kept("a/attribution.json").find("examples")->is_number(), true);
}

}  // namespace
}  // namespace headlab::cli
