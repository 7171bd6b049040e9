// The parts of a page's facts: each function converts one part to JSON and adds its numbers to the
// blocks. Heads are numbered as everywhere: attention layer and original index. Private to this
// layer. Read next: page_task.cc, page_run.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/report/page_blocks.h"
#include "headlab/app/report/page.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/studies/sweep.h"
#include "lab/studies/run_study.h"

namespace headlab {

/// Plan of a page: the amount of each kind of data, which thinning changes.
struct PagePlan {
  Index examples = kStudiedExamples;  // examples of each set
  Index snapshots = 40;               // kept steps of training, with their weights
  bool maps = true;                   // patterns of kept steps if no step has its weights
  Index shown = 16;                   // examples to display
  bool weights = true;                // whether the model is embedded
  bool trials = true;                 // maps of the heads of a sweep's trials
};

/// Returns the task: tokens, relations, and its two sets of examples with their ground truth.
Json task_facts(const Task& task, const PagePlan& plan, PageBlocks& blocks);
/// Returns the task without sets of examples.
Json task_facts(const Task& task);
/// Returns a set of examples with its ground truth.
Json set_facts(const Task& task, const Example& example, PageBlocks& blocks);

/// Returns the run: its model, its numbers, its files.
Json run_facts(const Run& run, const RunStudy& study, const PagePlan& plan, PageBlocks& blocks,
               const PageOptions& options);

/// Returns the title of an attention layer for a reader: "Encoder layer 0".
std::string title_of(const AttentionLayer& layer);
/// Returns the patterns of the displayed examples, [examples, H, Q, S] for each attention layer:
/// all weights, or of long rows the largest.
Json patterns_facts(const RunStudy& study, const std::vector<std::vector<Scalar>>& patterns,
                    Index examples, PageBlocks& blocks);
/// Returns the mean patterns of all heads by attention layer.
Json thumbnails_facts(const RunStudy& study, PageBlocks& blocks);

/// Returns the results of a run: the files of analyses in its folder, unchanged, and those of
/// `unkept`. Damaged files are Errors.
Json run_reports(const Run& run, const std::vector<UnkeptResult>& unkept);
/// Returns the tables of these results for a reader, by result: {"title", "columns": titles,
/// "rows": for each column [text], [text, number] or [text, number, low, high]}. Result that does
/// not fit its description: Error.
Json shown_tables(const Json& reports, const Task& task);
/// Returns the contents of heads.jsonl by column; null if there is no such file.
Json run_history(const Run& run);
/// Returns the pictures that the program draws of a run with these facts, as data by name.
Json run_figures(const Run& run, const Json& facts);
/// Returns the files that views of a page need, present or not.
std::vector<PageSource> run_sources(const Run& run, const PageOptions& options);

/// A finished trial of a sweep. The mean patterns are empty beyond the first trials, of which a
/// page shows maps.
struct PageTrial {
  std::string name, group;
  std::int64_t seed = 0;
  TrialResult result{};
  std::optional<std::size_t> run{};                // index among the runs that the page shows
  std::vector<std::vector<std::int32_t>> heads{};  // original indices, by attention layer
  std::vector<AttentionMaps> attention_layers{};   // with mean patterns
};

/// A sweep: its report, its finished trials, and the runs among them that a page shows.
struct PageSweep {
  Json facts;
  std::vector<PageTrial> trials{};
  std::vector<std::filesystem::path> runs{};
};
bool is_sweep(const std::filesystem::path& folder);
/// Reads a sweep; with `maps` also the mean patterns of its trials. Errors: no trial is finished; a
/// damaged file.
PageSweep read_sweep(const std::filesystem::path& folder, bool maps);
/// Returns the sweep: its report and the list of its trials, with maps of their heads if the plan
/// has them.
Json sweep_facts(const PageSweep& sweep, const PagePlan& plan, PageBlocks& blocks);
/// Returns the families of groups that differ in heads alone: {"name", "groups", "opening",
/// "conclusion", "reason", "figure"}. A sweep without two such groups is one family, "".
Json families_facts(const SweepReport& report);
/// Returns the index of the run with which the page of a sweep opens: that of the opening group of
/// the first family.
std::size_t opening_run(const PageSweep& sweep);
/// Returns the conclusions on a sweep and the table of its groups, for a page without scripts.
std::string static_html(const PageSweep& sweep);

/// Returns the conclusions on the run: a few sentences cut into pieces: {"text", "head",
/// "relation", "view"}.
Json conclusion_of(const Json& run);
/// Returns the method of curve.json from which conclusions are drawn: the search of all subsets, or
/// greedy removal; nullptr if it has neither.
const Json* best_method(const Json& curve);
/// Returns the point of a method with the fewest heads that are enough; nullptr if none are.
const Json* used_point(const Json& method);
/// Returns how many heads of a run are enough: {"method": the best of its curve, "kept": names of
/// the fewest heads with at most one point fewer right answers, "first": right answers without the
/// head that is removed first (null without a curve), "order": indices of methods, "rows": in up to
/// three senses [number, of what, the rule]}. `pruned` are the runs that were pruned from it.
Json enough_heads(const Json& run, const Json& task, const std::vector<const Json*>& pruned);
/// Returns the relations on which no head can be tested, by name: {"because", "advice"}.
Json untested_relations(const Json& reports);
/// Returns the diversity of trained heads against their number as data of a picture, from the facts
/// of a page; null if no scored model has several heads.
Json diversity_facts(const Json& facts);
/// Returns the lessons as text and tables; their scripts compute with lessons_json().
std::string lessons_html();
/// Returns the part of a page that is shown without its scripts: the conclusions, maps of heads,
/// and a table of scores.
std::string static_html(const Json& run, const Json& task, const RunStudy& study);
/// Returns the facts and blocks as elements of the document, and counts their sizes in
/// `page.parts`.
std::string data_html(const Json& facts, const PageBlocks& blocks, Page& page);
/// Returns the keys of a page's facts that no run decides: the version, the command, the lessons
/// and the thresholds of owners.
Json common_facts(const std::string& title, const PageOptions& options);

}  // namespace headlab
