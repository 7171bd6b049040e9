// `headlab page` as a user calls it: what it writes and says, what it leaves alone, and a sentence
// for everything that cannot be done, with the old page still there. The content of pages is tested
// in tests/report. Read next: src/app/cli/page.cc.
#include <regex>

#include "cli/program.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

using Pages = Program;

TEST_F(Pages, AreWrittenIntoTheRunAndNameMissingFiles) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path() / "a");
  expect_parts(done({"page", "a", "--no-measure"}).out,
               {"weights", "a/report.html", "headlab heads a", "headlab curve a",
                "--keep-weights 40 --out a-tracked && headlab page a-tracked",
                "command: headlab page a --no-measure\n"});
  EXPECT_EQ(file("a/report.html").rfind("<!doctype html>\n<!-- headlab page", 0), 0u);
  auto after = contents(folder.path() / "a");
  EXPECT_EQ(after.erase("report.html"), 1u);
  EXPECT_EQ(after, before);
}

/// A page measures what is cheap and missing, stores it as the commands would, and says so.
TEST_F(Pages, MeasureWhatIsMissingAndStoreIt) {
  done(tiny({"--out", "a"}));
  done(tiny({"--out", "b"}));
  const Json measured = done({"page", "a", "--json"}).json().at("measured");
  const Words commands[] = {{"heads", "b"},
                            {"ablate", "b"},
                            {"curve", "b", "--methods", "greedy"},
                            {"ablate", "b", "--pairs", "--examples", "512"}};
  ASSERT_EQ(measured.items().size(), std::size(commands));
  for (std::size_t i = 0; i < std::size(commands); ++i) {
    done(commands[i]);
    const std::string name = measured.items()[i].at("file").string();
    const Json by_page = Json::parse(file("a/" + name));
    const Json by_command = Json::parse(file("b/" + name));
    EXPECT_EQ(by_page.at("options"), by_command.at("options")) << name;
    EXPECT_EQ(by_page.at("command").string(),
              std::regex_replace(by_command.at("command").string(), std::regex(" b\\b"), " a"));
    EXPECT_EQ(measured.items()[i].at("said").string().substr(0, 9), "measured ");
  }
  EXPECT_TRUE(done({"page", "a", "--json"}).json().at("measured").items().empty()) << "once";
  done({"train", "--resume", "a", "--steps", "40"});
  EXPECT_EQ(done({"page", "a", "--json"}).json().at("measured").items().size(), 4u)
      << "results of earlier weights are missing too";
}

TEST_F(Pages, HoldResultsThatCannotBeKept) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path() / "a");
  const RunLock lock = lock_run(folder.path() / "a");
  const Json json = done({"page", "a", "--json", "--out", "page.html"}).json();
  ASSERT_EQ(json.at("measured").items().size(), 4u);
  for (const Json& one : json.at("measured").items()) {
    EXPECT_TRUE(holds(one.at("said").string(), "not kept: another process is writing the run"));
  }
  EXPECT_EQ(contents(folder.path() / "a"), before);
  std::size_t noted = 0;
  for (const Json& sentence : json.at("left_out").items()) {
    noted += holds(sentence.string(), "Measured for this page, and not kept in a");
  }
  EXPECT_EQ(noted, 4u);
  for (const Json& source : json.at("files").items()) {
    if (source.at("file").string() == "heads.json") {
      EXPECT_TRUE(source.at("present").boolean());
    }
  }
  EXPECT_TRUE(holds(file("page.html"), "\"divisions\"")) << "the page has the scores";
}

/// The page of a small model shows its training without being asked; the training stays the same.
TEST_F(Pages, SmallModelsKeepScoresAndWeightsOfTheirTraining) {
  done(tiny({"--out", "a", "--steps", "130"}));
  done(tiny({"--out", "b", "--steps", "130", "--track-heads", "0", "--keep-weights", "0"}));
  done(tiny({"--out", "c", "--steps", "20"}));
  const Json config = Json::parse(file("a/config.json"));
  EXPECT_EQ(config.at("track_heads").integer(), 64);
  EXPECT_EQ(config.at("keep_weights").integer(), 20);
  EXPECT_TRUE(fs::exists(folder.path() / "a" / "heads.jsonl"));
  EXPECT_FALSE(fs::exists(folder.path() / "b" / "heads.jsonl"));
  EXPECT_FALSE(fs::exists(folder.path() / "c" / "heads.jsonl")) << "too short to follow";
  const auto loss = [&](const char* run) {
    return done({"eval", run, "--json"}).json().at("loss").number();
  };
  EXPECT_EQ(loss("a"), loss("b")) << "not a bit of the training changes";
}

