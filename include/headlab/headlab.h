// Start here, after examples/one_page.cc: a whole training in 79 lines, each step with the name of
// the file where this library does the same. headlab trains toy transformers, shows what each
// attention head does, and removes those that do nothing. This header includes all of it, layer by
// layer; in double (headlab_f64) the engine alone, base to model. The words are in src/README.md.
//
//   headlab::Run run = headlab::create_run("runs/full", headlab::recommended_config("relations"));
//   headlab::train_run(run);
//   const headlab::HeadsReport report = headlab::score_heads(run.model, *run.task);
//   std::cout << headlab::text_of(headlab::finding_of(report));
//
// Letters, the same everywhere: B batch, T queries (time), S keys, C model width (d_model), H
// heads, D head width, V vocabulary, K targets at each position; dx is dLoss/dx.
#pragma once

// base: errors, random numbers, threads, memory, JSON, files. Knows nothing of tensors.
#include "headlab/base/build.h"
#include "headlab/base/comparison.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/json.h"
#include "headlab/base/pool.h"
#include "headlab/base/progress.h"
#include "headlab/base/random.h"
#include "headlab/base/safetensors.h"
#include "headlab/base/settings.h"
#include "headlab/base/statistics.h"
#include "headlab/base/table.h"
#include "headlab/base/text.h"
#include "headlab/base/threads.h"

// kernels: the number type. Matrix products, rows and attention are in src/core/kernels.
#include "headlab/kernels/scalar.h"

// tensor: shapes, tensors, the tape.
#include "headlab/tensor/gradcheck.h"
#include "headlab/tensor/tape.h"
#include "headlab/tensor/tensor.h"
#include "headlab/tensor/watch.h"

// ops: differentiable operations, and the table of their gradient checks.
#include "headlab/ops/arithmetic.h"
#include "headlab/ops/attention.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/matmul.h"
#include "headlab/ops/ops.h"
#include "headlab/ops/rows.h"

// nn: linear maps, layer norm, feed-forward, multi-head attention.
#include "headlab/nn/attention.h"
#include "headlab/nn/layers.h"

// model: configuration, the transformer, checkpoints, generation.
#include "headlab/model/batch.h"
#include "headlab/model/checkpoint.h"
#include "headlab/model/config.h"
#include "headlab/model/generation.h"
#include "headlab/model/initial.h"
#include "headlab/model/layouts.h"
#include "headlab/model/transformer.h"

#ifndef HEADLAB_F64

// tasks: tokens, targets, and the truth.
#include "headlab/tasks/definition.h"
#include "headlab/tasks/table.h"
#include "headlab/tasks/task.h"

// train: optimizers, the trainer, runs.
#include "headlab/train/config.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/optimizer.h"
#include "headlab/train/run.h"
#include "headlab/train/run_config.h"
#include "headlab/train/streams.h"
#include "headlab/train/trainer.h"

// heads: what each head does.
#include "headlab/heads/activations.h"
#include "headlab/heads/analyses.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/edits.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/lessons.h"
#include "headlab/heads/matrix.h"
#include "headlab/heads/paired.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/patching.h"
#include "headlab/heads/scores.h"
#include "headlab/heads/tracking.h"

// prune: which heads can go.
#include "headlab/prune/curve.h"
#include "headlab/prune/methods.h"
#include "headlab/prune/prune.h"

// lab: experiments over many runs.
#include "headlab/lab/compare.h"
#include "headlab/lab/reproduce.h"
#include "headlab/lab/sweep.h"
#include "headlab/lab/verdicts.h"

// bench: the machine, a training step beside its limits, benchmarks.
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
