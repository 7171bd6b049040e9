// What a page holds, as a table and as JSON, and what its views miss, with the command that writes
// it. Sizes are those of the file: base64 makes a third more of every block.
// Read next: table.h.
#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/page.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

std::string kilobytes(std::size_t bytes) { return fixed(static_cast<double>(bytes) / 1000, 1); }

/// What some of the runs lack, and what writes it.
struct Gap {
  std::vector<std::string> files;  // written by one command
  std::string views, command;      // command: of the first of these runs
  std::vector<std::string> runs{};
};

void add_gap(std::vector<Gap>& gaps, const PageSource& source) {
  for (Gap& gap : gaps) {
    const bool here = std::ranges::find(gap.files, source.file) != gap.files.end();
    if (!here && gap.command != source.command) continue;
    if (!here) gap.files.push_back(source.file);
    if (std::ranges::find(gap.runs, source.run) == gap.runs.end()) gap.runs.push_back(source.run);
    return;
  }
  gaps.push_back({{source.file}, join(source.views, ", "), source.command, {source.run}});
}

/// A line for each finding, however many runs lack it.
std::string gaps_text(const std::vector<PageSource>& sources) {
  std::vector<Gap> gaps;
  for (const PageSource& source : sources)
    if ((!source.present || source.outdated) && !source.command.empty()) add_gap(gaps, source);
  Texts table({"not there, or of earlier weights", "for the views", "written by"});
  for (const Gap& gap : gaps) {
    const std::vector<std::string> others(gap.runs.begin() + 1, gap.runs.end());
    const std::string more = others.empty() ? "" : "  # and so for " + join(others, ", ");
    table.add({join(gap.files, ", "), gap.views, gap.command + more});
  }
  return gaps.empty() ? "" : "\n" + table.to_string();
}

}  // namespace

static Json to_json(const PagePart& part) {
  return Json::object({{"name", part.name}, {"bytes", part.bytes}});
}

static Json to_json(const PageSource& source) {
  return Json::object({{"run", source.run},
                       {"file", source.file},
                       {"present", source.present},
                       {"step", source.step},
                       {"outdated", source.outdated},
                       {"views", source.views},
                       {"command", source.command}});
}

Json to_json(const Page& page) {
  return stamped({{"bytes", page.html.size()},
                  {"parts", page.parts},
                  {"files", page.sources},
                  {"left_out", page.left_out}});
}

std::string page_text(const Page& page) {
  Texts parts({"holds", "kB"});
  for (const PagePart& part : page.parts) parts.add({part.name, kilobytes(part.bytes)});
  parts.add({"all", kilobytes(page.html.size())});
  std::string shown = parts.to_string() + gaps_text(page.sources);
  for (const std::string& sentence : page.left_out) shown += "\n" + sentence + "\n";
  return shown;
}

}  // namespace headlab
