// Jobs. The claim on a job is the lock of a run. Worker processes are children of this one and need
// no messages: results and errors are files, a child that dies releases its job, and a parent that
// stops sends SIGTERM. They are processes and not threads, so that a crash of one does not affect
// the others. Read next: src/lab/studies/sweep.cc, a training as a job.
#include "headlab/train/cells.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <new>

#include "base/digest.h"
#include "headlab/base/threads.h"
#include "runs/run_folder.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDecidedBy = "decided_by";

void stop_if(const std::function<bool()>& should_stop) {
  if (should_stop && should_stop()) throw Stopped();
}

/// Runs a locked job and stores its result.
Json make_and_keep(const Cell& cell) {
  Json found = cell.make();
  if (!cell.decided_by.is_null()) found[kDecidedBy] = cell.decided_by;
  make_directories(cell.file.parent_path());
  for (const fs::path& file : files_in(cell.file.parent_path())) {
    if (is_temporary(file) && temporary_target(file) == cell.file.filename()) remove_quietly(file);
  }
  write_json(cell.file, found);
  return found;
}

bool has_files(const Cell& cell) {
  return !cell.file.empty() && is_there(cell.file) &&
         (cell.settings.empty() || is_there(cell.settings));
}

/// Returns whether the result of a job is stored. A result that its name alone determines is not
/// read.
bool is_kept(const Cell& cell) {
  return cell.decided_by.is_null() ? has_files(cell) : kept_in(cell).has_value();
}

fs::path failure_file(const Cell& cell) {
  return cell.path.parent_path() / "failed" / (cell.path.filename().string() + ".json");
}

enum class End { finished, stopped, busy, failed };

/// Runs a job unless another process does, or has failed to while it was `waited` for.
End try_cell(const Cell& cell, bool waited, CellFailure& failure) {
  RunLock lock;
  try {
    lock = lock_run(cell.path);
  } catch (const RunBusy&) {
    return End::busy;
  }
  if (const std::optional<CellFailure> other = waited ? failure_of(cell) : std::nullopt) {
    failure = *other;
    return End::failed;
  }
  remove_quietly(failure_file(cell));
  failure = {.cell = cell.name, .error = {}};
  try {
    if (!is_kept(cell)) make_and_keep(cell);
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
    make_directories(failure_file(cell).parent_path());
    write_json(failure_file(cell), stamped(to_json(failure).members()));
  } catch (const Error&) {  // the error is still reported to the caller
  }
  return End::failed;
}

