// Help, lists, versions, colours, and how words become settings.
#include "headlab/lab/results/words.h"
#include "app/cli/commands.h"
#include "app/cli/usual_flags.h"
#include "cli/program.h"
#include "headlab/app/cli/arguments.h"
#include "headlab/app/cli/command.h"
#include "headlab/lab/results/stored_json.h"
#include "support/errors.h"

namespace headlab::cli { namespace {

using Talk = Program;

TEST_F(Talk, HelpIsGivenInManyWays) {
  for (const Words& words : {Words{"-h"}, {"help"}, {}})
    EXPECT_EQ(done(words).out, done({"--help"}).out);
  for (const Command& command : commands()) {
    const Outcome help = done({command.name, "--help"});
    EXPECT_EQ(help.out.rfind(std::string("example: headlab ") + command.name, 0), 0u) << help.out;
    EXPECT_EQ(help.err, "");
    EXPECT_EQ(done({command.name, "-h"}).out, help.out);
    EXPECT_EQ(done({"help", command.name}).out, help.out);
  }
}

/// Each flag before one that is unknown: whatever is wrong with the value, the flag is not.
TEST_F(Talk, EveryFlagOfEveryHelpIsKnown) {
  std::size_t flags = 0;
  for (const Command& command : commands()) {
    std::istringstream help(done({command.name, "--help", "all"}).out);
    for (std::string line; std::getline(help, line);) {
      if (line.rfind("  --", 0) != 0) continue;
      const std::string flag = line.substr(2, line.find_first_of(" ", 2) - 2);
      const Outcome outcome = run({command.name, flag + "=@", "--nonsense"});
      EXPECT_NE(outcome.status, 0) << command.name << " " << flag;
      EXPECT_FALSE(holds(outcome.err, "unknown flag '" + flag)) << command.name << " " << flag;
      ++flags;
    }
  }
  EXPECT_GT(flags, 100u);
}

/// The short help and "N more" together are all flags and all commands.
TEST_F(Talk, ShortHelpCountsWhatItLeavesOut) {
  const auto lines_with = [](const std::string& text, const std::string& begin) {
    std::istringstream lines(text);
    std::ptrdiff_t count = 0;
    for (std::string line; std::getline(lines, line);) count += line.rfind(begin, 0) == 0;
    return count;
  };
  for (const std::string name : {"train", "sweep"}) {
    const std::string help = done({name, "--help"}).out;
    const auto more =
        lines_with(done({name, "--help", "all"}).out, "  --") - lines_with(help, "  --");
    EXPECT_GT(more, 20) << name;
    EXPECT_TRUE(holds(help, text("\n", more, " more: headlab ", name, " --help all\n"))) << help;
  }
  EXPECT_TRUE(holds(done({"--help"}).out,
                    text("\n", commands().size() - 12, " more: headlab --help all\n")));
}

/// A flag of the short help exists and has advice that fits on a line.
TEST_F(Talk, ShortHelpAdvisesInOneLine) {
  for (const std::string name : {"train", "sweep"}) {
    const std::vector<Flags::Usual> usual =
        name == "train" ? usual_flags_of_train() : usual_flags_of_sweep();
    const HelpWanted help = help_of(find_command(name));
    for (const Flags::Usual& flag : usual) {
      EXPECT_EQ(std::ranges::count(help.flags, flag.setting, &Setting::name), 1) << flag.setting;
      EXPECT_LE(flag.when.size(), 60u) << flag.when;
      EXPECT_FALSE(flag.when.empty());
    }
  }
}

TEST_F(Talk, HelpIsGivenWhateverElseIsThere) {
  EXPECT_TRUE(holds(done({"eval", "nowhere", "--wrong", "--help"}).out, "usage: headlab eval RUN"));
}

TEST_F(Talk, TheVersionIsOneLineWithTheBuild) {
  const Outcome outcome = done({"--version"});
  EXPECT_EQ(outcome.out, text("headlab ", version(), " (", build(), ")\n"));
  const Json json = done({"--version", "--json"}).json();
  EXPECT_EQ(json.at("headlab").string(), version());
  EXPECT_EQ(json.at("build").string(), build());
}

TEST_F(Talk, FlagsOfEveryCommandMayStandBeforeIt) {
  EXPECT_EQ(done({"--json", "list", "tasks"}).out, done({"list", "tasks", "--json"}).out);
  EXPECT_EQ(done({"--threads", "1", "list", "tasks"}).out, done({"list", "tasks"}).out);
}

TEST_F(Talk, BenchTakesHeadsThatAreLeft) {
  done({"bench", "--config", "toy", "--steps", "1", "--batch", "1", "--attention",
        R"({"blocks.0.attn":{"heads":[0,2]}})", "--json"});
}

/// Names from other programs: the answer is one suggestion.
TEST_F(Talk, NamesOfOtherProgramsAreAnsweredWithOwnNames) {
  const std::vector<std::pair<Words, std::string>> others = {
      {{"train", "--epochs", "3"}, "'--steps'"},
      {{"train", "--batch-size", "3"}, "'--batch'"},
      {{"sweep", "--learning-rate", "3"}, "'--lr'"},
      {{"heads", "-o", "f"}, "'--out'"},
      {{"train", "--step", "3"}, "'--steps'"},
      {{"-v"}, "'--version'"},
      {{"version"}, "'--version'"},
      {{"train", "relations"}, "--task relations?"},
      {{"train", "relation"}, "hint: headlab train --task"}};
  for (const auto& [words, ours] : others) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2) << words[0];
    expect_sentence(outcome.err, {ours});
    EXPECT_FALSE(holds(outcome.err, "known: ")) << outcome.err;
  }
}

