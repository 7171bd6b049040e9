// Wrong command lines and things that cannot be done: each is answered by one sentence and perhaps
// a hint, with status 2 or 1, and changes no file. The table is the test; a row is a mistake.
#include <set>

#include "app/cli/advice.h"
#include "cli/program.h"

namespace headlab::cli { namespace {

/// A folder with a run `a`, a folder `group` of two runs, and some files to trip over.
class Mistakes : public Program, public testing::WithParamInterface<Mistake> {
 protected:
  Mistakes() {
    done(tiny({"--out", "a"}));
    make_directories(folder.path() / "group");
    for (const char* name : {"one", "two"}) {
      fs::copy(folder.path() / "a", folder.path() / "group" / name);
    }
    write_file(folder.path() / "unknown.json", R"({"heads": 2, "stepz": 3})");
    write_file(folder.path() / "ill_typed.json", R"({"heads": "many"})");
    write_file(folder.path() / "ill_typed_text.json", R"({"task": [1]})");
    write_file(folder.path() / "broken.json", "{\"heads\": 2,,}");
    write_file(folder.path() / "list.json", "[1, 2]");
    write_file(folder.path() / "tiny.txt", "abc");
    write_file(folder.path() / "latin.txt", "caf\xE9 au lait, tous les jours de la semaine");
    write_file(folder.path() / "plain", "no folder");
    make_directories(folder.path() / "photos");
    write_file(folder.path() / "photos" / "cat.jpg", "meow");
  }
};

TEST_P(Mistakes, PrintOneErrorAndChangeNothing) {
  const auto before = contents(folder.path());
  const Outcome outcome = run(GetParam().words());
  EXPECT_EQ(outcome.status, GetParam().status);
  EXPECT_EQ(outcome.out, "");
  expect_sentence(outcome.err, GetParam().said());
  expect_hint(outcome.err);
  EXPECT_EQ(contents(folder.path()), before);
}

std::string name_of_mistake(const testing::TestParamInfo<Mistake>& row) { return row.param.name; }

const std::vector<Mistake> kWords = {
    {"Command", "trian", 2, "unknown command 'trian'|'train'|prune"},
    {"HelpOfNoCommand", "help evel", 2, "'eval'"},
    {"Flag", "train --stepz 3", 2, "unknown flag '--stepz'|'--steps'|headlab train"},
    {"FlagOfOneLetter", "eval -x a", 2, "unknown flag '-x'|headlab eval --help"},
    {"NoValue", "train --steps", 2, "--steps needs a value"},
    {"EmptyOut", "train --out '' --force", 2, "--out needs a value"},
    {"EmptyOutJoined", "train --out=", 2, "--out needs a value"},
    {"EmptyConfig", "train --config", 2, "--config needs a value"},
    {"EmptyResume", "train --resume", 2, "--resume needs a value"},
    {"EmptyHeads", "sweep --out s --heads", 2, "--heads needs a value"},
    {"EmptyTaskFile", "train --task text:file=", 2, "file needs a value"},
    {"SeedThatWouldBeRounded", "train --seed 9007199254740993", 2, "--seed|9007199254740991"},
    {"ArgumentOfVersion", "--version x", 2, "unexpected argument 'x'"},
    {"FlagForAValue", "train --out --quiet", 2, "--out needs a value"},
    {"SwitchWithANumber", "eval a --json=3", 2, "true or false"},
    {"ClearedNumber", "train --no-steps", 2, "unknown flag '--no-steps'"},
    {"NoRun", "eval", 2, "missing argument RUN|headlab eval runs/full"},
    {"TwoRuns", "eval a b", 2, "unexpected argument 'b'"},
    {"Word", "explain lifft", 2, "'lift'|headlab list columns"},
    {"ListOfUnknown", "list task", 2, "'tasks'"},
    {"BenchOfAWord", "bench step", 2, "step"},
    {"BenchConfig", "bench --config tyo", 2, "'toy'|gpt2"},
    {"SeveralThreads", "list tasks --threads 1,2", 2, "cannot use --threads|one number"},
    {"BenchHeads", "bench --heads 3", 2, "d_model 64|heads 3"},
    {"Task", "train --task relation", 2, "unknown task 'relation'|'relations'"},
    {"TaskParameter", "train --task relations:lenth=8", 2, "'lenth'|'length'|vocab"},
    {"TaskParameterZero", "train --task relations:length=0", 2, "length|got 0"},
    {"TaskParameterText", "train --task relations:vocab=big", 2, "vocab|\"big\""},
    {"TaskParameterBare", "train --task relations:length", 2, "NAME=VALUE|length"},
    {"KindOfAblation", "ablate a --kind meen", 2, "kind of ablation 'meen'|mean"},
    {"Method", "prune a --method gredy --keep 1 --out b", 2, "'greedy'"},
    {"NoKeep", "prune a --out b", 2, "missing --keep"},
    {"KeepNegative", "prune a --keep -1 --out b", 2, "got -1"},
    {"NoSuchHead", "pattern a 0.7", 2, "find head 0.7|0.0 0.1 0.2 0.3"},
    {"NoHeadAtAll", "pattern a x", 2, "LAYER.HEAD"},
    {"ResumeWithAnotherRate", "train --resume a --lr 1", 2,
     "--lr cannot be combined with --resume|headlab train --from a --lr 1 --out a-new"},
    {"ResumeWithAnotherTask", "train --resume a/ --task sort", 2,
     "headlab train --from a/ --task sort --out a-new"},
    {"SeedBeyondAllNumbers", "train --seed 18446744073709551615", 2,
     "seed|got \"18446744073709551615\""},
    {"WidthWithoutANumber", "train --d-model", 2, "--d-model needs a value|headlab train --help"},
    {"ResumeWithItsOwnBatch", "train --resume a --batch 16", 2, "--batch|with --resume"},
    {"ResumeWithAnotherNorm", "train --resume a --norm layer", 2,
     "--norm|with --resume|headlab train --config a/config.json --norm layer --out a-new"},
    {"ResumeWithAnotherBlock", "train --resume a --block gpt2", 2, "--block|with --resume"},
    {"ResumeWithALayer", "train --resume a --layers 1", 2, "--layers|with --resume"},
    {"ResumeUntied", "train --resume a --no-tied", 2, "--no-tied cannot be combined with --resume"},
    {"ResumeWithNoNetwork", "train --resume a --activation relu", 2, "--activation|with --resume"},
    {"ResumeElsewhere", "train --resume=a --out b", 2, "--out cannot be combined with --resume"},
    {"ResumeNothing", "train --out b --resume", 2, "headlab train --from RUN --out b"},
    {"ResumeToThePast", "train --resume a --steps 3", 2, "has done 30"},
};
INSTANTIATE_TEST_SUITE_P(Words, Mistakes, testing::ValuesIn(kWords), name_of_mistake);

const std::vector<Mistake> kSizes = {
    {"MoreHeadsThanWidth", "train --heads 65", 2,
     "d_model 64 is not divisible by heads 65|set d_head, or use 1, 2, 4, 8"},
    {"LayersOfHeads", "train --heads 4+4", 2, "heads names 2 layers, but layers is 1"},
    {"LayersByCommas", "train --heads 4,4", 2, "values of a sweep|by +: 4+4"},
    {"BothWays", "train --tied true,false", 2, "tied must be true or false"},
    {"NegativeHeads", "train --heads -1", 2, "got -1"},
    {"NegativeSteps", "train --steps -5", 2, "got -5"},
    {"NegativeSeed", "train --seed -1", 2, "got -1"},
    {"HalfALayer", "train --layers 1.5", 2, "whole number|got 1.5"},
    {"ZeroBatch", "train --batch 0", 2, "got 0"},
    {"ZeroWidth", "train --d-model 0", 2, "got 0"},
    {"HugeWidth", "train --d-model 1e12", 2, "to 65536"},
    {"HugeNumber", "train --steps 1e999", 2, "steps|1e999"},
    {"RateThatIsNone", "train --lr nan", 2, "lr must be a number"},
    {"Rates", "train --lr 1e-3 --min-lr 1", 2, "min_lr 1 is above lr"},
    {"MicroBatches", "train --batch 7 --accumulate 2", 2, "batch 7"},
    {"Optimizer", "train --optimizer adamm", 2, "adamw, adam, sgd"},
    {"ZeroExamples", "eval a --examples 0", 2, "got 0"},
    {"OneExampleForTwoSplits", "heads a --examples 1", 2, "from 2"},
    {"TooManyThreads", "eval a --threads 100000", 2, "to 1024"},
    {"LargerThanMemory", "train --d-model 65536 --heads 1", 2, "fit into memory"},
    {"HugeBatch", "train --batch 1048576 --layers 1000", 2, "batch 1048576|--accumulate"},
    {"DeeperThanMemory", "train --layers 1000 --d-model 4096", 2, "into memory"},
};
INSTANTIATE_TEST_SUITE_P(Sizes, Mistakes, testing::ValuesIn(kSizes), name_of_mistake);

/// Flags that would have no effect are refused, with the flag that it belongs to.
const std::vector<Mistake> kUnused = {
    {"GridOfOneHead", "pattern a 0.1 --grid", 2, "--grid|one head"},
    {"RelationOfAGrid", "pattern a --grid --relation same", 2, "--relation|with --grid"},
    {"ExampleAndInput", "pattern a --example 1 --input ab", 2, "--example|with --input"},
    {"ExamplesOfNothing", "pattern a --examples 4", 2, "cannot use --examples: it needs"},
    {"ExamplesOfOnePicture", "pattern a 0.1 --examples 4 --svg p.svg", 2, "--examples|one head"},
    {"ExamplesOfOneInput", "pattern a --input ab --examples 4 --activations b.npz", 2,
     "--examples|with --input"},
    {"OneExampleOfAGrid", "pattern a --grid --examples 1", 2, "--examples 1|2 examples or more"},
    {"TwoHeads", "pattern a 0.1 --head 0.2", 2, "--head|with HEAD"},
    {"ActivationsOfAnotherFormat", "pattern a --activations b.npy", 2, "b.npy|.npz"},
    {"TargetOfNoHead", "circuits a --target 1", 2, "cannot use --target: it needs --head"},
    {"TargetTooLarge", "circuits a --head 0.1 --target 7", 2,
     "--target 7|no such target|from 0 to 3"},
    {"FileAndExample", "explain attention --file b --example 3", 2, "--example|with --file"},
    {"BaseOfNoRotation", "bench --rotary-base 7", 2, "cannot use --rotary-base: it needs"},
    {"TourOfNumbers", "start --csv", 2,
     "cannot use --csv: `headlab start` has no table|leave --csv out"},
    {"NoFolderOfRuns", "runs nowhere", 1, "no folder nowhere|hint: "},
};
INSTANTIATE_TEST_SUITE_P(Unused, Mistakes, testing::ValuesIn(kUnused), name_of_mistake);

const std::vector<Mistake> kFiles = {
    {"NoSuchRun", "eval nowhere", 1, "no run found in 'nowhere'|headlab train --out"},
    {"AFolderThatIsNoRun", "eval photos", 1, "no run found in 'photos'"},
    {"AFileThatIsNoRun", "heads plain", 1, "plain"},
    {"NothingToResume", "train --resume nowhere", 1, "no run found in 'nowhere'"},
    {"NoConfig", "train --config nowhere.json", 1, "nowhere.json"},
    {"ConfigIsAFolder", "train --config photos", 1, "photos"},
    {"ConfigWithUnknownKey", "train --config unknown.json", 1, "unknown.json|'stepz'|'steps'"},
    {"ConfigWithAText", "train --config ill_typed.json", 1, "ill_typed.json|\"many\""},
    {"ConfigWithAList", "train --config ill_typed_text.json", 1, "task must be a text"},
    {"ConfigThatIsBroken", "train --config broken.json", 1, "broken.json|line 1|correct it"},
    {"ConfigThatIsNoObject", "train --config list.json", 1, "object of settings"},
    {"MisspeltParameterOfText", "train --task text:fil=a.txt", 2, "'fil'|'file'"},
    {"NoText", "train --task text:file=nowhere.txt", 1, "nowhere.txt"},
    {"TextTooShort", "train --task text:file=tiny.txt", 1, "tiny.txt is too short|3"},
    {"TextNotUtf8", "train --task text:file=latin.txt", 1, "not UTF-8|byte 3|iconv"},
    {"SweepInARun", "sweep --out a", 1,
     "cannot write a sweep to a: it is a run|name another folder"},
    {"BestOfATaskWithoutFile", "eval a --best", 1, "last parameters alone|file"},
    {"SampleOfManyTargets", "sample a", 1, "one target|text, copy"},
    {"RunExists", "train --out a", 1, "a: it already exists|--force"},
    {"ForceOnAFolderThatIsNoRun", "train --out photos --force", 1, "no run|photos"},
    {"ForceOnAFile", "train --out plain --force", 1, "plain"},
    {"OutBelowAFile", "train --out plain/b", 1, "plain/b"},
    {"OutOnADevice", "train --out /dev/null", 1, "/dev/null"},
    {"PruneOntoARun", "prune a --keep 1 --out photos", 1, "photos: it already exists"},
    {"PageIntoNoFolder", "page a --out no/such/folder.html", 1, "no/such"},
    {"PageOfNoRun", "page nothing", 1, "no run found in 'nothing'"},
    {"TaskOfShow", "show relatoins", 2, "'relations'"},
    {"LinesOfVectors", "show patches --write x", 1, "gives vectors|lines of a file hold tokens"},
    {"SampleOfUnknownTokens", "sample a --prompt x", 1, "unknown token 'x'"},
};
INSTANTIATE_TEST_SUITE_P(Files, Mistakes, testing::ValuesIn(kFiles), name_of_mistake);

/// Words of everyday language: the hint is the command that was meant.
const std::vector<Mistake> kMeant = {
    {"Plot", "plot", 2, "unknown command 'plot'|headlab page RUN"},
    {"Visualize", "visualize a", 2, "headlab page RUN"},
    {"Test", "test", 2, "headlab eval RUN"},
    {"Generate", "generate a", 2, "headlab sample RUN"},
    {"FineTune", "fine-tune --steps 3", 2, "headlab train"},
    {"KnockOut", "Knock-out a", 2, "headlab ablate RUN"},
    {"RunFirst", "a heads", 2, "unknown command 'a'|headlab page a"},
    {"TaskFirst", "relations", 2, "headlab show relations"},
    {"ListFirst", "methods", 2, "headlab list methods"},
    {"CommandAsAFlag", "heads a --pattern", 2,
     "unknown flag '--pattern': it is a command|headlab pattern RUN"},
    {"CommandAsAFlagWithoutARun", "heads a --page", 2, "headlab page RUN"},
    {"HeadOfAnotherCommand", "heads a --head 0.1", 2, "headlab pattern RUN --head 0.1"},
    {"KeepOfAnotherCommand", "train --keep 4", 2, "headlab prune RUN --keep 4"},
    {"TokensWithoutSpaces", "pattern a --input abc", 2, "put spaces between tokens|'a b c'"},
    {"PromptWithoutSpaces", "sample a --prompt ba", 2, "--prompt 'b a'"},
    {"CorruptedWithoutSpaces", "patch a --input a --corrupted ab", 2, "--corrupted 'a b'"},
    {"PromptWithoutItsFlag", "sample a Once upon", 2,
     "unexpected argument 'Once'|headlab sample a --prompt 'Once upon'"},
    {"InputWithoutItsFlag", "pattern a 0.1 ab", 2, "headlab pattern a 0.1 --input ab"},
    {"HeadWithoutItsFlag", "ablate a 0.1 --pairs", 2, "headlab ablate a --pairs --head 0.1"},
    {"WithoutWithoutItsFlag", "eval a 0.1,0.2", 2, "headlab eval a --without 0.1,0.2"},
    {"NumberWithoutItsFlag", "prune a 2", 2, "headlab prune a --keep 2"},
    {"FolderWithoutItsFlag", "export a b --to npz", 2, "headlab export a --to npz --out b"},
    {"RangeOfHeads", "sweep --heads 1-8", 2, "--heads 1,2,3,4,5,6,7,8"},
    {"RangeOfSeeds", "sweep --seed 3..0", 2, "--seed 3,2,1,0"},
    {"RangeInAList", "curve a --sizes 1,3:4", 2, "--sizes 1,3,4"},
    {"RangeOfNamedHeads", "ablate a --head 0.1-0.3", 2, "--head 0.1,0.2,0.3"},
    {"RangeOfOneRun", "train --heads 1-3", 2, "headlab sweep --heads 1,2,3"},
    {"RangeInBraces", "sweep --heads {1..4}", 2, "--heads 1,2,3,4"},
    {"LongRange", "sweep --steps 1-1000", 2, "list the numbers: --steps 1,2,3"},
    {"FileOfARun", "eval a/config.json", 1, "headlab eval a"},
    {"ModelOfAHub", "import gpt2", 1, "there is no such folder or file|hf download gpt2"},
    {"ModelOfAnOrganisation", "import EleutherAI/pythia-70m --out b", 1,
     "hf download EleutherAI/pythia-70m --local-dir pythia-70m"},
    {"AddressOfAModel", "import https://huggingface.co/a/b/tree/main", 1, "hf download a/b "},
    {"ImportOfNoFolder", "import ./b", 1, "no such folder or file|config.json"},
    {"ImportWithoutOut", "import a", 2, "headlab import a --out runs/a-imported"},
    {"OneArm", "compare a", 2, "headlab compare a group/one"},
    {"OneArmWithAMeasure", "compare a --measure accuracy", 2, "headlab compare a group/one"},
};
INSTANTIATE_TEST_SUITE_P(Meant, Mistakes, testing::ValuesIn(kMeant), name_of_mistake);

class FoldersOfRuns : public Program {
 protected:
  FoldersOfRuns() {
    done(tiny({"--out", "group/one"}));
    fs::copy(folder.path() / "group" / "one", folder.path() / "group" / "two");
  }
};

TEST_F(FoldersOfRuns, AreAnsweredWithTheirRunsByEveryCommand) {
  const std::map<std::string, std::string> more = {{"prune", " --keep 1"},
                                                   {"export", " --to npz --out b"}};
  std::vector<std::string> lines = {"explain attention group", "cost --model group",
                                    "train --from group", "train --resume group"};
  for (const Command& command : commands()) {
    const bool takes_run =
        !command.positionals.empty() &&
        std::ranges::count(command.positionals[0].names, "RUN", &Placeholder::name) > 0;
    const auto flags = more.find(command.name);
    if (takes_run) {
      lines.push_back(text(command.name, " group", flags == more.end() ? "" : flags->second));
    }
  }
  EXPECT_GT(lines.size(), 20u);
  for (std::string line : lines) {
    SCOPED_TRACE(line);
    const Outcome outcome = run(typed(line));
    line.replace(line.find("group"), 5, "group/one");
    expect_refused(outcome, 1, {"no run found in 'group'", "`headlab " + line + "`", "group/two"});
  }
}

TEST(OtherNames, NameEachWordOnceAndNoCommand) {
  std::set<std::string> words;
  for (const OtherNames& row : other_names()) {
    for (const std::string& word : row.words) {
      EXPECT_TRUE(words.emplace(word).second) << word;
      EXPECT_EQ(std::ranges::count(commands(), word, &Command::name), 0) << word;
    }
  }
  EXPECT_GT(words.size(), 200u);
}

TEST(OtherNames, LeadToACommand) {
  for (const OtherNames& row : other_names()) {
    const std::string& word = row.words[0];
    const Command* meant = command_meant_by(word);
    ASSERT_NE(meant, nullptr) << word;
    EXPECT_EQ(meant->name, row.command) << word;
  }
}

using Failures = Program;

TEST_F(Failures, AreOneJsonObjectIfJsonIsAsked) {
  done(tiny({"--out", "a"}));
  for (const auto& [line, status] : {std::pair{"page nothing --json", 1},
                                     {"eval a --json --examples 0", 2},
                                     {"--json pattern a 0.01", 2},
                                     {"nonsense --json", 2},
                                     {"heads a --nonsense --json", 2},
                                     {"prune a --keep 1 --out a --json", 1}}) {
    const Outcome outcome = run(typed(line));
    EXPECT_EQ(outcome.status, status) << line;
    const Json json = outcome.json();
    const std::string error = json.at("error").string();
    EXPECT_TRUE(holds(outcome.err, "error: " + error + "\n")) << error;
    EXPECT_TRUE(holds(outcome.err, json.at("hint").string())) << outcome.err;
    EXPECT_EQ(json.at("status").integer(), status);
  }
  EXPECT_EQ(run({"page", "nothing"}).out, "") << "only if it is asked for";
}

TEST_F(Failures, FailedFileAfterTheResultLeavesOneJsonObject) {
  done(tiny({"--out", "a"}));
  const Outcome outcome = run({"pattern", "a", "--grid", "--json", "--svg", "none/p.svg"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.json().find("patterns"), nullptr);
}

using Force = Program;

TEST_F(Force, ReplacesARunAndNothingElse) {
  done(tiny({"--out", "a"}));
  done({"heads", "a"});
  write_file(folder.path() / "a" / "notes.txt", "mine");
  write_file(folder.path() / "a" / "report.html", "mine too");
  done(tiny({"--out", "a", "--heads", "2", "--force"}));
  EXPECT_EQ(Json::parse(file("a/config.json")).at("heads").integer(), 2);
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "heads.json")) << "it spoke of the old run";
  EXPECT_EQ(file("a/notes.txt"), "mine");
  EXPECT_EQ(file("a/report.html"), "mine too") << "nothing here writes such a file";
}

TEST_F(Force, ChangesNothingWhenTheNewRunIsImpossible) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path());
  EXPECT_EQ(run(tiny({"--out", "a", "--heads", "17", "--force"})).status, 2);
  EXPECT_EQ(contents(folder.path()), before);
}