/// Analyses that take long are left out by their sizes, and their commands are named.
TEST_F(Pages, LeaveOutWhatTakesLong) {
  done(tiny({"--out", "a", "--heads", "8", "--layers", "8", "--d-model", "128", "--steps", "1"}));
  const Outcome page = done({"page", "a"});
  expect_parts(page.out, {"not measured, because it takes long: ", "headlab curve a"});
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "curve.json"));
}

TEST_F(Pages, NameEachMissingResultOnceAndReplaceNoRun) {
  done(tiny({"--out", "a"}));
  done(tiny({"--out", "b", "--seed", "1"}));
  const std::string shown = done({"page", "a", "b", "--check"}).out;
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = shown.find(part, at)) != shown.npos; ++at) ++found;
    return found;
  };
  for (const char* run : {"a", "b"})
    EXPECT_EQ(count(text("\n  headlab heads ", run, "\n")), 1u) << shown;
  EXPECT_EQ(count("--force"), 0u) << shown;
  // The command that it names for what is written in training leaves the run as it is.
  const auto before = contents(folder.path() / "a");
  done(typed("train --config a/config.json --track-heads 10 --keep-weights 40 --out a-tracked"));
  EXPECT_EQ(contents(folder.path() / "a"), before);
  const Json sources = done({"page", "a-tracked", "--json"}).json().at("files");
  for (const Json& source : sources.items())
    EXPECT_TRUE(source.at("present").boolean() || source.at("file").string() != "heads.jsonl");
}

TEST_F(Pages, NeedNoCommandForWhatIsThere) {
  done(tiny({"--out", "a", "--track-heads", "10", "--keep-weights", "5"}));
  for (const Words& words :
       {Words{"heads", "a"}, Words{"ablate", "a"}, Words{"ablate", "a", "--truth-edges"},
        Words{"attribute", "a"}, Words{"circuits", "a"}, Words{"patch", "a"}}) {
    done(words[0] == "circuits" ? words : with(words, {"--examples", "32"}));
  }
  const Json json = done({"page", "a", "--json"}).json();
  std::map<std::string, bool> present;
  for (const Json& source : json.at("files").items())
    present[source.at("file").string()] = source.at("present").boolean();
  for (const char* name :
       {"heads.json", "ablation.json", "truth_edges.json", "attribution.json", "circuits.json",
        "patching.json", "heads.jsonl", "snapshots.safetensors"})
    EXPECT_TRUE(present.at(name)) << name;
  EXPECT_TRUE(present.at("curve.json")) << "measured for the page";
  EXPECT_EQ(json.at("bytes").integer(), std::ssize(file("a/report.html")));
}

TEST_F(Pages, AreNotWrittenByCheck) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path());
  EXPECT_TRUE(holds(done({"page", "a", "--check"}).out, "headlab heads a"));
  EXPECT_TRUE(done({"page", "a", "--check", "--json"}).json().at("path").is_null());
  EXPECT_EQ(contents(folder.path()), before);
}

TEST_F(Pages, ShowPatternsWithoutWeights) {
  done(tiny({"--out", "a"}));
  const Json json = done({"page", "a", "--no-weights", "--examples", "3", "--json"}).json();
  std::vector<std::string> parts;
  for (const Json& part : json.at("parts").items()) parts.push_back(part.at("name").string());
  EXPECT_EQ(std::ranges::count(parts, "patterns"), 1);
  EXPECT_EQ(std::ranges::count(parts, "weights"), 0);
}

TEST_F(Pages, GoWithTheRunThatIsReplaced) {
  done(tiny({"--out", "a", "--keep-weights", "3"}));
  done({"page", "a"});
  write_file(folder.path() / "a" / "mine.html", "<p>notes</p>");
  done(tiny({"--out", "a", "--force"}));
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "report.html"));
  EXPECT_FALSE(fs::exists(folder.path() / "a" / "snapshots.safetensors"));
  EXPECT_TRUE(fs::exists(folder.path() / "a" / "mine.html"));
}

TEST_F(Pages, SweepPageShowsItsModels) {
  done(
      typed("sweep --task relations:length=8 --d-model 16 --heads 1,2 --seeds 2 --steps 3 --batch "
            "4 --eval-examples 8 --out s"));
  const Json json = done({"page", "s", "--json"}).json();
  EXPECT_EQ(json.at("path").string(), "s/report.html");
  std::vector<std::string> runs;
  for (const Json& source : json.at("files").items()) runs.push_back(source.at("run").string());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  EXPECT_EQ(runs, (Words{"s/heads=1,seed=0", "s/heads=2,seed=0"}));
}

