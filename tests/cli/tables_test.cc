// Tables: every column of every command can be looked up, every table can be had for other
// programs, and lists of tasks, runs and words. Read next: words_test.cc.
#include <algorithm>
#include <set>

#include "cli/program.h"
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

class Tables : public Program {
 protected:
  /// Returns what `explain` says about a word, on one line.
  std::string explained(const std::string& word) {
    std::string said = done({"explain", word}).out;
    std::ranges::replace(said, '\n', ' ');
    const auto is_space_pair = [](char a, char b) { return a == ' ' && b == ' '; };
    said.erase(std::ranges::unique(said, is_space_pair).begin(), said.end());
    return said;
  }
};

/// Commands on a run `a`, in an order in which each finds what it needs; then `more`.
std::vector<Words> analyses_and(const std::vector<Words>& more) {
  std::vector<Words> all;
  for (const char* line :
       {"ablate a --examples 30", "ablate a --examples 30 --pairs",
        "ablate a --examples 30 --truth-edges", "circuits a", "attribute a --examples 16",
        "patch a --examples 16", "prune a --keep 2 --method random --out b --force",
        "curve a --methods random"})
    all.push_back(typed(line));
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(Tables, HaveColumnsThatAreExplainedInEveryFormat) {
  done(tiny({"--out", "a", "--track-heads", "10"}));
  for (const Words& words : analyses_and({{"history", "a"}, {"cost"}})) {
    const auto said = [&](const Words& more) { return done(with(words, more)).out; };
    const Json json = Json::parse(said({"--json"}));
    if (json.find("tables") == nullptr) continue;
    for (const Table& table : result_of(json).tables) {
      const std::string csv = said({"--csv", "--table", table.name});
      EXPECT_EQ(std::ranges::count(csv, '\n'), std::ssize(table.rows) + 1) << csv;
      EXPECT_EQ(csv.find_first_of("*[]"), csv.npos) << csv;  // numbers and words, not signs
      EXPECT_TRUE(said({"--latex", "--table", table.name}).starts_with("\\begin{tabular}"));
      for (const Column& column : table.columns) {
        if (column.meaning.empty()) continue;
        EXPECT_TRUE(holds(explained(column.title), "(a column of ")) << column.title;
      }
    }
  }
}

/// Commands that print a table or long texts, of the runs a and b.
constexpr std::string_view kPrinting =
    "heads a --examples 30 --all|pattern a 0.1|"
    "pattern a --grid|history a|heads a --scores|ablate a --examples 30|"
    "ablate a --examples 30 --pairs|ablate a --examples 30 --truth-edges|circuits a|"
    "attribute a --examples 16|patch a --examples 16|curve a --examples 16|"
    "curve s/heads=4 --examples 16 --finetune 1 --from-scratch|"
    "runs .|eval a|explain attention a|page a --check|show text|"
    "bench --steps 2|prune a --keep 2 --out p --measure|"
    "prune a --remove 0.1 --out q|compare a q";

TEST_F(Tables, FitTheTerminal) {
  done(tiny({"--out", "a", "--track-heads", "10"}));
  done(tiny({"--out", "b", "--seed", "1"}));
  Words grid = tiny({"--out", "s", "--heads", "4", "--seeds", "2"});
  grid[0] = "sweep";
  std::vector<Words> all = {grid};
  for (const std::string_view line : split(kPrinting, '|')) all.push_back(typed(std::string(line)));
  for (const Words& words : all) {
    std::istringstream lines(done(words).out);
    for (std::string line; std::getline(lines, line);)  // what one may copy stays on one line
      EXPECT_TRUE(holds(line, "headlab ") || display_width(line) <= 80) << words[0] << ": " << line;
  }
}

TEST_F(Tables, EndWithACommandThatIsFoldedWhereItDoesNotFit) {
  done(tiny({"--out", "a"}));
  std::set<std::ptrdiff_t> lines_of_command;
  for (std::size_t length = 38; length < 52; ++length) {  // lines of 75 to 88 columns
    const std::string name(length, 'r');
    fs::remove_all(folder / name);
    fs::copy(folder / "a", folder / name);
    const std::string out = done({"eval", name, "--examples", "8"}).out;
    const std::string command = out.substr(out.find("command: "));
    lines_of_command.insert(std::ranges::count(command, '\n'));
    std::istringstream lines(command);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << line;
  }
  EXPECT_EQ(lines_of_command, (std::set<std::ptrdiff_t>{1, 2}));
}

TEST_F(Tables, AreExplainedInAtMostTwoLinesBelow) {
  done(tiny({"--out", "a"}));
  EXPECT_TRUE(holds(done({"eval", "a"}).out, "loss: held out, in nats per target: 0 is perfect"));
  for (const char* word :
       {"query", "softmax", "nats", "ground truth", "d_model", "residual stream"})
    EXPECT_TRUE(holds(done({"explain", word}).out, std::string(word) + ": ")) << word;
  for (const char* flag : {"permutations", "keep", "gate-steps", "methods", "track_heads"})
    EXPECT_TRUE(holds(explained(flag), "(a flag of ")) << flag;
  EXPECT_EQ(run({"explain", "lifft"}).status, 2);
}

TEST_F(Tables, OfHeadsFitAScreenUnlessTheCallAsksForMore) {
  done(tiny({"--out", "a"}));
  const std::string lift = "\nlift: attention mass above the baseline";
  const std::string every_head = "head  entropy  focus";
  const std::string few = done({"heads", "a", "--examples", "16"}).out;
  EXPECT_LE(std::ranges::count(few, '\n'), 24) << few;
  EXPECT_TRUE(holds(few, "every head: --all; meanings of the columns: --explain")) << few;
  EXPECT_FALSE(holds(few, lift) || holds(few, every_head)) << few;
  const std::string explained = done({"heads", "a", "--examples", "16", "--explain"}).out;
  EXPECT_TRUE(holds(explained, lift) && holds(explained, "\nbest head: ")) << explained;
  EXPECT_FALSE(holds(explained, every_head)) << explained;
  const std::string all = done({"heads", "a", "--examples", "16", "--all"}).out;
  EXPECT_TRUE(holds(all, every_head) && !holds(all, lift)) << all;
}

TEST_F(Tables, AreForOtherProgramsToo) {
  done(tiny({"--out", "a"}));
  const std::string csv = done({"eval", "a", "--csv"}).out;
  EXPECT_TRUE(csv.starts_with("name,loss,accuracy,count\n")) << csv;
  const std::string latex = done({"eval", "a", "--latex"}).out;
  EXPECT_TRUE(latex.starts_with("\\begin{tabular}{lrrr}\n\\toprule\ntarget & loss")) << latex;
  EXPECT_TRUE(done({"heads", "a", "--examples", "16", "--csv", "--table", "heads"})
                  .out.starts_with("layer,head,entropy,focus,rows,scores_back1_mass,"));
  EXPECT_TRUE(done({"list", "tasks", "--csv"}).out.starts_with("name,summary,usage\nrelations,"));
  EXPECT_TRUE(done({"pattern", "a", "0.1", "--csv"}).out.starts_with("query,"));
  expect_parts(done({"heads", "a", "--examples", "16", "--csv"}).err,
               {"note: this is the first table; --table names another: "});
  const std::string before = file("a/heads.json");
  EXPECT_EQ(run({"heads", "a", "--examples", "17", "--csv", "--table", "nothing"}).status, 2);
  EXPECT_EQ(file("a/heads.json"), before);
}

TEST_F(Tables, ShowEveryTask) {
  const Json tasks = done({"list", "tasks", "--json"}).json();
  for (const Json& row : tasks.at("tasks").items()) {
    const std::string task = row.at("name").string();
    const Json& learned = row.at("learned");
    EXPECT_TRUE(learned.is_null() || learned.at("accuracy").number() >= 0.99) << task;
    EXPECT_TRUE(learned.is_null() || !learned.at("why").string().empty() ||
                learned.at("reached").number() >= 0.99 * learned.at("seeds").number())
        << task;
    const Outcome shown = done({"show", task});
    EXPECT_TRUE(holds(shown.out, task == "command" ? "{\"count\": 64, \"seed\"" : "position"))
        << task;
  }
}

TEST_F(Tables, NameEveryFaultOfAFile) {
  const std::string fault = R"({"tokens":["a","b"],"targets":["b"],"truth":{"r":{"0":[1]}}})";
  std::string lines;
  for (int i = 0; i < 25; ++i) lines += fault + "\n";
  write_file(folder.path() / "bad.jsonl", lines);
  const Outcome check = run({"show", "bad.jsonl", "--check"});
  EXPECT_EQ(check.status, 1);
  EXPECT_EQ(check.err, "");
  expect_parts(check.out, {"sequences: 0\nfaults: 25\n", "\nbad.jsonl:20: truth: r: query 0 cannot",
                           "\nand 5 more\n"});
  EXPECT_FALSE(holds(check.out, "bad.jsonl:21"));
  EXPECT_EQ(run({"show", "bad.jsonl", "--check", "--json"}).json().at("faults").items().size(),
            25u);
  write_file(folder.path() / "one.jsonl",
             R"({"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"0":[0]}}})");
  expect_parts(run({"show", "one.jsonl", "--check"}).out, {"truth but no target: 1\n"});
  write_file(folder.path() / "one.jsonl", fault);
  EXPECT_TRUE(holds(run({"show", "one.jsonl", "--check"}).out, "faults: 1\n"));
}

