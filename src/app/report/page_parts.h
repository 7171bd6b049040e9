// The parts of a page's facts: each function turns one thing into JSON and adds its
// numbers to the blocks. Heads are numbered as everywhere: module, and the number they were born
// with. Private to this layer. Read next: page_task.cc, page_run.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/heads/scores.h"
#include "headlab/report/page.h"
#include "report/page_blocks.h"
#include "studies/run_study.h"

namespace headlab {

/// How much of everything a page holds; what thinning changes.
struct PagePlan {
  Index examples = kStudiedExamples;  // of each set
  Index snapshots = 40;               // kept steps of training, with their weights
  bool maps = true;                   // of kept steps, where none has its weights
  Index shown = 16;                   // examples that are offered to look at
  bool weights = true;                // whether the model is embedded
};

/// The task: tokens, relations, and its two sets of examples with their truth.
Json task_facts(const Task& task, const PagePlan& plan, PageBlocks& blocks);

/// The run: its model, its numbers, its files.
Json run_facts(const Run& run, const RunStudy& study, const PagePlan& plan, PageBlocks& blocks);

/// The files that analysis left in the run's folder, as they stand; damaged ones are Errors.
Json run_reports(const Run& run);
/// The contents of heads.jsonl by column; null if there is no such file.
Json run_history(const Run& run);
/// The pictures that the program draws of a run with these facts, as data by name.
Json run_figures(const Run& run, const Json& facts);
/// The files that views of a page need, whether they are there or not.
std::vector<PageSource> run_sources(const Run& run, const PageOptions& options);

/// A sweep: its report with a list of its cells, and the runs among them that a page shows.
struct PageSweep {
  Json facts;
  std::vector<std::filesystem::path> runs;
};
bool is_sweep(const std::filesystem::path& folder);
/// Errors: no cell is finished; a damaged file.
PageSweep read_sweep(const std::filesystem::path& folder);

/// The verdict on the run: a few sentences cut into pieces: {"text", "head", "relation", "view"}.
Json verdict_of(const Json& run);
/// The lessons as text and tables; their scripts compute with lessons_json().
std::string lessons_html();
/// The part of a page that is shown without its scripts: the verdict, maps of heads, and a table of
/// scores.
std::string static_html(const Json& run, const Json& task, const RunStudy& study);

}  // namespace headlab
