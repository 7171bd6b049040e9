// Command lines that the program prints begin with the program as it was typed, so that they can be
// pasted; JSON, files and completion scripts say `headlab`. And how help shows flags. Read next:
// golden_test.cc, the helps themselves.
#include "cli/program.h"
#include "headlab/app/cli/command.h"

namespace headlab::cli { namespace {

class Typed : public Program {
 protected:
  Outcome typed_as(const std::string& program, const Words& words) const {
    return Process(words, {.folder = folder.path(), .called = program}).finish();
  }
};

TEST_F(Typed, ProgramBeginsTheCommandsOfResultsHelpAndHints) {
  done(tiny({"--out", "a"}));
  const std::string program = "build/headlab";
  const Outcome eval = typed_as(program, {"eval", "a"});
  EXPECT_TRUE(holds(eval.out, "command: build/headlab eval a\n")) << eval.out;
  expect_parts(typed_as(program, {"eval"}).err, {"hint: build/headlab eval runs/full"});
  expect_parts(typed_as(program, {"eval", "--help"}).out,
               {"example: build/headlab eval", "usage: build/headlab eval RUN",
                "(build/headlab --help)"});
  expect_parts(typed_as(program, {}).out, {"(build/headlab COMMAND --help", "build/headlab start"});
  expect_parts(typed_as(program, {"heads", "a", "--pattern"}).err,
               {"hint: build/headlab pattern RUN"});
  const Outcome train = typed_as(program, tiny({"--out", "b"}));
  EXPECT_TRUE(again_of(train.out).starts_with("build/headlab train --out b")) << train.out;
  const Outcome folder_with_spaces = typed_as("./my build/headlab", {"eval", "a"});
  expect_parts(folder_with_spaces.out, {"command: './my build/headlab' eval a\n"});
}

TEST_F(Typed, ProgramIsNotInJsonFilesAndCompletionScripts) {
  done(tiny({"--out", "a"}));
  const std::string program = "build/headlab";
  const Json json = typed_as(program, {"heads", "a", "--json"}).json();
  EXPECT_EQ(json.at("command").string(), "headlab heads a");
  EXPECT_EQ(kept("a/heads.json").at("command").string(), "headlab heads a");
  const Json failure = typed_as(program, {"eval", "--json"}).json();
  EXPECT_EQ(failure.at("hint").string(), "headlab eval runs/full");
  typed_as(program, {"pattern", "a", "0.1", "--svg", "p.svg"});
  EXPECT_TRUE(holds(file("p.svg"), "command: headlab pattern a 0.1"));
  EXPECT_FALSE(holds(typed_as(program, {"completion", "bash"}).out, "build/headlab"));
}

TEST_F(Typed, ProgramDoesNotChangeTexts) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "headlab eval ";
  write_file(folder.path() / "words.txt", text);
  done(
      typed("train --task text:file=words.txt,length=8 --heads 1 --d-model 8 --d-ff 8 --layers 1 "
            "--steps 2 --batch 4 --out t"));
  const Outcome sample = typed_as("build/headlab", {"sample", "t", "--prompt", "headlab eval "});
  EXPECT_TRUE(holds(sample.out, "headlab eval")) << sample.out;
  EXPECT_FALSE(holds(sample.out, "build/headlab eval")) << sample.out;
}

TEST_F(Typed, HelpOfACommandLeavesOutCommonFlags) {
  for (const Command& command : commands()) {
    const std::string help = done({command.name, "--help"}).out;
    EXPECT_FALSE(holds(help, "not with")) << command.name;
    for (const char* flag :
         {"\n  --json", "\n  --quiet", "\n  --threads", "\n  --help", "\n  --csv"})
      EXPECT_FALSE(holds(help, flag)) << command.name << flag;
    EXPECT_TRUE(holds(help, "common flags (headlab --help): --json")) << command.name;
  }
}

}  // namespace
}  // namespace headlab::cli