TEST_F(Talk, PatternsOfPathsExpandThemselves) {
  for (const char* seed : {"1", "2"}) done(tiny({"--out", text("s/seed=", seed), "--seed", seed}));
  const Outcome both = done({"heads", "s/seed=?", "--examples", "16", "--json"});
  EXPECT_EQ(both.json().at("runs").dump(), R"(["s/seed=1","s/seed=2"])");
  EXPECT_EQ(both.json().at("command").string(), "headlab heads 's/seed=?' --examples 16");
  EXPECT_TRUE(holds(run({"heads", "s/seed=[9]"}).err, "no run found in 's/seed=[9]'"));
}

TEST_F(Talk, CommandsThatMakeAResultAgainAreFolded) {
  const std::string file = std::string(60, 'x') + ".json", other = "a name with blanks";
  done(tiny({"--out", other}));
  const std::string out =
      done({"heads", other, "--examples", "16", "--permutations", "199", "--out", file, "--scores"})
          .out;
  EXPECT_EQ(out.substr(out.find("command: ")),
            "command: headlab heads 'a name with blanks' --examples 16 --permutations 199 \\\n"
            "    --out " +
                file + " \\\n    --scores\n");
}

TEST_F(Talk, RedrawsItsProgressOnATerminal) {
  const Outcome train = run(tiny({"--out", "a"}), {.terminal = true});
  EXPECT_EQ(train.status, 0);
  expect_parts(train.out, {"\r\033[Kstep 1/30", "tokens/s"});
  const std::size_t table = train.out.find("loss  accuracy");
  ASSERT_NE(table, std::string::npos) << train.out;
  EXPECT_EQ(train.out.find("\r\033[K", table), std::string::npos)
      << "the line stays under the result";
}

TEST_F(Talk, RunningTextFitsANarrowTerminal) {
  for (const int columns : {44, 60, 80}) {
    for (const Words& words : {Words{"help"}, Words{"list", "tasks"}, Words{"list", "methods"},
                               Words{"explain", "lift"}, Words{"explain", "attention"}}) {
      SCOPED_TRACE(text(columns, ": ", join(words, " ")));
      const std::string out = run(words, {.terminal = true, .columns = columns}).out;
      EXPECT_GT(split(out, '\n').size(), 2U);
      for (std::string_view line : split(out, '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);             // a terminal's end of a line
        const bool is_command = line.find("headlab ") != line.npos;  // is copied as it is
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const bool is_one_word = line.find(' ', begin) == line.npos;
        if (is_command || is_one_word) continue;
        EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
      }
    }
  }
}

TEST_F(Talk, ShowsHowFarLongWorkIs) {
  done(tiny({"--out", "a"}));
  const Words words =
      typed("prune a --examples 16 --method l0 --gate-steps 900000 --keep 1 --out b");
  for (const bool quiet : {false, true}) {
    Words all = words;
    if (quiet) all.emplace_back("--quiet");
    Process process(all, {.folder = folder.path()});
    if (!quiet) {
      EXPECT_TRUE(process.wait_for(" left\n"));  // "... of 900000 done, 2000/s, 0:03 left"
    } else {
      EXPECT_FALSE(process.ends_within(2500));
    }
    process.signal(SIGKILL);
    const Outcome outcome = process.finish();
    EXPECT_EQ(holds(outcome.err, " of 900000 done, "), !quiet) << outcome.err;
    EXPECT_EQ(holds(outcome.err, "/s, "), !quiet) << outcome.err;
    EXPECT_EQ(outcome.err.empty(), quiet) << outcome.err;
  }
}

TEST_F(Talk, StopsQuietlyIfItsOutputIsClosed) {
  Process process({"list", "tasks"}, {.folder = folder.path(), .out_file = ""});
  const Outcome whole = process.finish();
  EXPECT_EQ(whole.status, 0);
  const std::string command = std::string(HEADLAB_PROGRAM) + " list tasks 2>&1 | head -n 1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  for (int byte = fgetc(pipe); byte != EOF; byte = fgetc(pipe)) out += static_cast<char>(byte);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(out, whole.out.substr(0, whole.out.find('\n') + 1));
}

TEST_F(Talk, AResultThatCannotBeWrittenIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const Words& words : {Words{"list", "tasks"}, Words{"--help"}, Words{"--version"},
                             Words{"list", "tasks", "--json"}}) {
    expect_refused(run(words, {.out_file = "/dev/full"}), 1, {"cannot write the result"});
  }
}