TEST_F(Tables, SayWhatDataIs) {
  const Outcome train =
      done(typed("train --task file --steps 1 --d-model 8 --heads 1 --d-ff 0 --layers 1 --batch "
                 "2 --eval-examples 8 --out a"));
  for (const Outcome& outcome : {train, done({"eval", "a"})})
    expect_parts(outcome.out, {"data: ", "1200 sequences", " train, ", " validation, ", " test"});
  EXPECT_EQ(done({"eval", "a", "--json"}).json().at("data"),
            Json::parse(file("a/config.json"), "config.json").at("data"));
}

TEST_F(Tables, ListRuns) {
  done(tiny({"--out", "r/a"}));
  done({"ablate", "r/a", "--examples", "30"});
  done({"prune", "r/a", "--keep", "2", "--method", "random", "--out", "r/b"});
  done({"train", "--resume", "r/a", "--steps", "32"});
  const std::string runs = done({"runs", "r"}).out;
  expect_parts(runs, {"  32  32  ", "pruned from r/a", "ablation.json describes earlier weights"});
  EXPECT_EQ(done({"runs", "r", "--json"}).json().at("runs").items().size(), 2u);
  const std::string csv = done({"runs", "r", "--csv"}).out;
  expect_parts(csv, {",settings_lr,", ",settings_d_model,", ",\"relations:length=8,"});
}

