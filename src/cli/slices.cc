// Slices of runs share nothing but the folders, so any scheduler that counts from 0 can make them.
// What a run keeps is written by its own command; here it is only counted.
// Read next: sweep.cc, whose cells are cut in the same way.
#include "cli/slices.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "cli/commands.h"

namespace headlab::cli {

SweepSlice parse_slice(const Invocation& call) {
  const std::string shard = call.value("shard");
  if (shard.empty()) return {};
  SweepSlice slice;
  char slash = 0, rest = 0;
  std::istringstream in(shard);
  const bool read = (in >> slice.index >> slash >> slice.count) && slash == '/' && !(in >> rest);
  if (!read || slice.index < 0 || slice.index >= slice.count || slice.count > 1'000'000) {
    throw UsageError(text("--shard ", shard, ": a slice is I/N, with I from 0 to N - 1"),
                     "--shard 0/4, 1/4, 2/4 and 3/4 do all of it together");
  }
  if (slice.count > 1)
    call.refuse({"svg", "pdf"}, "draws what all slices found",
                "give it without --shard at the end");
  return slice;
}

void RunsFlags::add_to(Settings& settings, const std::string& file) {
  settings.string("shard", shard, "do every Nth cell of the work, beginning with the Ith (from 0)",
                  "I/N");
  settings.boolean("force", force, "do anew what a run's " + file + " holds");
}

Json RunsDone::to_json() const {
  Json list = Json::array();
  for (const auto& [path, error] : failed)
    list.push_back(Json::object({{"path", path}, {"error", error}}));
  return stamped({{"runs", paths.size()}, {"paths", paths}, {"failed", std::move(list)}});
}

std::string RunsDone::failures_text() const {
  if (failed.empty()) return "";
  std::string lines = text(failed.size(), " of ", failed.size() + paths.size(), " runs failed\n");
  for (const auto& [path, error] : failed) lines += text("  ", path, ": ", error, "\n");
  return lines;
}

Json unsliced_settings(const Invocation& call) {
  Json settings = call.settings().to_json();
  settings["shard"] = "";
  settings["force"] = false;
  return settings;
}

RunsDone do_runs(std::vector<Run>& runs, std::size_t cells, const SweepSlice& slice,
                 const std::function<std::optional<Json>(Run& run, const Cells& mine)>& work) {
  RunsDone done;
  for (Index r = 0; r < std::ssize(runs) && !done.stopped; ++r) {
    Cells mine;
    for (Index cell = 0; std::cmp_less(cell, cells); ++cell)
      mine.push_back((cell * std::ssize(runs) + r) % slice.count == slice.index);
    const auto count = std::ranges::count(mine, true);
    if (count == 0) continue;
    const std::string path = runs[r].path.string();
    try {
      std::optional<Json> found = work(runs[r], mine);
      done.stopped = !found;
      if (!found) break;
      done.cells += count;
      done.paths.push_back(path);
      done.found.push_back(std::move(*found));
    } catch (const Error& error) {
      if (runs.size() == 1) throw;
      done.failed.emplace_back(path, error.what());
      note(text(path, ": error: ", error.what()));
    }
  }
  return done;
}

Result slice_result(const Invocation& call, const RunsDone& done, const std::string& shard) {
  Result result;
  result.json = done.to_json();
  result.unwritten = done.unwritten;
  result.status = done.failed.empty() ? 0 : 1;
  if (done.stopped) {
    result.status = 130;
    result.note =
        "interrupted; what is done is kept\nhint: to go on, give the same command again: " +
        call.again();
    return result;
  }
  result.json["shard"] = shard;
  result.text = text("slice ", shard, ": ", done.cells, " cells of ", done.paths.size(),
                     " runs done, ", done.failed.size(), " failed\n", done.failures_text(),
                     "to see all of them: ", call.again("shard"), "\n");
  return result;
}

}  // namespace headlab::cli
