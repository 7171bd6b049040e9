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
#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/mean.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/random.h"
#include "headlab/core/base/safetensors.h"
#include "headlab/core/base/settings.h"
#include "headlab/core/base/text.h"
#include "headlab/core/base/threads.h"

// kernels: the number type. Matrix products, rows and attention are in src/core/kernels.
#include "headlab/core/kernels/scalar.h"

// tensor: shapes, tensors, the tape.
#include "headlab/core/tensor/tape.h"
#include "headlab/core/tensor/tensor.h"
#include "headlab/core/tensor/watch.h"

// ops: differentiable operations.
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/attention.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/ops/loss.h"
#include "headlab/core/ops/matmul.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/ops/rows.h"

// nn: linear maps, norms, feed-forward networks, multi-head attention.
#include "headlab/core/nn/attention.h"
#include "headlab/core/nn/attention_functions.h"
#include "headlab/core/nn/layers.h"

// model: configuration, the transformer, checkpoints.
#include "headlab/core/model/batch.h"
#include "headlab/core/model/block.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/model/config.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/model/model.h"
#include "headlab/core/model/transformer.h"

// train: optimizers.
#include "headlab/core/train/optimizer.h"

#ifndef HEADLAB_F64

// tasks: tokens, targets and the ground truth.
#include "headlab/core/tasks/definition.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/tasks/task.h"

// train: the trainer and evaluation.
#include "headlab/core/train/config.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/core/train/trainer.h"

#endif