/// Jobs taken by workers, in shared memory, so that no worker takes a job on which another may have
/// died.
class Taken {
 public:
  explicit Taken(std::size_t cells)
      : size_(cells),
        taken_(mmap(nullptr, cells, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    require(taken_ != MAP_FAILED, "no memory to work side by side");
  }
  ~Taken() { munmap(taken_, size_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  bool take(std::size_t cell) const {
    return !static_cast<std::atomic<bool>*>(taken_)[cell].exchange(true);
  }

 private:
  std::size_t size_;
  void* taken_;
};

/// Describes how a cell ended: "" if it finished.
std::string how_it_ended(const Cell& cell, End end, const CellFailure& failure) {
  if (end == End::stopped) return cell.settings.empty() ? "interrupted" : "interrupted, and saved";
  return end == End::failed ? "failed: " + failure.error : "";
}

/// Runs the jobs that no other process runs, one after the other; then waits for the others.
CellsMade make_here(const std::vector<Cell>& cells, const MakeOptions& options,
                    const Taken& taken) {
  CellsMade made;
  std::vector<std::size_t> left(cells.size()), busy;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (bool again = false; !left.empty(); again = true) {
    if (again) wait_a_moment();
    for (const std::size_t i : left) {
      End end = End::finished;
      CellFailure failure;
      if (!again && !taken.take(i)) continue;
      if (!is_kept(cells[i])) {
        if (made.stopped || (options.should_stop && options.should_stop())) {
          made.stopped = true;
          return made;
        }
        end = try_cell(cells[i], again, failure);
        made.stopped = end == End::stopped;
        if (options.after_cell && end != End::busy) {
          options.after_cell(i, how_it_ended(cells[i], end, failure));
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
pid_t start_worker(const std::vector<Cell>& cells, const MakeOptions& options, const Taken& taken) {
  const pid_t child = fork();
  require(child >= 0, "no process could be started to work side by side");
  if (child > 0) return child;
  int status = 1;
  try {
    set_thread_count(1);
    if (options.in_worker) options.in_worker();
    status = make_here(cells, options, taken).stopped ? 130 : 0;
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
      if (waitpid(worker, &status, WNOHANG) == 0) return false;
      stopped = stopped || (WIFEXITED(status) && WEXITSTATUS(status) == 130);
      return true;
    });
    told = told || tell;
    wait_a_moment();
  }
  return told || stopped;
}

/// Returns how many of `jobs` fit in memory if each runs the largest job.
Index jobs_in_memory(const std::vector<Cell>& cells, Index jobs, double memory) {
  const double largest = std::ranges::max(cells, {}, &Cell::bytes).bytes;
  if (memory == 0) memory = static_cast<double>(machine_memory());
  if (static_cast<double>(jobs) * largest <= memory) return jobs;
  const Index fit = std::max<Index>(1, static_cast<Index>(memory / largest));
  tell_user(text("jobs at once: ", fit, " of ", jobs, ", for memory holds no more"));
  return fit;
}

}  // namespace

Cell part_of_run(const Run& run, const Keeping& keeping, const std::string& name, Json settings,
                 std::function<Json()> make) {
  Cell cell{.name = name_of(run) + ": " + name};
  cell.make = [make = std::move(make), should_stop = keeping.should_stop] {
    const StepsAsked asked([&] { stop_if(should_stop); });
    return make();
  };
  cell.bytes = training_bytes(run.config);
  if (!keeping.in_run) return cell;
  settings["weights"] = weights_hash(run.model);
  const fs::path cells = run.path / "cells";
  for (const fs::path& folder : {cells, cells / "failed"}) refuse_link(folder);
  cell.path = cells / (name + "-" + fingerprint(settings.dump()));
  cell.file = cell.path.string() + ".json";
  cell.decided_by = std::move(settings);
  return cell;
}

std::optional<Json> kept_in(const Cell& cell) {
  if (!has_files(cell)) return {};
  Json found = read_json(cell.file);
  const Json* decided_by = found.is_object() ? found.find(kDecidedBy) : nullptr;
  if (!cell.decided_by.is_null() && (decided_by == nullptr || *decided_by != cell.decided_by)) {
    throw Error(cell.file.string() + " holds something else than its name says",
                "delete it; the next call computes it again");
  }
  return found;
}

Json once(const Cell& cell, const std::function<bool()>& should_stop) {
  for (;; wait_a_moment()) {
    if (std::optional<Json> kept = kept_in(cell)) return *kept;
    stop_if(should_stop);
    if (cell.file.empty()) return cell.make();
    try {
      const RunLock lock = lock_run(cell.path);
      const std::optional<Json> kept = kept_in(cell);
      return kept ? *kept : make_and_keep(cell);
    } catch (const RunBusy&) {  // another process runs it
    }
  }
}

std::optional<CellFailure> failure_of(const Cell& cell) {
  const fs::path file = failure_file(cell);
  if (!is_there(file)) return {};
  const Json json = read_json(file);
  const Json* hint = json.find("hint");
  return CellFailure{cell.name, json.at("error").string(), hint ? hint->string() : "",
                     json.at("diverged").boolean()};
}

CellsMade make_cells(const std::vector<Cell>& cells, const MakeOptions& options) {
  const auto left = std::ranges::count(cells, false, is_kept);
  if (left == 0) return {.finished = std::ssize(cells)};
  const Index jobs = jobs_in_memory(cells, std::min<Index>(options.jobs, left), options.memory);
  const Taken taken(std::max<std::size_t>(1, cells.size()));
  if (jobs <= 1) return make_here(cells, options, taken);
  std::vector<pid_t> workers;
  for (Index job = 0; job < jobs; ++job) workers.push_back(start_worker(cells, options, taken));
  CellsMade made;
  made.stopped = wait_for(workers, options.should_stop);
  for (const Cell& cell : cells) {
    if (is_kept(cell)) {
      ++made.finished;
    } else if (const std::optional<CellFailure> failure = failure_of(cell)) {
      made.failed.push_back(*failure);
    } else if (!made.stopped) {
      made.missing.push_back(cell.name);
    }
  }
  return made;
}

}  // namespace headlab
