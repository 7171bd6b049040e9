// Logs are read line by line: each has a checksum and the identity of its run, so that a damaged
// line and one of another run are errors. Lines that are missing at the end cannot be seen in the
// log itself; the state knows how many there must be. Read next: run.cc.
#include "lab/runs/run_logs.h"

#include <algorithm>
#include <limits>
#include <span>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "lab/runs/run_folder.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLines = "lines of ";  // before the name of a log, in the metadata

/// Returns the step of a line, read without its checksum; 0 if it has none.
Index step_in(std::string_view line) {
  constexpr std::string_view kStep = "\"step\":";
  const std::size_t at = line.find(kStep);
  if (at == line.npos) return 0;
  const std::string_view rest = line.substr(at + kStep.size());
  double step = 0;
  parse_number(rest.substr(0, number_length(rest)), step);
  return static_cast<Index>(step);
}

/// Returns the number of whole lines of a log that are about a step up to `last`; 0 if there is no
/// log.
Index lines_in(const fs::path& file, Index last) {
  if (!is_there(file)) return 0;
  const std::string log = read_file(file);
  const std::vector<std::string_view> lines = split(log, '\n');
  const auto whole = std::span(lines).first(lines.size() - 1);  // after the last newline is no line
  return std::ranges::count_if(whole, [&](std::string_view line) { return step_in(line) <= last; });
}

/// Calls take(line, where it ends) with each whole line of a log. Error that names a damaged one,
/// or one of another run.
template <class Take>
void for_each_line(const std::string& log, const fs::path& file, const std::string& run,
                   const Take& take) {
  bool checked = true;
  std::size_t begin = 0, number = 1;
  for (std::size_t end; (end = log.find('\n', begin)) != log.npos; begin = end + 1, ++number) {
    Json line;
    try {
      line = unsealed(std::string_view(log).substr(begin, end - begin), "the line", checked);
      line.at("step").integer();
      const Json* owner = line.find("run");
      checked = checked && (owner != nullptr || run.empty());
      require(owner == nullptr || run.empty() || *owner == Json(run), "it is of another run");
    } catch (const Error& error) {
      throw Error(text("cannot read ", file.string(), ": line ", number, ": ", error.what()),
                  "restore the file from a copy, or remove this line: the run goes on without it");
    }
    take(std::move(line), end + 1);
  }
  if (!checked) note_unchecked(file);
  if (begin < log.size()) {
    tell_user(text(file.string(), " ends in half a line, as a process leaves that is killed while ",
                   "it writes: that is left out"));
  }
}

}  // namespace

void count_logs(const Run& run, TensorFile& state) {
  std::map<std::string, Index> lines = run.lost;
  for (const fs::path& log : files_in(run.path)) {
    if (log.extension() == ".jsonl" && is_run_file(log)) {
      lines[log.filename().string()] += lines_in(log, std::numeric_limits<Index>::max());
    }
  }
  for (const auto& [name, count] : lines) state.metadata[text(kLines, name)] = text(count);
}

std::map<std::string, Index> lost_lines(const Run& run, const TensorFile& state) {
  std::map<std::string, Index> lost;
  for (const auto& [key, value] : state.metadata) {
    double counted = 0;
    if (!key.starts_with(kLines) || !parse_number(value, counted)) continue;
    const std::string name = fs::path(key.substr(kLines.size())).filename().string();
    const Index lines = lines_in(run.path / name, run.step);
    const Index missing = static_cast<Index>(counted) - lines;
    if (missing > 0) lost[name] = missing;
  }
  return lost;
}

std::vector<std::string> lost_text(const Run& run) {
  return texts_of(run.lost, [&](const auto& log) {
    return text(log.first, " lacks ", log.second, log.second == 1 ? " line" : " lines",
                " that the run has written");
  });
}

void cut_logs(const Run& run, Index step) {
  std::vector<std::pair<fs::path, std::string>> shorter;
  for (const fs::path& file : files_in(run.path)) {
    if (file.extension() != ".jsonl" || !is_run_file(file)) continue;
    refuse_link(file);
    const std::string log = read_file(file);
    std::size_t kept = 0;
    for_each_line(log, file, identity_of(run.config), [&](const Json& line, std::size_t end) {
      if (line.at("step").integer() <= step) kept = end;
    });
    if (kept < log.size()) shorter.emplace_back(file, log.substr(0, kept));
  }
  for (const auto& [file, log] : shorter) write_file(file, log);
}

std::vector<Json> read_log(const fs::path& file, const std::string& run) {
  std::vector<Json> lines;
  if (!is_there(file)) return lines;
  for_each_line(read_file(file), file, run,
                [&](Json line, std::size_t) { lines.push_back(std::move(line)); });
  return lines;
}

void append_log(const Run& run, const fs::path& file, Json line) {
  line["run"] = identity_of(run.config);
  append_json(file, line);
}

}  // namespace headlab
