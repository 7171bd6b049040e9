// What a page holds, as a table and as JSON, and what its views miss, with the command that writes
// it. Sizes are those of the file: base64 makes a third more of every block.
// Read next: table.h.
#include "headlab/base/error.h"
#include "headlab/report/page.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

std::string kilobytes(std::size_t bytes) { return fixed(static_cast<double>(bytes) / 1000, 1); }

}  // namespace

static Json to_json(const PagePart& part) {
  return Json::object({{"name", part.name}, {"bytes", part.bytes}});
}

static Json to_json(const PageSource& source) {
  return Json::object({{"run", source.run},
                       {"file", source.file},
                       {"present", source.present},
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
  Table parts({"holds", "kB"});
  for (const PagePart& part : page.parts) parts.add({part.name, kilobytes(part.bytes)});
  parts.add({"all", kilobytes(page.html.size())});
  Table missing({"not there", "for the views", "written by"});
  bool any = false;
  for (const PageSource& source : page.sources) {
    if (source.present || source.command.empty()) continue;
    missing.add({source.file, join(source.views, ", "), source.command});
    any = true;
  }
  std::string shown = parts.to_string() + (any ? "\n" + missing.to_string() : "");
  for (const std::string& sentence : page.left_out) shown += "\n" + sentence + "\n";
  return shown;
}

}  // namespace headlab