TEST_F(Force, DoesNotPruneARunOntoItself) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path());
  const Outcome outcome = run({"prune", "a", "--keep", "1", "--out", "./a", "--force"});
  EXPECT_EQ(outcome.status, 1);
  expect_parts(outcome.err, {"error: cannot write the pruned run to ./a: it is the run itself"});
  EXPECT_EQ(contents(folder.path()), before);
}

TEST_F(Force, AFolderWithoutPermissionIsLeftAlone) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  make_directories(folder.path() / "locked");
  fs::permissions(folder.path() / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(run(tiny({"--out", "locked/a"})), 1, {"locked/a"});
}

TEST_F(Force, UnwrittenResultGetsAHintWithFlagsOfTheCommand) {
  done(tiny({"--out", "a"}));
  make_directories(folder.path() / "a" / "curve.json");
  const Outcome outcome = run({"curve", "a", "--methods", "random", "--sizes", "2"});
  EXPECT_EQ(outcome.status, 1);
  expect_parts(outcome.err, {"hint: make the run's folder writable"});
}

using Diverging = Program;

TEST_F(Diverging, SaysWhereAndWhatToTryAndKeepsTheLastSave) {
  const Words words =
      tiny(typed("--out a --optimizer sgd --lr 1000 --clip 0 --warmup 0 --steps 2000"));
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  expect_parts(outcome.err, {"error: cannot go on training: the ", " is not finite at step ",
                             "gradient of ", "hint: ", "--lr"});
  done({"eval", "a"});
}

}  // namespace
}  // namespace headlab::cli
