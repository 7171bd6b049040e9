// All of headlab: the framework (core.h), the laboratory and reports. It trains toy transformers,
// shows what each attention head does, and removes heads that the model does not need. In double
// (headlab_f64) it is what core.h has in double, and layouts. Read first: examples/one_page.cc.
//
//   const headlab::RunConfig config = headlab::recommended_config("relations");
//   headlab::Run run = headlab::create_run("runs/full", config, headlab::Existing::replace);
//   headlab::train_run(run);
//   const headlab::HeadsReport report = headlab::score_heads(run.model, *run.task);
//   std::cout << headlab::text_of(headlab::result_of(report));
//
// Letters, the same everywhere: B batch, T queries (time), S keys, C model width (d_model), H
// heads, D head width, V vocabulary, K targets at each position; dx is dLoss/dx.
#pragma once

// The framework: base, kernels, tensor, ops, nn, model, tasks, train.
#include "headlab/core.h"

// checks: gradients of ops against central differences.
#include "headlab/lab/checks/gradcheck.h"

// results: statistics, comparisons, tables, stored JSON, words for readers.
#include "headlab/lab/results/comparison.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/results/words.h"

// layouts: checkpoints of other programs.
#include "headlab/lab/layouts/layouts.h"

#ifndef HEADLAB_F64

// data: tasks, generated or from files and programs.
#include "headlab/lab/data/data_files.h"
#include "headlab/lab/data/lab_tasks.h"

// runs: a training as a folder; generation with a trained model.
#include "headlab/lab/runs/file_lock.h"
#include "headlab/lab/runs/generation.h"
#include "headlab/lab/runs/run.h"
#include "headlab/lab/runs/run_config.h"
#include "headlab/lab/runs/single_targets.h"
#include "headlab/lab/runs/task_fit.h"

// heads: analysis of attention heads.
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/edges.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/lens.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/heads/causes/rollout.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/stored_patterns.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/heads/scores/transfer.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/heads/weights/matrix.h"

// prune: choosing and removing heads.
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/prune/prune.h"

// lab: experiments over many runs.
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/conclusions.h"
#include "headlab/lab/studies/sweep.h"

// bench: limits of the machine, the time of a training step, benchmarks.
#include "headlab/lab/bench/bench.h"
#include "headlab/lab/bench/cost.h"
#include "headlab/lab/bench/profile.h"

// report: results as tables for a terminal, as pictures, and as a page.
#include "headlab/app/report/figures.h"
#include "headlab/app/report/heatmap.h"
#include "headlab/app/report/page.h"
#include "headlab/app/report/picture.h"
#include "headlab/app/report/result_text.h"

#endif
