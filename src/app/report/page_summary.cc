// The contents of a page, and the files that its views lack, with the commands that write them.
// Sizes are those of the file: base64 makes a third more of every block.
// Read next: src/app/cli/page.cc.
#include <map>

#include "headlab/app/report/page.h"
#include "headlab/core/base/error.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

/// Returns the title of a view of the page.
std::string title_of_view(const std::string& view) {
  static const std::map<std::string, std::string> kTitles = {{"first", "Story"},
                                                             {"head", "Head"},
                                                             {"bench", "Bench"},
                                                             {"results", "Results"}};
  return kTitles.at(view);
}

}  // namespace

Result result_of(const Page& page) {
  Table parts{"parts",
              {Column("name", "holds", "content").no_legend(),
               Column("bytes", "bytes", "in the file").shown_as(Form::grouped).no_legend()}};
  for (const PagePart& part : page.parts) parts.rows.push_back({part.name, part.bytes});
  parts.note = text("in all ", grouped(static_cast<Index>(page.html.size())), " bytes");
  return {.about = stamped(
              {{"bytes", page.html.size()}, {"files", page.sources}, {"left_out", page.left_out}}),
          .tables = {parts}};
}

std::string missing_text(const Page& page) {
  std::map<std::string, std::vector<std::string>> gaps;  // by command: the files it writes
  for (const PageSource& source : page.sources) {
    if ((!source.present || source.outdated) && !source.command.empty()) {
      gaps[source.command].push_back(
          text(source.file, " for ", join(mapped(source.views, title_of_view), ", ")));
    }
  }
  std::string lines = gaps.empty() ? "" : "\nnot there, or of earlier weights:\n";
  for (const auto& [command, files] : gaps) {
    lines += text(join(files, "; "), ", written by\n  ", command, "\n");
  }
  for (const std::string& sentence : page.left_out) lines += "\n" + wrapped(sentence, "", 80);
  return lines;
}

}  // namespace headlab