// ---- how words become settings
// -------------------------------------------------------------------

struct Options {
  std::int64_t count = 1;
  bool loud = false;
  std::string name;
  Settings settings() {
    Settings s;
    s.integer("some_count", count, 0, 9, "how many");
    s.boolean("loud", loud, "speak up");
    s.string("name", name, "who");
    return s;
  }
};

using Arguments = std::vector<Positional>;
const Positional kRun{.names = {{"RUN", ValueKind::run}}};
const Positional kMoreRuns{.names = kRun.names, .times = Positional::Times::repeated};

/// Options as a command parses them.
struct Call {
  Command command;
  Invocation invocation;
  Call(Options& options, const Words& words, const Arguments& positionals = {})
      : command{"example", "train", "a summary", "headlab example", positionals, nullptr},
        invocation(command, words) {
    invocation.read(options.settings());
  }
};

Words parse(Options& options, const Words& words, const Arguments& positionals = {}) {
  return Call(options, words, positionals).invocation.positionals();
}

TEST(Arguments, ValuesFollowOrAreJoined) {
  for (const Words& words : {Words{"--some-count", "3"}, Words{"--some-count=3"}}) {
    Options options;
    parse(options, words);
    EXPECT_EQ(options.count, 3);
  }
}

TEST(Arguments, SwitchesAreSetAndCleared) {
  Options options;
  for (const std::string_view line : split("--loud|--no-loud|--loud true|--loud false", '|')) {
    parse(options, typed(std::string(line)));
    EXPECT_EQ(options.loud, line == "--loud" || line == "--loud true") << line;
  }
}

TEST(Arguments, PositionalsStandAnywhere) {
  Options options;
  EXPECT_EQ(parse(options, {"a", "--loud", "b"}, {kRun, kRun}), (Words{"a", "b"}));
  EXPECT_EQ(parse(options, {"a", "--loud", "b"}, {kRun, kMoreRuns}), (Words{"a", "b"}));
}

TEST(Arguments, AreMissingOrTooManyOnlyWhereTheyAreCounted) {
  Options options;
  EXPECT_THROW(parse(options, {"a"}, {kRun, kRun}), UsageError);
  EXPECT_THROW(parse(options, {"a", "b"}, {kRun}), UsageError);
  EXPECT_EQ(parse(options, {}, {kMoreRuns}), Words{});
  const Positional shell{.choices = {"bash", "zsh"}, .times = Positional::Times::optional};
  EXPECT_EQ(parse(options, {}, {shell}), Words{});
  EXPECT_EQ(argument_form(shell), "[bash|zsh]");
  EXPECT_EQ(argument_form(kMoreRuns), "[RUN ...]");
}

TEST(Arguments, AFlagIsNoValue) {
  Options options;
  EXPECT_THROW(parse(options, {"--name", "--loud"}), UsageError);
  parse(options, {"--name=--loud"});
  EXPECT_EQ(options.name, "--loud");
}

TEST(Arguments, KnowWhatWasGiven) {
  Options options;
  const Call call(options, {"--some-count=3", "a", "--loud", "b"}, {kRun, kRun});
  EXPECT_TRUE(call.invocation.given("some_count"));
  EXPECT_TRUE(call.invocation.given("loud"));
  EXPECT_FALSE(call.invocation.given("name"));
}

TEST(Arguments, NameTheTaskOfAListAndTheListItself) {
  const Command command{"example", "train", "a summary", "headlab example", {}, nullptr};
  const Words words = {"--task", "copy,text:file=a,b"};
  const Words named = Invocation(command, words).tasks_named();
  EXPECT_EQ(named[0], "copy,text:file=a,b") << "a command that takes one task reads it so";
  EXPECT_EQ(std::ranges::count(named, "copy"), 1);
}

