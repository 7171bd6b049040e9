// All of headlab: the framework (core.h), the laboratory and reports. It trains toy transformers,
// shows what each attention head does, and removes heads that the model does not need. In double
// (headlab_f64) it is what core.h has in double, and layouts. Read first: examples/one_page.cc, a
// training in 79 lines; src/README.md.
//
//   headlab::Run run = headlab::create_run("runs/full", headlab::recommended_config("relations"));
//   headlab::train_run(run);
//   const headlab::HeadsReport report = headlab::score_heads(run.model, *run.task);
//   std::cout << headlab::text_of(headlab::result_of(report));
//
// Letters, the same everywhere: B batch, T queries (time), S keys, C model width (d_model), H
// heads, D head width, V vocabulary, K targets at each position; dx is dLoss/dx.
#pragma once

// The framework: base, kernels, tensor, ops, nn, model, tasks, train.
#include "headlab/core.h"

// results: statistics, comparisons, tables.
#include "headlab/base/comparison.h"
#include "headlab/base/statistics.h"
#include "headlab/base/table.h"

// layouts: checkpoints of other programs.
#include "headlab/model/layouts.h"

#ifndef HEADLAB_F64

// data: tasks that read files and programs.
#include "headlab/tasks/lab_tasks.h"

// runs: a training as a folder.
#include "headlab/train/run.h"
#include "headlab/train/run_config.h"
#include "headlab/train/single_targets.h"

// heads: analysis of attention heads.
#include "headlab/heads/activations.h"
#include "headlab/heads/analyses.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/edges.h"
#include "headlab/heads/edits.h"
#include "headlab/heads/flow.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/lens.h"
#include "headlab/heads/lessons.h"
#include "headlab/heads/matrix.h"
#include "headlab/heads/node_patching.h"
#include "headlab/heads/paired.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/patching.h"
#include "headlab/heads/scores.h"
#include "headlab/heads/stored_patterns.h"
#include "headlab/heads/tracking.h"
#include "headlab/heads/transfer.h"

// prune: choosing and removing heads.
#include "headlab/prune/curve.h"
#include "headlab/prune/methods.h"
#include "headlab/prune/prune.h"

// lab: experiments over many runs.
#include "headlab/lab/compare.h"
#include "headlab/lab/conclusions.h"
#include "headlab/lab/reproduce.h"
#include "headlab/lab/sweep.h"

// bench: limits of the machine, the time of a training step, benchmarks.
#include "headlab/bench/bench.h"
#include "headlab/bench/cost.h"
#include "headlab/bench/profile.h"

// report: results as tables for a terminal, as pictures, and as a page.
#include "headlab/report/figures.h"
#include "headlab/report/finding_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/page.h"
#include "headlab/report/picture.h"

#endif
