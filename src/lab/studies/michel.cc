// Experiments of Michel et al. Heads are chosen on training examples and evaluated on held-out
// ones, except if the experiment is about that very difference. Published numbers marked "as
// transcribed" come from transcriptions of the paper's tables and not from the authors' own pages.
// Read next: src/lab/prune/rankings.cc.
#include <algorithm>
#include <array>

#include "headlab/core/base/error.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/studies/reproduce.h"
#include "lab/runs/snapshots.h"

namespace headlab {
namespace {

/// Shares of the heads to remove; their number is rounded down.
constexpr std::array<double, 5> kShares = {0, 0.2, 0.4, 0.6, 0.8};

/// Keeps a single head in one attention layer after the other: the best one when it is chosen on
/// the held-out examples themselves, and when it is chosen on others.
Json keep_one_head(const Run& run, Index examples) {
  const std::vector<HeadId> heads = all_heads(run.model);
  std::vector<HeadSet> ablated{{}};
  for (const HeadId& head : heads) {
    ablated.push_back(heads);
    std::erase_if(ablated.back(), [&](const HeadId& other) {
      return other.attention_layer != head.attention_layer || other == head;
    });
  }
  const Batch held_out = held_out_examples(*run.task, examples).batch;
  const Batch others = run.task->make_batch(streams::choosing(), examples, Split::train);
  const std::vector<double> judged = Ablation(run.model, held_out).mean_losses(ablated);
  const std::vector<double> chosen = Ablation(run.model, others).mean_losses(ablated);
  Json rows = Json::array();
  const std::vector<std::string> attention_layers = attention_layer_names(run.model);
  for (std::size_t first = 0, h = 0; first < heads.size(); first = h) {
    std::size_t in = first, out = first;
    for (h = first; h < heads.size() && heads[h].attention_layer == heads[first].attention_layer;
         ++h) {
      if (judged[h + 1] < judged[in + 1]) in = h;
      if (chosen[h + 1] < chosen[out + 1]) out = h;
    }
    rows.push_back(Json::object({{"module", attention_layers[heads[first].attention_layer]},
                                 {"in_sample", heads[in]},
                                 {"change_in_sample", judged[in + 1] - judged[0]},
                                 {"out_of_sample", heads[out]},
                                 {"change_out_of_sample", judged[out + 1] - judged[0]}}));
  }
  return rows;
}

/// Returns the heads kept of a model that loses this share of its heads by importance.
Choice without(const Transformer& model, const Task& task, Index examples, double share) {
  const auto heads = std::ssize(all_heads(model));
  const auto gone = static_cast<Index>(share * static_cast<double>(heads) + 1e-9);
  const PruneProblem problem{.model = model, .task = task, .settings = {.examples = examples}};
  return choose_heads(problem, find_prune_method("importance"), heads - gone);
}

/// Evaluates the weights that the run kept during training (keep_weights), pruned by importance.
Json prune_on_the_way(const Run& run, Index examples) {
  Json stages = Json::array();
  const Snapshots kept = read_snapshots(run);
  for (std::size_t i = 0; i < kept.steps.size(); ++i) {
    const Transformer now = kept.model(run, i);
    Json judged = Json::array();
    for (const double share : kShares) {
      judged.push_back(judge(pruned_model(now, without(now, *run.task, examples, share)), *run.task,
                             {.examples = examples}));
    }
    stages.push_back(Json::object({{"step", kept.steps[i]}, {"by_share", std::move(judged)}}));
  }
  return stages;
}

CurveOptions curve_options(const PaperOptions& options) {
  return {.methods = {"importance", "ablation", "random"},
          .settings = {.examples = options.settings.examples},
          .keeping = options.keeping,
          .progress = options.progress};
}

std::vector<Job> michel_jobs(const std::vector<std::filesystem::path>& runs,
                             const PaperOptions& options) {
  return curve_jobs(runs, curve_options(options));
}

Json michel(const Run& run, const PaperOptions& options) {
  require(!all_heads(run.model).empty(), "cannot prune: the model has no head to prune");
  const Index examples = options.settings.examples;
  options.tell(run, "ablating single heads");
  Json report =
      stamped({{"ablation",
                result_of(ablate_heads(run.model, held_out_examples(*run.task, examples).batch))},
               {"one_head_per_layer", keep_one_head(run, examples)},
               {"curve", prune_curve(run, curve_options(options))},
               {"shares", std::vector<double>(kShares.begin(), kShares.end())},
               {"by_step", prune_on_the_way(run, examples)}});
  options.tell(run, "timing the full, the masked and the pruned model");
  const std::vector<Index>& batches = options.timing.batches;
  const Index largest = batches.empty() ? 1 : std::ranges::max(batches);
  const Table timing =
      time_pruning(run.model, without(run.model, *run.task, examples, 0.5).kept,
                   run.task->make_batch(streams::timed(), largest, Split::validation),
                   options.timing);
  report["timing"] = Json(Result{.tables = {timing}}).at("timing");
  return report;
}

constexpr const char* kPublished[] = {
    "published (another model: WMT encoder, 96 heads, as transcribed): 8 heads matter at p < .01, "
    "and for half of those removal improves BLEU",
    "published (another model: WMT, change of BLEU, chosen on the test set -> on other data, as "
    "transcribed): encoder layer 6 -.36 -> -.67, cross layer 6 -13.56 -> -18.89, decoder layer 6 "
    "+.24 -> -.03",
    "published (other models, as transcribed): 20% (WMT) and 40% (BERT) of the heads can be "
    "removed without loss; the model collapses if more than about 60% of the encoder-decoder heads "
    "are removed; importance is better than the order of single ablations",
    "published (another model, as transcribed): in epochs 1-2 every removal costs; from epoch 10, "
    "up to 40% of the heads can be removed while BLEU stays at 85-90%",
    "published (BERT, half of the heads removed, examples per second, as transcribed): batch 1 "
    "+1.9%, 4 +2.7%, 16 +17.5%, 64 +17.5%"};

/// Returns the columns of all experiments.
std::vector<Table> michel_tables() {
  Table heads = result_of(AblationReport()).tables[0], curve = points_table();
  heads.name = "ablation.heads";
  heads.title = "1. one head ablated at a time";
  Table one{
      .name = "one_head_per_layer",
      .columns = {Column("module", "only one head left in",
                         "attention layer with one head left; other layers keep all heads")
                      .no_legend(),
                  Column("in_sample", "best head", "chosen on the examples on which it is scored")
                      .of(CellKind::head),
                  Column("change_in_sample", "change of loss",
                         "change of the loss with only this head left")
                      .shown_as(Form::signed_number),
                  Column("out_of_sample", "out of sample", "best head, chosen on other examples")
                      .of(CellKind::head),
                  Column("change_out_of_sample", "change there",
                         "change of the loss with only this head left, on held-out examples")
                      .shown_as(Form::signed_number)},
      .title = "2. one head left in a layer"};
  curve.name = "curve.methods";
  curve.title = "3. heads removed by importance, compared with the order of single ablations";
  curve.grids = {{"loss after removal", "method", "kept", "loss"}};
  Table steps{
      .name = "by_step",
      .columns = {Column("step", "trained steps", "training step at which the model was pruned")
                      .no_legend()},
      .title =
          "4. loss after pruning by importance at earlier training steps (train --keep-weights)"};
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    steps.columns.push_back({text("by_share.", i, ".loss"), text(100 * kShares[i], "% gone")});
  }
  Table timing = timing_table();
  timing.title = "5. half of the heads removed";
  std::vector<Table> tables = {heads, one, curve, steps, timing};
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].note = kPublished[i];
  return tables;
}

/// Leaves out experiments that were not run.
Result michel_found(const Json& report) {
  std::vector<Table> tables = michel_tables();
  if (report.is_null()) return {.tables = std::move(tables)};
  for (Table& table : tables) table = table_of(report, std::move(table));
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return {.about = report, .tables = std::move(tables)};
}

/// Returns the curves over runs: means for each method and number of heads.
Table michel_over_runs(std::span<const Json> reports) {
  std::vector<Curve> curves;
  for (const Json& report : reports) curves.push_back(read_as<Curve>(report.at("curve")));
  Table table = curve_tables(curves, counted(curves.size()))[0];
  table.name = "over_runs";
  return table;
}

}  // namespace

extern const Paper kMichel;  // for the table of papers, in voita.cc
const Paper kMichel{"michel", michel_jobs, michel, michel_found, michel_over_runs};

}  // namespace headlab
