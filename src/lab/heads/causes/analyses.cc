// The table of analyses that need a run and a number of held-out examples. Each row names the
// function that computes its report.
// Read next: attribution.cc, patching.cc.
#include "headlab/lab/heads/causes/analyses.h"

#include <algorithm>

#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/edges.h"
#include "headlab/lab/heads/causes/lens.h"
#include "headlab/lab/heads/causes/rollout.h"
#include "headlab/lab/heads/scores/transfer.h"

namespace headlab {
namespace {

Result attribute(const Run& run, Index examples) {
  return result_of(attribute_logits(run.model, *run.task, examples));
}

Table attribute_examples(const Run& run, Index examples) {
  return attributed_examples(run.model, *run.task, examples);
}

Result attribute_prompt(const Run& run, const Batch& prompt, const NamedAnswer& asked) {
  return result_of(attribute_logits(run.model, prompt, asked));
}

Result edges(const Run& run, Index examples) {
  return result_of(find_edge_areas(run.model, *run.task, examples));
}

Result rollout(const Run& run, Index examples) {
  return result_of(find_rollout(run.model, *run.task, examples));
}

Result lens(const Run& run, Index examples) {
  return result_of(read_lens(run.model, *run.task, examples));
}

Table lens_examples(const Run& run, Index examples) {
  return with_rows(
      single_against_table(read_lens(run.model, *run.task, examples).against.rows, true));
}

Result lens_prompt(const Run& run, const Batch& prompt, const NamedAnswer& asked) {
  return result_of(read_lens(run.model, *run.task, prompt, asked));
}

/// The tables of held-out examples, and that of a prompt.
Result lens_shape() {
  Result shape = result_of(LensReport());
  shape.tables.push_back(against_table({}, true));
  shape.tables.push_back(result_of(PromptLens()).tables[0]);
  return shape;
}

Result transfer(const Run& run, Index examples) { return result_of(find_transfer(run, examples)); }

template <class Report>
Result shape_of() {
  return result_of(Report());
}

}  // namespace

const std::vector<Analysis>& analyses() {
  static const std::vector<Analysis> all = {
      {"attribute", "attribution.json",
       "direct logit attribution: what each part adds to the logit", 512, attribute,
       [] { return result_of(AttributionReport{.targets = {"TARGET"}, .logits = {0}}); },
       attribute_examples, [] { return Result{.tables = {attributed_examples_shape()}}; },
       attribute_prompt},
      {"lens", "lens.json", "what the model would answer after each sublayer (logit lens)", 512,
       lens, lens_shape, lens_examples,
       [] { return Result{.tables = {single_against_table({}, true)}}; }, lens_prompt},
      {"rollout", "rollout.json", "attention over all layers in one map (rollout)", 32, rollout,
       shape_of<RolloutReport>},
      {"edges", "edges.json", "which scores of edges (query, key) rank the ground truth first", 32,
       edges, shape_of<EdgeAreaReport>},
      {"transfer", "transfer.json", "which heads kept their role after `train --from`", 512,
       transfer, shape_of<TransferReport>, nullptr, nullptr, nullptr, false},
  };
  return all;
}

}  // namespace headlab