TEST_F(Tables, ListRunsWhoseDataHasGone) {
  done({"show", "copy", "--write", "a.jsonl"});
  done(tiny({"--task", "file:train=a.jsonl", "--out", "r/a"}));
  fs::remove(folder.path() / "a.jsonl");
  const Outcome runs = done({"runs", "r", "--svg", "losses.svg"});
  EXPECT_EQ(runs.err, "");
  EXPECT_TRUE(holds(runs.out, "r/a"));
}

TEST_F(Tables, AreAllThatQuietProgramsSay) {
  const Outcome train = done(tiny({"--out", "a", "--quiet"}));
  EXPECT_EQ(train.err, "");
  EXPECT_TRUE(holds(train.out, "accuracy"));
  EXPECT_NE(run({"eval", "nowhere", "--quiet"}).err, "");
}

TEST_F(Tables, ArePatternsOfOnesOwnInput) {
  done(tiny({"--out", "a"}));
  const Json json = done({"pattern", "a", "0.1", "--input", "a b a c", "--json"}).json();
  EXPECT_EQ(json.at("tokens").dump(), R"(["a","b","a","c"])");
  EXPECT_EQ(done({"pattern", "a", "all", "--input", "a b a c", "--json"})
                .json()
                .at("patterns")
                .items()
                .size(),
            4u);
  const std::string shown = done({"pattern", "a", "0.1", "--input", "a b"}).out;
  EXPECT_TRUE(holds(shown, "your input")) << shown;
  EXPECT_TRUE(holds(shown, "ground truth: ")) << "the truth of these tokens: " << shown;
  done({"pattern", "a", "all", "--input", "a b", "--csv", "--table", "attention_weights.0.1"});
  done({"pattern", "a", "all", "--input", "a b a c", "--npy", "all.npy"});
  EXPECT_TRUE(holds(file("all.npy"), "'shape': (4, 4, 4, )"));
  done({"pattern", "a", "all", "--input", "a b a c", "--z", "z.npy"});
  EXPECT_TRUE(holds(file("z.npy"), "'shape': (4, 4, 4, )"));  // heads, queries, d_value
  EXPECT_EQ(run({"heads", "a", "--z", "z.npy"}).status, 2);
  done({"heads", "a", "--examples", "16", "--npy", "mass.npy"});
  EXPECT_TRUE(holds(file("mass.npy"), "'shape': (4, 4, 16, )"));  // relations, heads, examples
  done({"eval", "a", "--examples", "16", "--npy", "loss.npy"});
  EXPECT_TRUE(holds(file("loss.npy"), "'shape': (16, 4, 2, )"));  // examples, targets
  expect_refused(run({"pattern", "a", "0.1", "--input", "a 77"}), 1, {"unknown token '77'"});
}

