// Page: one HTML file that contains a run. It holds the results of training and analysis, the
// examples and the weights, so that the model runs in the browser without a network. A page is a
// pure function of the files of its runs and of these options: the same bytes each time. Read next:
// src/app/report/page.cc; src/app/report/page/engine/page_data.js, the model in the page.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headlab/lab/heads/scores/stored_patterns.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

/// Result of a run that its folder does not hold, because it could not be stored there.
struct UnkeptResult {
  std::string run, file;  // the run as it was named, and the file that would hold the result
  Json result;
};

struct PageOptions {
  Index examples = 16;  // number of examples to display
  double megabytes =
      8;  // size limit of the page (1 MB: 10^6 bytes); data that does not fit is thinned
  bool weights = true;    // whether to embed the model; if not, patterns are embedded
  std::string command{};  // the command that reproduces the page, as shown in it
  /// Returns the command that writes a file of a run (heads.json ...) that a view needs; "" if
  /// there is none.
  std::function<std::string(const Run& run, const std::string& file)> writer{};
  std::vector<UnkeptResult> unkept{};  // shown like the results in the folders of the runs
};

/// File of a run that views of the page need.
struct PageSource {
  std::string run, file;
  bool present = false;
  std::vector<std::string> views{};
  std::string command{};  // command that writes it
  Json step{};            // training step of the weights it describes; null if not recorded
  bool outdated = false;  // it describes earlier weights: views do not show it

  void members(auto&& f) {
    f("run", run), f("file", file), f("present", present), f("step", step);
    f("outdated", outdated), f("views", views), f("command", command);
  }
};

/// Size of one part of a page: "code", "facts", "weights", "examples" ...
struct PagePart {
  std::string name;
  std::size_t bytes = 0;
};

struct Page {
  std::string html;
  std::vector<PagePart> parts;
  std::vector<PageSource> sources;
  std::vector<std::string> left_out;  // sentences about data that did not fit or is missing
};
Result result_of(const Page& page);
/// Returns the files that the page's views lack, with the commands that write them, and the data
/// left out.
std::string missing_text(const Page& page);

/// Returns a page of one run, of several side by side, or of a sweep. If a run was made by pruning,
/// the original run is included if it still exists. If the page would be larger than
/// options.megabytes, these are left out in turn until it fits: kept steps of training, examples,
/// weights; never the data of the page's self-check, and never scores. Errors: no run; the errors
/// of open_run; a damaged file of analysis.
Page make_page(const std::vector<std::filesystem::path>& paths, const PageOptions& options = {});
/// Title and scores of a page of stored patterns.
struct StoredPage {
  std::string name;  // title of the page
  Json heads;        // scores of the heads: result_of their report, with its command
};
/// Returns a page of stored patterns. Views that need a model are left out. If the page would be
/// larger than options.megabytes, fewer examples are shown; all are scored.
Page make_page(const StoredPatterns& patterns, const StoredPage& about,
               const PageOptions& options = {});
/// Returns the lessons alone, on sentences that can be computed by hand. Lessons that need trained
/// models use those of the sweep in this folder (empty: they are left out). The page calls the
/// sweep `name`, wherever its folder is, so that the printed command reproduces it.
Page make_textbook(const std::filesystem::path& sweep = {}, const std::string& name = "",
                   const PageOptions& options = {});

/// Returns a page that trains small models in the browser, on 2,048 sequences of each task, and
/// measures them on 64 held-out ones. Some tasks named without parameters are smaller than by
/// default, so that they learn within seconds. The same seed in `headlab train` on the same
/// sequences has the same losses. Errors: no task; a task without relations, of vectors, or with a
/// source; more than 4,096 tokens or answers, 64 positions, or one key per query and relation;
/// those of make_task.
Page make_playground(const std::vector<std::string>& tasks, const PageOptions& options = {});

}  // namespace headlab