TEST(Arguments, CanBeGivenAgain) {
  Options options;
  const Words words = {"a b",    "--json", "--name",        "x", "--threads", "1",
                       "--loud", "c",      "--some-count=3"};
  const Call call(options, words, {kRun, kRun});
  EXPECT_EQ(call.invocation.again(), "headlab example 'a b' --name x --loud c --some-count=3");
}

TEST(Arguments, ErrorsOfTheLibraryNameFlags) {
  Options options;
  const Call call(options, {});
  EXPECT_EQ(call.invocation.in_flags("raise `some_count`, as `headlab help` says of `text`"),
            "raise --some-count, as `headlab help` says of `text`");
}

TEST_F(Talk, CompletesWhatMayStandNext) {
  for (const char* file : {"runs/full/config.json", "sweeps/a/heads=4,seed=0/config.json"}) {
    fs::create_directories((folder.path() / file).parent_path());
    write_file(folder.path() / file, "{}");
  }
  const std::pair<const char*, const char*> lines[] = {
      {"headlab hea", "heads\n"},
      {"headlab train --res", "--resume\n"},
      {"headlab train --heads 2 --norm ", "layer\nrms\nnone\n"},
      {"headlab train --norm=r", "--norm=rms\n"},
      {"headlab train --task reverse_", "reverse_cross\n"},
      {"headlab curve runs/full --methods greedy,exh", "greedy,exhaustive\n"},
      {"headlab sweep --positions rotary,l", "rotary,learned\n"},
      {"headlab heads ru", "runs/full\n"},
      {"headlab pattern runs/full a", "all\n"},
      {"headlab history ru", "runs/full\n"},
      {"headlab heads --examples 9 runs/", "runs/full\n"},
      {"headlab heads sweeps/a/heads=4,", "sweeps/a/heads=4,seed=0\n"},
      {"headlab bench --config to", "toy\ntokens\n"},
      {"headlab list m", "methods\n"},
      {"headlab train --quiet --task ", nullptr},
      {"headlab ", nullptr},
      {"headlab nonsense ", ""},
      {"headlab train --out sweeps/", "sweeps/a/heads=4,seed=0\n"}};
  for (const auto& [line, expected] : lines) {
    const std::string out = done({"completion", "words", line}).out;
    if (expected != nullptr)
      EXPECT_EQ(out, expected) << line;
    else
      EXPECT_GT(std::ranges::count(out, '\n'), 15) << line;
  }
}

TEST_F(Talk, BashCompletesPathsWithEqualsSigns) {
  if (const std::string reason = reason_without(kBash); !reason.empty()) GTEST_SKIP() << reason;
  fs::create_directories(folder.path() / "s" / "heads=4");
  write_file(folder.path() / "s" / "heads=4" / "config.json", "{}");
  write_file(folder.path() / "script", "headlab() { '" HEADLAB_PROGRAM "' \"$@\"; }\n" +
                                           done({"completion", "bash"}).out +
                                           "COMP_LINE='headlab eval s/heads='\n"
                                           "COMP_POINT=${#COMP_LINE}\n_headlab\n"
                                           "[[ \"${COMPREPLY[*]}\" == 4 ]]\n");
  const std::string call = "cd '" + folder.path().string() + "' && bash script";
  EXPECT_EQ(std::system(call.c_str()), 0);
}

TEST(Arguments, NegativeNumbersAreValues) {
  Options options;
  expect_error([&] { parse(options, {"--some-count", "-3"}); }, {"from 0 to 9, got -3"});
}

TEST(Arguments, WordsAreQuotedForTheShell) {
  EXPECT_EQ(shell_word("runs/a-b_c.d"), "runs/a-b_c.d");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
}

Output hello(Invocation& call) {
  call.read({});
  return {.json = stamped(), .text = "hello\n"};
}

TEST(OwnProgram, NamesItselfAndHasCommandsOfItsOwn) {
  const auto said = [](Words words, bool own) {
    std::vector<char*> values;
    for (std::string& word : words) values.push_back(word.data());
    Additions additions;
    if (own) additions.commands = {{"hello", "train", "greets", "headlab hello", {}, hello}};
    testing::internal::CaptureStdout();
    run_program(static_cast<int>(values.size()), values.data(), additions);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_TRUE(holds(said({"./mine", "--help"}, true), "\n  hello "));
  EXPECT_TRUE(holds(said({"./mine", "hello", "--help"}, true), "usage: ./mine hello"));
  EXPECT_TRUE(holds(said({"./mine", "hello", "--json"}, true), "\"command\": \"./mine hello\""));
  EXPECT_FALSE(holds(said({"headlab", "--help"}, false), "\n  hello "));
}

}  // namespace
}  // namespace headlab::cli
