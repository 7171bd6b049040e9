// What the facts of a page are made of: each function turns one thing into JSON and adds its
// numbers to the blocks. Heads are numbered as everywhere: module, and the number they were born
// with. Private to this layer. Read next: page_task.cc, page_run.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/heads/scores.h"
#include "headlab/report/page.h"
#include "report/page_blocks.h"

namespace headlab {

/// How much of everything a page holds; what thinning changes.
struct PagePlan {
  Index examples = 512;  // of each set
  Index snapshots = 40;  // kept steps of training
  Index shown = 16;      // examples that are offered to look at
  bool weights = true;   // whether the model is embedded
};

/// "self", "encoder" or "cross".
const char* kind_name(AttentionKind kind);
/// The task: tokens, relations, and its two sets of examples with their truth.
Json task_facts(const Task& task, const PagePlan& plan, PageBlocks& blocks);

/// What the program computes of a run for a page, once, whatever is thinned afterwards.
struct RunStudy {
  Index examples = 0;  // of each set
  Evaluation evaluation;
  std::vector<float> held_out_losses, scored_losses;  // of each example, nats per target; or NaN
  struct Module {
    AttentionKind kind;
    Index heads = 0, d_value = 0, queries = 0, keys = 0;
    std::vector<float> check;  // patterns: [checked, H, Q / check_every, S]
    /// The mean pattern over scored examples, [H, rows, columns]: of long inputs the largest weight
    /// of each square of by * by cells, in at most 64 x 64.
    Index by = 1, rows = 0, columns = 0;
    std::vector<float> mean_pattern;
    std::vector<float> mean_output;    // [H, Dv]
    std::vector<std::int32_t> donors;  // [examples]
  };
  std::vector<Module> modules;
  /// What the page checks itself with, of the first scored examples: query t is among it if
  /// (t + 1) % check_every is 0.
  Index checked = 0, check_every = 1;
  std::vector<float> logits;  // [checked, T / check_every, K*V]
  /// The weights after a kept step, and the loss that they have, in 32 bits and in 16.
  struct Snapshot {
    Index step = 0;
    std::vector<float> weights{};
    double loss = 0, half_loss = 0;
  };
  Index snapshot_examples = 0;  // on which these losses are taken
  std::vector<Snapshot> snapshots;
};
RunStudy study_run(const Run& run);

std::vector<RunStudy::Snapshot> study_snapshots(const Run& run, Index examples);
/// Null where nothing was kept, or there is no room for it.
Json snapshots_facts(const RunStudy& study, const PagePlan& plan, PageBlocks& blocks);

/// Examples of each set that a run of this size can be judged on in a page: 512, and fewer where
/// one example takes very long.
Index page_examples(const Transformer& model);

/// The run: its model, its numbers, its files.
Json run_facts(const Run& run, const RunStudy& study, const PagePlan& plan, PageBlocks& blocks);

/// The files that analysis left in the run's folder, as they stand; damaged ones are Errors.
Json run_reports(const Run& run);
/// What metrics.jsonl and heads.jsonl say, by column; null where there is none.
Json run_metrics(const Run& run);
Json run_history(const Run& run);
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

/// What the run shows, in a few sentences cut into pieces: {"text", "head", "relation", "view"}.
Json verdict_of(const Json& run);
/// The lessons as text and tables, and what their scripts compute with.
std::string lessons_html();
Json lessons_facts();
/// What a page shows without its scripts: the verdict, a table of scores, the heads as pictures.
std::string static_html(const Json& run, const RunStudy& study);

}  // namespace headlab
