// A page: one HTML file in which a run lives. It holds what training and analysis wrote, the
// examples, and the weights, so that the model runs where the page is read; nothing is fetched. A
// page is a pure function of the files of its runs and of these options: the same bytes each time.
// Read next: src/app/report/page.cc; src/app/report/page/core_page.js, the model in the page.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/base/table.h"
#include "headlab/train/run.h"

namespace headlab {

struct PageOptions {
  Index examples = 16;    // offered to look at
  double megabytes = 8;   // what the page may take (1 MB: 10^6 bytes); what does not fit is thinned
  bool weights = true;    // whether the model itself is embedded; if not, patterns are
  std::string command{};  // what makes the page again, as it is shown in it
  /// The command that writes a file of a run (heads.json ...) that a view needs; "" if none does.
  std::function<std::string(const Run& run, const std::string& file)> writer{};
};

/// A file of a run that views of the page need.
struct PageSource {
  std::string run, file;
  bool present = false;
  std::vector<std::string> views{};
  std::string command{};  // that writes it
  Json step{};            // of the weights that it describes; null where it does not say
  bool outdated = false;  // these are earlier weights: views do not show it

  void members(auto&& f) {
    f("run", run), f("file", file), f("present", present), f("step", step);
    f("outdated", outdated), f("views", views), f("command", command);
  }
};

/// The size of one part of a page: "code", "facts", "weights", "examples" ...
struct PagePart {
  std::string name;
  std::size_t bytes = 0;
};

struct Page {
  std::string html;
  std::vector<PagePart> parts;
  std::vector<PageSource> sources;
  std::vector<std::string> left_out;  // sentences: what did not fit, and what is not there
};
Finding finding_of(const Page& page);
/// Files that the page's views lack, with the commands that write them, and what was left out.
std::string missing_text(const Page& page);

/// A page of one run or several side by side, or of a sweep; the run from which another was made by
/// pruning comes with it, if it is still there. Where the page would be larger than
/// options.megabytes, these are left out in turn until it fits: kept steps of training, examples,
/// weights; never what the page checks itself with, and never scores. Errors: no run, or what
/// open_run finds; a damaged file of analysis.
Page make_page(const std::vector<std::filesystem::path>& paths, const PageOptions& options = {});
/// The lessons alone, on sentences that can be computed by hand and, where a lesson needs trained
/// models, on those of the sweep in this folder (empty: without). The sweep is called `name` in the
/// page, wherever it lies, so that its command makes it again.
Page make_textbook(const std::filesystem::path& sweep = {}, const std::string& name = "",
                   const PageOptions& options = {});

}  // namespace headlab
