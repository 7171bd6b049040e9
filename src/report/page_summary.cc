// What a page holds, and what its views miss, with the command that writes it. Sizes are those of
// the file: base64 makes a third more of every block.
// Read next: src/cli/page.cc.
#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/page.h"

namespace headlab {
namespace {

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

}  // namespace

Finding finding_of(const Page& page) {
  Table parts{"parts",
              {{"name", "holds", "what the bytes are spent on", kPlain, "", false},
               {"bytes", "bytes", "in the file", kGrouped, "", false}}};
  for (const PagePart& part : page.parts) parts.rows.push_back({part.name, part.bytes});
  parts.note = text("in all ", grouped(static_cast<Index>(page.html.size())), " bytes");
  Json files = Json::array();
  for (const PageSource& source : page.sources)
    files.push_back(Json::object({{"run", source.run},
                                  {"file", source.file},
                                  {"present", source.present},
                                  {"step", source.step},
                                  {"outdated", source.outdated},
                                  {"views", source.views},
                                  {"command", source.command}}));
  return {.about = stamped({{"bytes", page.html.size()},
                            {"files", std::move(files)},
                            {"left_out", page.left_out}}),
          .tables = {parts}};
}

std::string missing_text(const Page& page) {
  std::vector<Gap> gaps;
  for (const PageSource& source : page.sources)
    if ((!source.present || source.outdated) && !source.command.empty()) add_gap(gaps, source);
  std::string lines = gaps.empty() ? "" : "\nnot there, or of earlier weights:\n";
  for (const Gap& gap : gaps) {
    const std::vector<std::string> others(gap.runs.begin() + 1, gap.runs.end());
    lines += text(join(gap.files, ", "), " for ", gap.views, ", written by\n  ", gap.command,
                  others.empty() ? "" : "  # and so for " + join(others, ", "), "\n");
  }
  for (const std::string& sentence : page.left_out) lines += "\n" + wrapped(sentence, "", 80);
  return lines;
}

}  // namespace headlab