TEST_F(Tables, ContinueTheTokensOfAnyTask) {
  done(
      typed("train --task induction --steps 2 --d-model 8 --heads 1 --batch 4 --eval-examples 8 "
            "--out a"));
  const Outcome sample = done({"sample", "a", "--prompt", "a b", "--tokens", "3"});
  EXPECT_TRUE(sample.out.starts_with("a b ")) << sample.out;
  EXPECT_TRUE(holds(sample.err, "answers only some positions")) << sample.err;
}

TEST_F(Tables, SampleAnswersASourceAndStops) {
  const auto train = [&](const Words& task) {
    done(with_preset({"train", "--steps", "2", "--d-model", "8", "--heads", "1", "--batch", "4"},
                     task));
  };
  train(typed("--eval-examples 8 --task reverse_cross --out a"));
  const Outcome answer = done({"sample", "a", "--source", "c a b", "--temperature", "0"});
  EXPECT_TRUE(answer.out.starts_with("source: c a b\nanswer: | ")) << answer.out;
  EXPECT_EQ(std::ranges::count(answer.out, ' '), 3 + 1 + 9) << "all 10 positions: " << answer.out;
  EXPECT_TRUE(done({"sample", "a"}).out.starts_with("source: ")) << "a held-out one";
  const Json json = Json::parse(done({"sample", "a", "--stop", "|", "--json"}).out);
  EXPECT_TRUE(json.at("source").is_string());
  train(typed("--eval-examples 8 --task copy --out b"));
  const Words drawn = {"sample", "b", "--prompt", "a", "--tokens", "30"};
  const std::string all = done(drawn).out, third = all.substr(4, all.find(' ', 4) - 4);
  const std::string begins = done(with(drawn, {"--stop", third})).out;
  EXPECT_TRUE(begins.size() < all.size() && begins.ends_with(" " + third + "\n")) << begins;
  for (const auto& [words, why] :
       {std::pair<Words, std::string>({"--source", "a"}, "cannot use --source"),
        {{"--stop", "a b"}, "--stop 'a b': expected one token, got 2"},
        {{"--stop", "?"}, "unknown token '?'"},
        {{"--top-p", "0"}, "top_p"},
        {{"--top-p", "0.5", "--temperature", "0"},
         "--top-p cannot be combined with --temperature 0"}}) {
    const Outcome refused = run(with(drawn, words));
    EXPECT_NE(refused.status, 0);
    EXPECT_TRUE(holds(refused.err, why)) << refused.err;
  }
}

TEST_F(Tables, CurvesOfDifferentTasksAreRefused) {
  done(tiny({"--out", "a"}));
  done(
      typed("train --task copy --steps 1 --d-model 8 --heads 4 --batch 4 --layers 1 "
            "--eval-examples 8 --out b"));
  expect_refused(run({"curve", "a", "b", "--methods", "random"}), 2, {"trained on copy"});
}

/// Each key of the JSON, nested ones too, is among the words of the list; settings are elsewhere.
void expect_listed(const Json& json, const std::string& list, const std::string& where) {
  if (json.is_array())
    for (const Json& item : json.items()) expect_listed(item, list, where);
  if (!json.is_object()) return;
  std::string words = " back1 back3 back5 same " + list + " ";
  for (char& c : words) c = c == '(' || c == ')' || c == '.' ? ' ' : c;
  for (const auto& [key, value] : json.members()) {
    EXPECT_TRUE(holds(words, " " + key + " ")) << where << ": " << key;
    if (holds("others tables options settings", key) || holds(list, key + "(settings)")) continue;
    expect_listed(value, list, where + " " + key);
  }
}

