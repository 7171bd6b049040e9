// Jobs. The claim on a job is the lock of a run. Worker processes are children of this one and need
// no messages: results and errors are files, a child that dies releases its job, and a parent that
// stops sends SIGTERM. They are processes and not threads, so that a crash of one does not affect
// the others. Read next: src/lab/studies/sweep.cc, a training as a job.
#include "headlab/lab/runs/jobs.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>

#include "core/base/digest.h"
#include "headlab/core/base/threads.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/file_lock.h"
#include "lab/runs/run_folder.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDecidedBy = "decided_by";

void stop_if(const std::function<bool()>& should_stop) {
  if (should_stop && should_stop()) throw Stopped();
}

/// Runs a locked job and stores its result.
Json make_and_keep(const Job& job) {
  Json found = job.make();
  if (!job.decided_by.is_null()) found[kDecidedBy] = job.decided_by;
  make_directories(job.file.parent_path());
  for (const fs::path& file : files_in(job.file.parent_path())) {
    if (is_temporary(file) && temporary_target(file) == job.file.filename()) remove_quietly(file);
  }
  write_json(job.file, found);
  return found;
}

bool has_files(const Job& job) {
  return !job.file.empty() && is_there(job.file) &&
         (job.settings.empty() || is_there(job.settings));
}

/// Returns whether the result of a job is stored. A result that its name alone determines is not
/// read.
bool is_kept(const Job& job) {
  return job.decided_by.is_null() ? has_files(job) : kept_in(job).has_value();
}

fs::path failure_file(const Job& job) {
  return job.path.parent_path() / "failed" / (job.path.filename().string() + ".json");
}

enum class End { finished, stopped, busy, failed };

/// Runs a job unless another process does, or has failed to while it was `waited` for.
End try_job(const Job& job, bool waited, JobFailure& failure) {
  RunLock lock;
  try {
    lock = lock_run(job.path);
  } catch (const RunBusy&) {
    return End::busy;
  }
  if (const std::optional<JobFailure> other = waited ? failure_of(job) : std::nullopt) {
    failure = *other;
    return End::failed;
  }
  remove_quietly(failure_file(job));
  failure = {.job = job.name, .error = {}, .run = job.run};
  try {
    if (!is_kept(job)) make_and_keep(job);
    return End::finished;
  } catch (const Stopped&) {
    return End::stopped;
  } catch (const Error& error) {
    failure.error = error.what();
    failure.hint = error.hint();
    failure.diverged = dynamic_cast<const NotFinite*>(&error) != nullptr;
  } catch (const std::bad_alloc&) {
    failure.error = "out of memory";
    failure.hint = "use fewer --jobs";
  }
  try {
    make_directories(failure_file(job).parent_path());
    write_json(failure_file(job), stamped(to_json(failure).members()));
  } catch (const Error&) {  // the error is still reported to the caller
  }
  return End::failed;
}

/// Jobs taken and ended by workers, in shared memory, so that no worker takes a job on which
/// another may have died, and all count together.
class Taken {
 public:
  explicit Taken(const std::vector<Job>& jobs)
      : size_(sizeof(Count) + jobs.size()),
        memory_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    require(memory_ != MAP_FAILED, "cannot work in several processes: there is no memory for it");
    *static_cast<Count*>(memory_) = std::ranges::count_if(jobs, has_files);
  }
  ~Taken() { munmap(memory_, size_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  bool take(std::size_t job) const {
    char* const taken = static_cast<char*>(memory_) + sizeof(Count);
    return !reinterpret_cast<std::atomic<bool>*>(taken)[job].exchange(true);
  }
  /// Counts a job that ended; returns how many have, in all processes and before them.
  Index count_end() const { return ++*static_cast<Count*>(memory_); }

 private:
  using Count = std::atomic<Index>;
  std::size_t size_;
  void* memory_;
};

/// Describes how a job ended: "" if it finished.
std::string how_it_ended(const Job& job, End end, const JobFailure& failure) {
  if (end == End::stopped) return job.settings.empty() ? "interrupted" : "interrupted, and saved";
  return end == End::failed ? "failed: " + failure.error : "";
}

/// Runs the jobs that no other process runs, one after the other; then waits for the others.
JobsDone make_here(const std::vector<Job>& jobs, const MakeOptions& options, const Taken& taken) {
  JobsDone made;
  std::vector<std::size_t> left(jobs.size()), busy;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (bool again = false; !left.empty(); again = true) {
    if (again) wait_a_moment();
    for (const std::size_t i : left) {
      End end = End::finished;
      JobFailure failure;
      if (!again && !taken.take(i)) continue;
      if (!is_kept(jobs[i])) {
        if (made.stopped || (options.should_stop && options.should_stop())) {
          made.stopped = true;
          return made;
        }
        end = try_job(jobs[i], again, failure);
        made.stopped = end == End::stopped;
        if (options.after_job && end != End::busy) {
          options.after_job(i, taken.count_end(), how_it_ended(jobs[i], end, failure));
        }
      }
      made.finished += end == End::finished;
      if (end == End::failed) made.failed.push_back(failure);
      if (end == End::busy) busy.push_back(i);
    }
    if (!again && !busy.empty()) {
      tell_user(text("waiting for jobs of other processes: ", busy.size()));
    }
    left = std::exchange(busy, {});
  }
  return made;
}

/// Starts a child process that works on the jobs.
pid_t start_worker(const std::vector<Job>& jobs, const MakeOptions& options, const Taken& taken) {
  const pid_t child = fork();
  require(child >= 0, "cannot work in several processes: no further process could be started");
  if (child > 0) return child;
  int status = 1;
  try {
    set_thread_count(1);
    if (options.in_worker) options.in_worker();
    status = make_here(jobs, options, taken).stopped ? 130 : 0;
  } catch (const std::exception& error) {
    tell_user(error.what());
  }
  _exit(status);
}

/// Waits until all have ended, and signals them when it is time to stop. Returns whether one was
/// stopped.
bool wait_for(std::vector<pid_t> workers, const std::function<bool()>& should_stop) {
  bool told = false, stopped = false;
  while (!workers.empty()) {
    const bool tell = !told && should_stop && should_stop();
    std::erase_if(workers, [&](pid_t worker) {
      if (tell) kill(worker, SIGTERM);
      int status = 0;
      const pid_t ended = waitpid(worker, &status, WNOHANG);
      const bool is_interrupted = ended < 0 && errno == EINTR;
      if (ended == 0 || is_interrupted) return false;
      stopped = stopped || (WIFEXITED(status) && WEXITSTATUS(status) == 130);
      return true;
    });
    told = told || tell;
    wait_a_moment();
  }
  return told || stopped;
}

/// Returns how many of `jobs` fit in memory if each runs the largest job.
Index jobs_in_memory(const std::vector<Job>& jobs, Index processes, double memory) {
  const double largest = std::ranges::max(jobs, {}, &Job::bytes).bytes;
  if (memory == 0) memory = static_cast<double>(machine_memory());
  if (static_cast<double>(processes) * largest <= memory) return processes;
  const Index fit = std::max<Index>(1, static_cast<Index>(memory / largest));
  tell_user(text("jobs at once: ", fit, " of ", processes, ", for memory holds no more"));
  return fit;
}

}  // namespace

