// Each job is done once, by any process; what fails or dies keeps no other from being done.
#include "headlab/lab/runs/jobs.h"

#include <unistd.h>

#include <csignal>
#include <set>

#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/file_lock.h"
#include "support/runs.h"

namespace headlab { namespace {

using Names = std::vector<std::string>;

class Jobs : public testing::Test {
 protected:
  /// A cell that leaves a line in the file `log` each time that it is made.
  Job job(
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
    std::vector<Job> jobs;
    for (int i = 0; i < 40; ++i) {
      jobs.push_back(job(std::to_string(i), [log = folder_ / "who"] {
        append_line(log, std::to_string(getpid()));
        usleep(2000);
      }));
      jobs.back().bytes = i == 7 ? 1000 : 10;
    }
    EXPECT_EQ(run_jobs(jobs, options).finished, 40);
    EXPECT_EQ(times_made(), 40u);
    const Names lines = read_lines(folder_ / "who");
    return {lines.begin(), lines.end()};
  }

  TemporaryFolder folder_;
};

TEST_F(Jobs, AreComputedOnce) {
  const std::vector<Job> jobs = {job("a"), job("b"), job("c")};
  EXPECT_EQ(once(jobs[1], {}).at("name").string(), "b");
  for (const Index processes : {1, 2})
    EXPECT_EQ(run_jobs(jobs, {.processes = processes}).finished, 3);
  EXPECT_EQ(times_made(), 3u);
}

TEST_F(Jobs, AreSharedByProcesses) {
  const std::set<std::string> processes = processes_of({.processes = 3});
  EXPECT_EQ(processes.size(), 3u);
  EXPECT_FALSE(processes.contains(std::to_string(getpid())));
}

TEST_F(Jobs, RunAsManyAtOnceAsMemoryAllows) {
  EXPECT_EQ(processes_of({.processes = 3, .memory = 2999}).size(), 2u) << "a cell takes 1000";
}

TEST_F(Jobs, RunOneByOneIfMemoryIsShort) {
  EXPECT_EQ(processes_of({.processes = 3, .memory = 999}).size(), 1u);
}

TEST_F(Jobs, FailedJobIsRetriedAndDoesNotStopTheOthers) {
  for (const Index processes : {1, 2}) {
    const std::string half = processes == 1 ? "half" : "other half";
    bool fail = true;
    const auto failing = [&] { throw_if(fail); };
    const std::vector<Job> jobs = {job(half, failing), job(half + " 2")};
    const JobsDone made = run_jobs(jobs, {.processes = processes});
    EXPECT_EQ(made.finished, 1);
    ASSERT_EQ(made.failed.size(), 1u);
    EXPECT_EQ(made.failed[0].job, half);
    EXPECT_EQ(made.failed[0].error, "too large");
    EXPECT_EQ(made.failed[0].hint, "take less");
    EXPECT_TRUE(made.failed[0].diverged);
    EXPECT_TRUE(failure_of(jobs[0]).has_value());
    fail = false;
    EXPECT_EQ(run_jobs(jobs, {.processes = processes}).finished, 2);
    EXPECT_FALSE(failure_of(jobs[0]).has_value());
  }
}

TEST_F(Jobs, JobOfADeadWorkerIsNamedAndReleased) {
  const pid_t parent = getpid();
  const auto die = [=] {
    if (getpid() != parent) kill(getpid(), SIGKILL);
  };
  const std::vector<Job> jobs = {job("a"), job("deadly", die), job("c"), job("d")};
  const JobsDone made = run_jobs(jobs, {.processes = 2});
  EXPECT_EQ(made.finished, 3) << "the other worker does not die over it too";
  EXPECT_EQ(texts_of(made.missing, &Job::name), Names{"deadly"});
  EXPECT_EQ(run_jobs(jobs).finished, 4);
}

TEST_F(Jobs, WaitForOtherProcessesAndTakeOverIfTheyDie) {
  auto lock = std::make_unique<FileLock>(folder_ / ".a.lock");
  const auto given_back = [&, asked = 0]() mutable {
    if (++asked == 6) lock.reset();
    return false;
  };
  EXPECT_EQ(run_jobs({job("a"), job("b"), job("c")}, {.should_stop = given_back}).finished, 3);
  EXPECT_EQ(times_made(), 3u);
  lock = std::make_unique<FileLock>(folder_ / ".d.lock");
  int asked = 0;
  EXPECT_TRUE(run_jobs({job("d")}, {.should_stop = [&] { return ++asked > 3; }}).stopped);
}

TEST_F(Jobs, FailuresOfOtherProcessesAreNotRetriedAtOnce) {
  auto lock = std::make_unique<FileLock>(folder_ / ".a.lock");
  int asked = 0;
  const auto failed_elsewhere = [&] {
    if (++asked != 3) return false;
    make_directories(folder_ / "failed");
    write_json(folder_ / "failed" / "a.json", to_json(JobFailure{"a", "too large"}));
    lock.reset();
    return false;
  };
  EXPECT_EQ(run_jobs({job("a")}, {.should_stop = failed_elsewhere}).failed.size(), 1u);
  EXPECT_EQ(times_made(), 0u);
  EXPECT_EQ(run_jobs({job("a")}).finished, 1);
}

TEST_F(Jobs, WaitForThoseThatTheyNeed) {
  const Job needed = job("needed", [] { usleep(50'000); });
  const auto take = [=] { once(needed, {}); };
  EXPECT_EQ(run_jobs({job("a", take), job("b", take), job("c", take)}, {.processes = 3}).finished,
            3);
  EXPECT_EQ(times_made(), 4u);
}

TEST_F(Jobs, StopOnRequest) {
  for (const Index processes : {1, 2}) {
    const std::string name = std::to_string(processes);
    const JobsDone made = run_jobs({job(name + "a"), job(name + "b")},
                                   {.processes = processes, .should_stop = [] { return true; }});
    EXPECT_TRUE(made.stopped);
    EXPECT_EQ(made.finished, 0);
  }
  EXPECT_THROW(once(job("c"), [] { return true; }), Stopped);
  EXPECT_EQ(times_made(), 0u);
}

TEST_F(Jobs, RunUntilAskedToStop) {
  const std::function<bool()> go_on = [] { return false; };
  EXPECT_EQ(once(job("a"), go_on).at("name").string(), "a");
  EXPECT_EQ(once(job("b"), {}).at("name").string(), "b");
  for (const Index processes : {1, 2})
    for (const std::function<bool()>& should_stop : {go_on, std::function<bool()>()}) {
      const JobsDone made =
          run_jobs({job(text("c", processes, bool(should_stop))), job(text("d", processes))},
                   {.processes = processes, .should_stop = should_stop});
      EXPECT_FALSE(made.stopped);
      EXPECT_EQ(made.finished, 2);
    }
}

TEST_F(Jobs, JobsOfARunNeedTheMemoryOfItsTraining) {
  TrainedRun run = create_run(folder_ / "run", tiny_config());
  for (const bool in_run : {false, true}) {
    const Job part =
        part_of_run(run, {.in_run = in_run}, "part", Json::object(), [] { return Json::object(); });
    EXPECT_GT(part.bytes, 0);
    EXPECT_EQ(part.bytes, training_bytes(run.config));
  }
}

TEST_F(Jobs, UnwritableResultsAreFailures) {
  write_file(folder_ / "taken", "");
  Job lost = job("a");
  lost.file = folder_ / "taken" / "a.json";
  const JobsDone made = run_jobs({lost, job("b")});
  EXPECT_EQ(made.finished, 1);
  EXPECT_EQ(made.failed.size(), 1u);
}

TEST_F(Jobs, OtherSettingsAreOtherJobsAndDamagedOnesAreErrors) {
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
  const Job two = part(2);
  once(two, {});
  Json other = read_json(two.file);
  other["decided_by"]["setting"] = 3;
  write_json(two.file, other);
  expect_error([&] { once(two, {}); }, {"holds another result", two.file.filename().string()});
}

}  // namespace
}  // namespace headlab
