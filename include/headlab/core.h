// The framework: tensors and the tape, operations, layers, the transformer, tasks with known ground
// truth, and the trainer. headlab::core links all of it and nothing of the laboratory; in double
// (headlab::core_f64) base to model and the optimizers. Read next: src/core/README.md.
//
//   const auto task = headlab::make_task("relations:length=10");
//   headlab::TransformerConfig config;
//   config.shape() = task->shape();
//   headlab::Transformer model(config);
//   headlab::initialize(model, headlab::Key{0});
//   headlab::Trainer(model, *task, headlab::TrainConfig()).run();
#pragma once

// base: errors, random numbers, threads, memory, JSON, files. Has no tensors.
#include "headlab/base/build.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/json.h"
#include "headlab/base/pool.h"
#include "headlab/base/progress.h"
#include "headlab/base/random.h"
#include "headlab/base/safetensors.h"
#include "headlab/base/settings.h"
#include "headlab/base/text.h"
#include "headlab/base/threads.h"

// kernels: the number type. Matrix products, rows and attention are in src/core/kernels.
#include "headlab/kernels/scalar.h"

// tensor: shapes, tensors, the tape, gradient checks.
#include "headlab/tensor/gradcheck.h"
#include "headlab/tensor/tape.h"
#include "headlab/tensor/tensor.h"
#include "headlab/tensor/watch.h"

// ops: differentiable operations.
#include "headlab/ops/arithmetic.h"
#include "headlab/ops/attention.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/loss.h"
#include "headlab/ops/matmul.h"
#include "headlab/ops/ops.h"
#include "headlab/ops/rows.h"

// nn: linear maps, norms, feed-forward networks, multi-head attention.
#include "headlab/nn/attention.h"
#include "headlab/nn/attention_functions.h"
#include "headlab/nn/layers.h"

// model: configuration, the transformer, checkpoints, generation.
#include "headlab/model/batch.h"
#include "headlab/model/block.h"
#include "headlab/model/checkpoint.h"
#include "headlab/model/config.h"
#include "headlab/model/generation.h"
#include "headlab/model/initial.h"
#include "headlab/model/model.h"
#include "headlab/model/transformer.h"

// train: optimizers.
#include "headlab/train/optimizer.h"

#ifndef HEADLAB_F64

// tasks: tokens, targets and the ground truth.
#include "headlab/tasks/definition.h"
#include "headlab/tasks/table.h"
#include "headlab/tasks/task.h"

// train: the trainer and evaluation.
#include "headlab/train/config.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/streams.h"
#include "headlab/train/trainer.h"

#endif