Job part_of_run(const Run& run, const Keeping& keeping, const std::string& name, Json settings,
                std::function<Json()> make) {
  const std::string shown = name_of(run) + ": " + name;
  Job job{.name = shown, .label = shown, .run = {run.path, run.best}};
  job.make = [make = std::move(make), should_stop = keeping.should_stop] {
    const StepsAsked asked([&] { stop_if(should_stop); });
    return make();
  };
  job.bytes = training_bytes(run.config);
  if (!keeping.in_run) return job;
  settings["weights"] = weights_hash(run.model);
  const fs::path jobs = run.path / "cells";
  for (const fs::path& folder : {jobs, jobs / "failed"}) refuse_link(folder);
  job.path = jobs / (name + "-" + fingerprint(settings.dump()));
  job.file = job.path.string() + ".json";
  job.decided_by = std::move(settings);
  return job;
}

std::optional<Json> kept_in(const Job& job) {
  if (!has_files(job)) return {};
  Json found = read_json(job.file);
  const Json* decided_by = found.is_object() ? found.find(kDecidedBy) : nullptr;
  if (!job.decided_by.is_null() && (decided_by == nullptr || *decided_by != job.decided_by)) {
    throw Error("cannot use " + job.file.string() + ": it holds another result than its name says",
                "delete it; the next call computes it again");
  }
  return found;
}

Json once(const Job& job, const std::function<bool()>& should_stop) {
  for (;; wait_a_moment()) {
    if (std::optional<Json> kept = kept_in(job)) return *kept;
    stop_if(should_stop);
    if (job.file.empty()) return job.make();
    try {
      const RunLock lock = lock_run(job.path);
      const std::optional<Json> kept = kept_in(job);
      return kept ? *kept : make_and_keep(job);
    } catch (const RunBusy&) {  // another process runs it
    }
  }
}

std::optional<JobFailure> failure_of(const Job& job) {
  const fs::path file = failure_file(job);
  if (!is_there(file)) return {};
  const Json json = read_json(file);
  const Json* hint = json.find("hint");
  return JobFailure{job.name, json.at("error").string(), hint ? hint->string() : "",
                    json.at("diverged").boolean(), job.run};
}

JobsDone run_jobs(const std::vector<Job>& jobs, const MakeOptions& options) {
  const auto left = std::ranges::count(jobs, false, is_kept);
  if (left == 0) return {.finished = std::ssize(jobs)};
  const Index processes =
      jobs_in_memory(jobs, std::min<Index>(options.processes, left), options.memory);
  const Taken taken(jobs);
  if (processes <= 1) return make_here(jobs, options, taken);
  std::vector<pid_t> workers;
  for (Index job = 0; job < processes; ++job) workers.push_back(start_worker(jobs, options, taken));
  JobsDone made;
  made.stopped = wait_for(workers, options.should_stop);
  for (const Job& job : jobs) {
    if (is_kept(job)) {
      ++made.finished;
    } else if (const std::optional<JobFailure> failure = failure_of(job)) {
      made.failed.push_back(*failure);
    } else if (!made.stopped) {
      made.missing.push_back(job);
    }
  }
  return made;
}

}  // namespace headlab