TEST_F(Tables, ListFilesWithTheirKeys) {
  done(tiny({"--out", "a", "--track-heads", "10"}));
  for (const Words& words :
       analyses_and({{"heads", "a", "--examples", "16"},
                     {"prune", "a", "--keep", "2", "--out", "c", "--measure"}}))
    done(words);
  Words sweep = tiny({"--heads", "1,2", "--out", "s"});
  sweep[0] = "sweep";
  done(sweep);
  std::map<std::string, std::string> lists;
  const Json files = done({"list", "files", "--json"}).json();
  for (const Json& entry : files.at("files").items())
    if (const Json* usage = entry.find("usage")) lists[entry.at("name").string()] = usage->string();
  std::size_t compared = 0;
  for (const auto& [name, list] : lists)
    for (const std::string run : {"a/", "b/", "c/", "s/", "s/heads=1,seed=0/"}) {
      if (name == "config.json" || !fs::exists(folder / (run + name))) continue;
      ++compared;
      std::string all = list;
      for (const auto& [other, its] : lists)
        if (holds(list, "(as " + other)) all += " " + its;
      if (name.ends_with(".jsonl"))
        for (const Json& line : read_log(folder / (run + name))) expect_listed(line, all, name);
      else
        expect_listed(kept(run + name), all, name);
    }
  EXPECT_GE(compared, 17u);
}

TEST_F(Tables, FlagsThatOnlyShowAResultDoNotMakeAnother) {
  done(tiny({"--out", "a"}));
  const Words heads = {"heads", "a", "--examples", "16"};
  done(heads);
  done(with(heads, {"--all", "--scores", "--map", "--explain", "--json", "--threads", "1"}));
  const Json kept_heads = kept("a/heads.json");
  EXPECT_EQ(kept_heads.find("others"), nullptr);
  EXPECT_EQ(kept_heads.at("options").dump(), R"({"examples":16,"permutations":199,"npy":""})");
  done({"heads", "a", "--examples", "20"});
  EXPECT_EQ(kept("a/heads.json").at("others").items().size(), 1u) << "examples change it";
}

TEST_F(Tables, HaveARowForEachAnalysis) {
  done(tiny({"--out", "a"}));
  const std::string help = done({"--help", "all"}).out, files = done({"list", "files"}).out;
  EXPECT_FALSE(holds(files, "headlab headlab")) << files;
  ASSERT_GE(analyses().size(), 2u);
  done(typed("train --from a --steps 1 --out b"));  // which every analysis applies to
  for (const Analysis& one : analyses()) {
    done({one.name, "b", "--examples", "16"});
    const Result shape = one.shape();
    const std::vector<std::string> described = mapped(shape.tables, &Table::name);
    const Json stored = kept("b/" + one.file);
    for (const Json& table : stored.at("tables").items()) {
      EXPECT_EQ(std::ranges::count(described, table.at("name").string()), 1) << one.name;
    }
    EXPECT_TRUE(holds(help, "\n  " + one.name)) << help;
    EXPECT_TRUE(holds(files, "results of `" + one.name + "`")) << files;
  }
}

TEST_F(Tables, HaveACommandInTheirJson) {
  done(tiny({"--out", "a"}));
  for (const std::string line :
       {"list tasks", "explain lift", "show copy", "runs .", "eval a", "pattern a 0.1"}) {
    const Json json = done(typed(line + " --json")).json();
    EXPECT_NE(json.find("headlab"), nullptr) << line;
    EXPECT_TRUE(json.find("tables") != nullptr || !holds(line, " a")) << line;
    EXPECT_TRUE(holds(json.at("command").string(), "headlab " + line.substr(0, line.find(' '))));
  }
}

TEST_F(Tables, AreReadByTwentyLinesOfPython) {
  const PythonWith python = python_with("numpy", "NumPy");
  if (!python.reason.empty()) GTEST_SKIP() << python.reason;
  done(tiny({"--out", "a"}));
  done({"curve", "a", "--methods", "random"});
  done(typed("sweep --task copy --heads 1,2 --steps 2 --batch 4 --out s"));
  const std::string at = folder.path().string();
  EXPECT_EQ(std::system((python.program + " " HEADLAB_SOURCE_DIR "/examples/read_runs.py " + at +
                         "/a " + at + "/s > " + at + "/read.txt")
                            .c_str()),
            0);
  const std::string read = file("read.txt");
  expect_parts(read, {"blocks.0.attn.W_Q (16, 16)", "step 30: loss ", "random [", "heads=2 "});
}

}  // namespace
}  // namespace headlab::cli