TEST_F(Pages, SweepPageHoldsTheScoresOfItsTrials) {
  done(
      typed("sweep --task relations:length=8 --d-model 16 --heads 1,2 --seeds 2 --steps 3 --batch "
            "4 --eval-examples 8 --out s"));
  const std::string trial = "s/heads=2,seed=1";
  const Json kept = Json::parse(file(trial + "/heads.json"));
  EXPECT_EQ(kept.at("command").string(), "headlab heads " + trial);
  const Json page = done({"page", "s", "--json"}).json();
  for (const Json& source : page.at("files").items()) {
    if (source.at("file").string() == "heads.json") {
      EXPECT_TRUE(source.at("present").boolean()) << source.dump();
    }
  }
  done({"heads", trial});
  const Json again = Json::parse(file(trial + "/heads.json"));
  EXPECT_EQ(again.find("others"), nullptr) << "the usual options are those of the sweep";
  EXPECT_EQ(again.at("weights").string(), kept.at("weights").string());
}

TEST_F(Pages, WriteATextbookWithoutARun) {
  const Json plain = done({"page", "--textbook", "--no-weights", "--json"}).json();
  EXPECT_EQ(plain.at("path").string(), "textbook.html");
  EXPECT_TRUE(holds(file("textbook.html"), "<section id=\"lesson-vectors\""));
  EXPECT_EQ(run({"page"}).status, 2);
  EXPECT_EQ(run({"page", "a", "--textbook"}).status, 2);
}

/// The specs of the tasks in a page that trains.
std::vector<std::string> played(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"facts\">";
  const std::size_t begin = html.find(open) + open.size();
  const Json facts = Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  std::vector<std::string> specs;
  for (const Json& task : facts.at("tasks").items()) specs.push_back(task.at("spec").string());
  return specs;
}

TEST_F(Pages, TrainInTheBrowserWithoutARun) {
  const Json made = done({"page", "--playground", "--json"}).json();
  EXPECT_EQ(made.at("path").string(), "playground.html");
  EXPECT_LT(made.at("bytes").integer(), 700'000);
  const std::string html = file("playground.html");
  EXPECT_EQ(html.rfind("<!doctype html>\n<!-- headlab page", 0), 0u);
  const std::vector<std::string> specs = played(html);
  ASSERT_EQ(specs.size(), 4u);
  const char* names[] = {"relations:", "induction:", "sort:", "english:"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(specs[i].rfind(names[i], 0), 0u) << specs[i];
  done({"page", "--playground", "--out", "again.html"});
  EXPECT_EQ(played(file("again.html")), specs);
}

TEST_F(Pages, TrainInTheBrowserOnEveryTaskWithKnownKeys) {
  done({"show", "relations:length=8,vocab=6,classes=3,relations=1+same", "--write", "r.jsonl"});
  const std::string answers = R"sh(
echo '{"header": {"vocabulary": ["a", "b"], "length": 2, "relations": [{"name": "before"}]}}'
while read -r request; do
  count=${request#*:}
  count=${count%%,*}
  while [ "$count" -gt 0 ]; do
    echo '{"tokens": ["a", "b"], "targets": [null, "a"], "truth": {"before": {"1": [0]}}}'
    count=$((count - 1))
  done
done
)sh";
  write_file(folder / "lines.sh", answers);
  done({"page", "--playground", "copy,sort:symbols=6,shortest=3,longest=4", "file:train=r.jsonl",
        "command:sh lines.sh", "--out", "p.html"});
  const std::vector<std::string> specs = played(file("p.html"));
  ASSERT_EQ(specs.size(), 4u);
  const char* names[] = {"copy:", "sort:symbols=6,shortest=3,longest=4", "file:train=r.jsonl",
                         "command:sh lines.sh"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(specs[i].rfind(names[i], 0), 0u) << specs[i];
}

TEST_F(Pages, TrainInTheBrowserOnlyWithOneKeyForAQuery) {
  expect_parts(run({"page", "--playground", "histogram"}).err,
               {"cannot put task histogram", "a query of relation equal has 2 keys"});
  EXPECT_FALSE(fs::exists(folder / "playground.html"));
  for (const char* flag : {"--textbook", "--no-weights", "--examples=3", "--budget=2"}) {
    EXPECT_EQ(run({"page", "--playground", flag}).status, 2) << flag;
  }
}

}  // namespace
}  // namespace headlab::cli
