// Jobs that run once and keep their result. The result is a JSON file with the settings that
// decide it and the hash of the weights it describes. Resuming means skipping jobs whose result
// exists; a share of the work is a subset of the jobs. Several processes may be given the same
// jobs: each takes the next free one by a lock that ends with the process. Read next:
// src/lab/runs/jobs.cc; lab/studies/sweep.h, whose jobs are runs.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlab/core/base/progress.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

struct Job {
  std::string name;              // identifies the job in errors and files
  std::string label{};           // says what the job computes, in the reader's words
  NamedRun run{};                // the run of whose analysis it is a part, if it is one
  std::filesystem::path path{};  // locked while the job runs (lock_run)
  std::filesystem::path file{};  // the result; empty: it is not kept
  /// Settings that decide the result and are stored with it. Alternatively the path of a separate
  /// file that holds them: the code that runs the job compares it, and without it the result is
  /// ignored.
  Json decided_by{};
  std::filesystem::path settings{};
  std::function<Json()> make{};  // throws Stopped if it is asked to stop
  double bytes = 0;              // minimum memory that running it takes
};

/// Options for storing the parts of an analysis of a run.
struct Keeping {
  bool in_run = false;  // as files in the folder `cells` of the run
  /// Called before each part and after each step of it; true ends the part with Stopped.
  std::function<bool()> should_stop{};
};
/// Returns the job of one part; `settings` and the weights of the run decide its result.
Job part_of_run(const Run& run, const Keeping& keeping, const std::string& name, Json settings,
                std::function<Json()> make);

/// Returns the jobs of several runs. A run is opened when one of its jobs runs, and closed when a
/// job of another run does. Work(run, options) returns its jobs as `jobs()`, in the same order
/// each time.
template <class Work, class Options>
std::vector<Job> jobs_of_runs(const std::vector<std::filesystem::path>& paths,
                              const Options& options) {
  struct Opened {
    explicit Opened(const std::filesystem::path& path, const Options& options)
        : run(open_run(path)), work(run, options) {}
    Run run;
    Work work;
  };
  auto opened = std::make_shared<std::unique_ptr<Opened>>();
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : paths) {
    *opened = std::make_unique<Opened>(path, options);
    for (std::size_t i = 0; i < (*opened)->work.jobs().size(); ++i) {
      jobs.push_back((*opened)->work.jobs()[i]);
      jobs.back().make = [=] {
        if ((*opened)->run.path != path) *opened = std::make_unique<Opened>(path, options);
        return (*opened)->work.jobs()[i].make();
      };
    }
  }
  return jobs;
}

/// Returns the stored result of a job; nothing if there is none. Error if the file is damaged.
std::optional<Json> kept_in(const Job& job);
/// Returns the result of a job: the stored one, the one that another process is computing, or one
/// computed here. A result that cannot be stored is returned as well. Throws Stopped if should_stop
/// returns true before the result is available.
Json once(const Job& job, const std::function<bool()>& should_stop);

/// Reason why a job failed, stored in the folder `failed` next to the jobs until the job
/// succeeds.
struct JobFailure {
  std::string job, error, hint{};
  bool diverged = false;  // its numbers were no longer finite
  NamedRun run{};         // that of the job; files omit it

  void members(auto&& f) {
    f("cell", job), f("error", error), f("hint", hint), f("diverged", diverged);
  }
};
std::optional<JobFailure> failure_of(const Job& job);

struct MakeOptions {
  /// Processes that run at the same time, each on one thread; at most one per open job, and at
  /// most as many as fit into `memory` (bytes; 0: that of this machine).
  Index processes = 1;
  double memory = 0;
  std::function<bool()> should_stop{};  // called between jobs
  /// Called after each job that this process tried, with "" if it succeeded, else "failed: ..." or
  /// "interrupted ...". ended: jobs that have ended so far, in all processes and earlier calls.
  std::function<void(std::size_t job, Index ended, const std::string& trouble)> after_job{};
  /// Called first in each process if there are several.
  std::function<void()> in_worker{};
};
struct JobsDone {
  Index finished = 0;
  std::vector<JobFailure> failed{};
  std::vector<Job> missing{};  // jobs whose process died
  bool stopped = false;
};
/// Runs the jobs without a result. A failed job does not stop the others. Jobs that run in other
/// processes are awaited at the end, and run here if those processes die.
JobsDone run_jobs(const std::vector<Job>& jobs, const MakeOptions& options = {});

}  // namespace headlab
