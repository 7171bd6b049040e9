// Parallel jobs: as many as there are threads and as memory allows, each on one thread. This is
// faster than running them one after the other on all threads, whatever their size. Workers are
// child processes: Ctrl-C in a terminal and the end of their parent stop them, and they save. Read
// next: sweep.cc, whose trials are trainings.
#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

bool working = false;

/// Returns the error of a run after its parts were made, if there is one.
std::optional<Error> trouble_of(const NamedRun& run, const JobsDone& made) {
  const auto failure = std::ranges::find(made.failed, run, &JobFailure::run);
  if (failure != made.failed.end()) return Error(failure->error, failure->hint);
  const auto missing = std::ranges::find(made.missing, run, &Job::run);
  if (missing == made.missing.end()) return {};
  return Error("cannot finish " + missing->name + ": the process that computed it died",
               "repeat the command");
}

std::string failures_text(const RunsDone& done) {
  std::string said;
  if (!done.failed.empty()) {
    said =
        text(done.failed.size(), " of ", done.failed.size() + done.paths.size(), " runs failed\n");
  }
  for (const auto& [path, error] : done.failed) said += text("  ", path, ": ", error, "\n");
  return said;
}

}  // namespace

void add_jobs(Flags& settings, Index& jobs) {
  settings.integer("jobs", jobs, 0, 1024,
                   "jobs at once (0: one per thread; 1: one on all threads)");
}

bool is_worker() { return working; }

JobsDone make_shown(Index jobs, const std::vector<Job>& parts) {
  catch_interrupts();
  const Index all = std::min<Index>(jobs, processor_count());
  MakeOptions options{.processes = all > 0 ? all : thread_count(), .should_stop = interrupted};
  options.in_worker = [parent = getpid()] {  // the parent may end before the child asks for its id
    working = true;
    stop_with_parent(parent);
  };
  const auto begin = std::chrono::steady_clock::now();
  const Index before =
      std::ranges::count_if(parts, [](const Job& part) { return kept_in(part).has_value(); });
  options.after_job = [&](std::size_t i, Index done, std::string trouble) {
    const char* ended = trouble.empty() ? " finished (" : " (";
    const std::optional<Json> found = trouble.empty() ? kept_in(parts[i]) : std::nullopt;
    const Json* loss = found ? found->find("loss") : nullptr;
    if (loss != nullptr && loss->is_number()) trouble = "loss " + significant(loss->number());
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double left =
        took / static_cast<double>(done - before) * static_cast<double>(std::ssize(parts) - done);
    const std::string rest = text(", ", std::ssize(parts) - done, " to do, ", clock_text(left));
    note(text(parts[i].label, ended, done, " of ", parts.size(), ")",
              trouble.empty() ? "" : ": " + trouble,
              took > 1 && left > 0 && !interrupted() ? rest + " left of all" : ""));
  };
  return run_jobs(parts, options);
}

Json work_settings(const Invocation& call) {
  Json settings = call.settings().to_json();
  std::erase_if(settings.members(), [](const Json::Member& one) {
    return one.first == "jobs" || one.first == "threads" || one.first == "force";
  });
  return settings;
}

Output stopped_result(const Invocation& call) {
  return {.note =
              "interrupted; finished results are kept\nhint: give the same command again to "
              "continue: " +
              call.again(),
          .status = 130};
}

Output RunsDone::shown(const Invocation& call, const Json::Object& more,
                       const std::vector<Table>& tables, const std::string& files) const {
  Json list = Json::array();
  for (const auto& [path, error] : failed) {
    list.push_back(Json::object({{"path", path}, {"error", error}}));
  }
  Json json = stamped({{"runs", paths.size()}, {"paths", paths}, {"failed", std::move(list)}});
  json.members().insert(json.members().end(), more.begin(), more.end());
  Output output = reproducible(call, std::move(json), tables, "\n" + files + "\n");
  output.text += failures_text(*this);
  output.status = failed.empty() ? 0 : 1;
  output.unwritten = unwritten;
  return output;
}

RunsDone do_runs(const Invocation& call, const RunsWork& work) {
  std::vector<fs::path> written;
  for (const std::string& path : work.paths) {
    std::error_code ignored;
    const fs::path folder = named_run(path).path;
    if (work.force) fs::remove_all(folder / "cells", ignored);
    if (call.keeps_results && access(folder.c_str(), W_OK) == 0) written.emplace_back(path);
  }
  RunsDone done;
  work.keeping = {true, interrupted};
  const JobsDone made = make_shown(work.jobs, work.parts(written));
  if (made.stopped) done.ended = stopped_result(call);
  for (const std::string& path : work.paths) {
    if (done.ended) break;
    try {
      if (const std::optional<Error> trouble = trouble_of(named_run(path), made))
        throw Error(*trouble);
      const bool kept = std::ranges::find(written, fs::path(path)) != written.end();
      const StepsAsked asked([] {
        if (interrupted()) throw Stopped();
      });
      work.keeping.in_run = kept;
      const Run run = open_run(path);
      Json report = work.report(run);
      report["settings"] = work_settings(call);
      Output output = store_result(call, run, {.json = std::move(report)}, work.file);
      if (output.unwritten) done.unwritten = output.unwritten;
      done.paths.push_back(path);
      done.found.push_back(std::move(output.json));
    } catch (const Stopped&) {
      done.ended = stopped_result(call);
    } catch (const Error& error) {
      if (work.paths.size() == 1) throw;
      done.failed.emplace_back(path, error.what());
    }
  }
  if (!done.ended && done.paths.empty()) throw Error(failures_text(done));
  return done;
}

}  // namespace headlab::cli
