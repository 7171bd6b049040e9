// Each cell is made once, by any process; what fails or dies keeps no other from being made.
#include "headlab/train/cells.h"

#include <unistd.h>

#include <csignal>
#include <set>

#include "support/runs.h"

namespace headlab { namespace {

using Names = std::vector<std::string>;

class Cells : public testing::Test {
 protected:
  /// A cell that leaves a line in the file `log` each time that it is made.
  Cell cell(
      const std::string& name, std::function<void()> on_the_way = [] {}) {
    return {.name = name,
            .path = folder_ / name,
            .file = folder_ / (name + ".json"),
            .make = [=, log = folder_ / "log"] {
              on_the_way();
              append_line(log, name);
              return Json::object({{"name", name}});
            }};
  }
  std::size_t times_made() {
    return fs::exists(folder_ / "log") ? read_lines(folder_ / "log").size() : 0;
  }
  static void throw_if(bool fail) {
    if (fail) throw NotFinite("too large", "take less");
  }
  static Names read_lines(const fs::path& file) {
    std::istringstream in(read_file(file));
    Names lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  /// The processes that make 40 cells, of which the largest takes 1000 bytes.
  std::set<std::string> processes_of(const MakeOptions& options) {
    std::vector<Cell> cells;
    for (int i = 0; i < 40; ++i) {
      cells.push_back(cell(std::to_string(i), [log = folder_ / "who"] {
        append_line(log, std::to_string(getpid()));
        usleep(2000);
      }));
      cells.back().bytes = i == 7 ? 1000 : 10;
    }
    EXPECT_EQ(make_cells(cells, options).finished, 40);
    EXPECT_EQ(times_made(), 40u);
    const Names lines = read_lines(folder_ / "who");
    return {lines.begin(), lines.end()};
  }

  TemporaryFolder folder_;
};

TEST_F(Cells, AreComputedOnce) {
  const std::vector<Cell> cells = {cell("a"), cell("b"), cell("c")};
  EXPECT_EQ(once(cells[1], {}).at("name").string(), "b");
  for (const Index jobs : {1, 2}) EXPECT_EQ(make_cells(cells, {.jobs = jobs}).finished, 3);
  EXPECT_EQ(times_made(), 3u);
}

TEST_F(Cells, AreSharedByProcesses) {
  const std::set<std::string> processes = processes_of({.jobs = 3});
  EXPECT_EQ(processes.size(), 3u);
  EXPECT_FALSE(processes.contains(std::to_string(getpid())));
}

TEST_F(Cells, RunAsManyAtOnceAsMemoryAllows) {
  EXPECT_EQ(processes_of({.jobs = 3, .memory = 2999}).size(), 2u) << "a cell takes 1000";
}

TEST_F(Cells, RunOneByOneIfMemoryIsShort) {
  EXPECT_EQ(processes_of({.jobs = 3, .memory = 999}).size(), 1u);
}

TEST_F(Cells, FailedJobIsRetriedAndDoesNotStopTheOthers) {
  for (const Index jobs : {1, 2}) {
    const std::string half = jobs == 1 ? "half" : "other half";
    bool fail = true;
    const auto failing = [&] { throw_if(fail); };
    const std::vector<Cell> cells = {cell(half, failing), cell(half + " 2")};
    const CellsMade made = make_cells(cells, {.jobs = jobs});
    EXPECT_EQ(made.finished, 1);
    ASSERT_EQ(made.failed.size(), 1u);
    EXPECT_EQ(made.failed[0].cell, half);
    EXPECT_EQ(made.failed[0].error, "too large");
    EXPECT_EQ(made.failed[0].hint, "take less");
    EXPECT_TRUE(made.failed[0].diverged);
    EXPECT_TRUE(failure_of(cells[0]).has_value());
    fail = false;
    EXPECT_EQ(make_cells(cells, {.jobs = jobs}).finished, 2);
    EXPECT_FALSE(failure_of(cells[0]).has_value());
  }
}

TEST_F(Cells, JobOfADeadWorkerIsNamedAndReleased) {
  const pid_t parent = getpid();
  const auto die = [=] {
    if (getpid() != parent) kill(getpid(), SIGKILL);
  };
  const std::vector<Cell> cells = {cell("a"), cell("deadly", die), cell("c"), cell("d")};
  const CellsMade made = make_cells(cells, {.jobs = 2});
  EXPECT_EQ(made.finished, 3) << "the other worker does not die over it too";
  EXPECT_EQ(made.missing, Names{"deadly"});
  EXPECT_EQ(make_cells(cells).finished, 4);
}

TEST_F(Cells, OfAnotherProcessAreWaitedForAtTheEndAndMadeIfItDies) {
  auto lock = std::make_unique<FileLock>(folder_ / ".a.lock");
  const auto given_back = [&, asked = 0]() mutable {
    if (++asked == 6) lock.reset();
    return false;
  };
  EXPECT_EQ(make_cells({cell("a"), cell("b"), cell("c")}, {.should_stop = given_back}).finished, 3);
  EXPECT_EQ(times_made(), 3u);
  lock = std::make_unique<FileLock>(folder_ / ".d.lock");
  int asked = 0;
  EXPECT_TRUE(make_cells({cell("d")}, {.should_stop = [&] { return ++asked > 3; }}).stopped);
}

TEST_F(Cells, ThatAnotherProcessFailedToMakeAreNotTriedAgainAtOnce) {
  auto lock = std::make_unique<FileLock>(folder_ / ".a.lock");
  int asked = 0;
  const auto failed_elsewhere = [&] {
    if (++asked != 3) return false;
    make_directories(folder_ / "failed");
    write_json(folder_ / "failed" / "a.json", to_json(CellFailure{"a", "too large"}));
    lock.reset();
    return false;
  };
  EXPECT_EQ(make_cells({cell("a")}, {.should_stop = failed_elsewhere}).failed.size(), 1u);
  EXPECT_EQ(times_made(), 0u);
  EXPECT_EQ(make_cells({cell("a")}).finished, 1);
}

TEST_F(Cells, WaitForThoseThatTheyNeed) {
  const Cell needed = cell("needed", [] { usleep(50'000); });
  const auto take = [=] { once(needed, {}); };
  EXPECT_EQ(make_cells({cell("a", take), cell("b", take), cell("c", take)}, {.jobs = 3}).finished,
            3);
  EXPECT_EQ(times_made(), 4u);
}

TEST_F(Cells, StopWhenTheyAreTold) {
  for (const Index jobs : {1, 2}) {
    const std::string name = std::to_string(jobs);
    const CellsMade made = make_cells({cell(name + "a"), cell(name + "b")},
                                      {.jobs = jobs, .should_stop = [] { return true; }});
    EXPECT_TRUE(made.stopped);
    EXPECT_EQ(made.finished, 0);
  }
  EXPECT_THROW(once(cell("c"), [] { return true; }), Stopped);
  EXPECT_EQ(times_made(), 0u);
}

TEST_F(Cells, RunUntilAskedToStop) {
  const std::function<bool()> go_on = [] { return false; };
  EXPECT_EQ(once(cell("a"), go_on).at("name").string(), "a");
  EXPECT_EQ(once(cell("b"), {}).at("name").string(), "b");
  for (const Index jobs : {1, 2})
    for (const std::function<bool()>& should_stop : {go_on, std::function<bool()>()}) {
      const CellsMade made =
          make_cells({cell(text("c", jobs, bool(should_stop))), cell(text("d", jobs))},
                     {.jobs = jobs, .should_stop = should_stop});
      EXPECT_FALSE(made.stopped);
      EXPECT_EQ(made.finished, 2);
    }
}

TEST_F(Cells, OfARunTakeTheMemoryOfItsTraining) {
  TrainedRun run = create_run(folder_ / "run", tiny_config());
  for (const bool in_run : {false, true}) {
    const Cell part =
        part_of_run(run, {.in_run = in_run}, "part", Json::object(), [] { return Json::object(); });
    EXPECT_GT(part.bytes, 0);
    EXPECT_EQ(part.bytes, training_bytes(run.config));
  }
}

TEST_F(Cells, ThatCannotBeKeptFail) {
  write_file(folder_ / "taken", "");
  Cell lost = cell("a");
  lost.file = folder_ / "taken" / "a.json";
  const CellsMade made = make_cells({lost, cell("b")});
  EXPECT_EQ(made.finished, 1);
  EXPECT_EQ(made.failed.size(), 1u);
}

TEST_F(Cells, OtherSettingsAreOtherJobsAndDamagedOnesAreErrors) {
  TrainedRun run = create_run(folder_ / "run", tiny_config());
  const auto part = [&](int setting) {
    return part_of_run(run, {.in_run = true}, "part", Json::object({{"setting", setting}}), [=] {
      return Json::object({{"found", setting}});
    });
  };
  EXPECT_EQ(once(part(1), {}).at("found").integer(), 1);
  EXPECT_EQ(once(part(2), {}).at("found").integer(), 2);
  EXPECT_TRUE(kept_in(part(1)).has_value());
  train_run(run);
  EXPECT_FALSE(kept_in(part(1)).has_value()) << "of other weights";
  const Cell two = part(2);
  once(two, {});
  Json other = read_json(two.file);
  other["decided_by"]["setting"] = 3;
  write_json(two.file, other);
  expect_error([&] { once(two, {}); }, {"holds something else", two.file.filename().string()});
}

}  // namespace
}  // namespace headlab
