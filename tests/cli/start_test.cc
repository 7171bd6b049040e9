// The tour of `headlab start`: each sentence is compared with the files of the run that it
// describes, runs of the user are safe, and a terminal waits for Enter between the steps.
#include <regex>

#include "program.h"

namespace headlab::cli { namespace {

const std::string kLastLine =
    "\nTo watch heads find their roles in a browser: headlab page --playground";

class Start : public Program {
 protected:
  static std::string head_of(const Json& pair) {
    return text(pair.items()[0].integer(), ".", pair.items()[1].integer());
  }
  static std::string percent(double share) { return fixed(100 * share, 2) + "%"; }

  /// The sentence after step `number`, from 1.
  static std::string after(const Json& tour, std::size_t number) {
    return tour.at("steps").items()[number - 1].at("after").string();
  }
};

TEST_F(Start, SentencesSayWhatTheFilesOfTheRunHold) {
  const Json tour = done({"start", "--json"}).json();
  ASSERT_EQ(tour.at("steps").items().size(), 6u);
  const std::string metrics = file("runs/start/metrics.jsonl");
  const std::vector<std::string_view> log = split(metrics, '\n');
  const Json trained = Json::parse(log[log.size() - 2]);
  EXPECT_GE(trained.at("accuracy").number(), 0.99);
  expect_parts(after(tour, 2),
               {"has learned the task: ", percent(trained.at("accuracy").number()),
                "the loss is " + significant(trained.at("loss").number()) + " nats"});

  std::vector<std::string> owners;
  const Json scores = kept("runs/start/heads.json");
  for (const Json& relation : scores.at("relations").items()) {
    EXPECT_TRUE(relation.at("owned").boolean()) << relation.at("name").string();
    owners.push_back(head_of(relation.at("owner")));
    expect_parts(after(tour, 3), {owners.back() + " of " + relation.at("name").string()});
  }
  EXPECT_FALSE(holds(after(tour, 3), "No head owns"));
  const Json twice = done({"heads", "runs/start", "runs/start", "--json"}).json();
  for (const Json& relation : twice.at("relations").items()) {
    EXPECT_EQ(relation.at("owned"), Json(1)) << "its share of the two runs";
  }

  double most = 0;
  std::string costliest;
  const Json ablation = kept("runs/start/ablation.json");
  for (const Json& head : ablation.at("heads").items()) {
    if (head.at("change").number() <= most) continue;
    most = head.at("change").number();
    costliest = text(head.at("layer").integer(), ".", head.at("head").integer());
  }
  expect_parts(after(tour, 4),
               {"Head " + costliest + " costs most:", "by " + significant(most) + " nats"});
  for (const Json& head : ablation.at("heads").items()) {
    const std::string name = text(head.at("layer").integer(), ".", head.at("head").integer());
    const std::string cheap = after(tour, 4).substr(after(tour, 4).find("1% of that"));
    EXPECT_EQ(holds(cheap, name), head.at("change").number() < 0.01 * most) << name;
  }

  const Json pruned = kept("runs/start-pruned/prune.json");
  std::size_t among = 0;
  for (const Json& head : pruned.at("kept").items()) {
    among += std::ranges::count(owners, head_of(head)) > 0 ? 1 : 0;
    expect_parts(after(tour, 5), {head_of(head)});
  }
  const Json &before = pruned.at("before"), &then = pruned.at("after");
  EXPECT_GE(then.at("accuracy").number(), 0.99);
  expect_parts(after(tour, 5), {text("These ", pruned.at("kept").items().size(), " heads are left"),
                                text(among, " of the ", owners.size(), " owners"),
                                significant(before.at("loss").number()) + " to " +
                                    significant(then.at("loss").number()),
                                percent(before.at("accuracy").number()) + " to " +
                                    percent(then.at("accuracy").number())});

  const fs::path page = fs::canonical(folder.path()) / "runs" / "start" / "report.html";
  EXPECT_TRUE(fs::exists(page));
  expect_parts(after(tour, 6), {"\nThe page: " + page.string() + "\nTo open it: "});
  expect_parts(after(tour, 6), {"open " + page.string() + kLastLine});
  EXPECT_TRUE(after(tour, 6).ends_with(kLastLine));
}

/// The number of columns of each table in a text: a table has a line of dashes below its titles.
std::vector<std::size_t> columns_in(const std::string& shown) {
  std::vector<std::size_t> counts;
  for (const std::string_view line : split(shown, '\n')) {
    if (!line.starts_with("--") || line.find_first_not_of("- ") != line.npos) continue;
    std::istringstream dashes{std::string(line)};
    std::size_t count = 0;
    for (std::string one; dashes >> one;) ++count;
    counts.push_back(count);
  }
  return counts;
}

TEST_F(Start, ShowsFewColumnsHowToLeaveAndHowToOpenThePage) {
  const Outcome tour = done({"start", "--quiet"});
  EXPECT_TRUE(tour.out.starts_with("A tour in 6 steps.")) << tour.out;
  EXPECT_LT(tour.out.find("Ctrl-C leaves"), tour.out.find('\n'));
  EXPECT_EQ(columns_in(tour.out), (std::vector<std::size_t>{5, 3, 4, 3, 4}));
  const fs::path page = fs::canonical(folder.path()) / "runs" / "start" / "report.html";
  EXPECT_TRUE(fs::exists(page));
  EXPECT_TRUE(tour.out.ends_with("open " + page.string() + kLastLine + "\n\n")) << tour.out;
  EXPECT_TRUE(holds(tour.out, "headlab start english"));
  const Json scores = kept("runs/start/heads.json");
  for (const Json& relation : scores.at("relations").items()) {  // the table names the owners
    EXPECT_TRUE(std::regex_search(tour.out, std::regex(relation.at("name").string() + " +" +
                                                       head_of(relation.at("owner")) + " +")))
        << tour.out;
  }
}

TEST_F(Start, TellsTheSecondExampleInWords) {
  const Outcome tour = done({"start", "english", "--quiet"});
  expect_parts(tour.out, {"goes on with \"are\"", "$ headlab show english", "next word",
                          "runs/start-english-pruned", "own 4 questions"});
  for (const std::size_t columns : columns_in(tour.out)) EXPECT_LE(columns, 5u);
  const Json scores = kept("runs/start-english/heads.json");
  for (const Json& relation : scores.at("relations").items())
    EXPECT_TRUE(relation.at("owned").boolean()) << relation.at("name").string();
  expect_refused(run({"start", "latin"}), 2,
                 {"cannot show the tour of 'latin': there is none", "relations, english"});
}

TEST_F(Start, ReplacesItsOwnRunsWithoutWaitingInAPipe) {
  done({"start", "--out", "own/tour/"});
  const Outcome again = done({"start", "--out", "own/tour", "--quiet"});
  EXPECT_EQ(again.err, "");
  for (const char* command : {"show", "train", "heads", "ablate", "prune", "page"})
    EXPECT_TRUE(holds(again.out, std::string("\n$ headlab ") + command + " ")) << again.out;
  EXPECT_TRUE(fs::exists(folder.path() / "own" / "tour-pruned" / "prune.json"));
}

TEST_F(Start, RefusesRunsThatItDidNotMake) {
  done(tiny({"--out", "runs/start"}));
  done(tiny({"--out", "b-pruned"}));
  done({"start", "--out", "c", "--quiet"});
  done({"train", "--resume", "c", "--steps", "601"});
  fs::create_directories(folder.path() / "d");
  write_file(folder.path() / "d" / "notes.txt", "mine");
  const auto before = contents(folder.path());
  for (const Words& words : {Words{"start"},
                             {"start", "--out", "b"},
                             {"start", "--out", "c"},
                             {"start", "--out", "d"},
                             {"start", "--json"}})
    expect_refused(run(words), 1, {"cannot write the tour's run to ", "did not make", "--out DIR"});
  EXPECT_EQ(contents(folder.path()), before);
}

TEST_F(Start, WaitsForEnterBetweenStepsOnATerminal) {
  Process tour({"start"}, {.folder = folder.path(), .terminal = true, .keyboard = true});
  ASSERT_TRUE(tour.wait_for_shown("press Enter for step 2 of 6, Ctrl-C to leave"));
  EXPECT_FALSE(tour.ends_within(300));
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
  tour.type("\n");
  ASSERT_TRUE(tour.wait_for_shown("press Enter for step 3 of 6"));
  EXPECT_TRUE(fs::exists(folder.path() / "runs" / "start" / "config.json"));
  tour.signal(SIGINT);
  EXPECT_EQ(tour.finish().status, 130);
  const Outcome quiet =
      run({"start", "--out", "q", "--quiet"}, {.terminal = true, .keyboard = true});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_FALSE(holds(quiet.out, "press Enter"));
}

}  // namespace
}  // namespace headlab::cli
