// Models for longer sequences: positions that both models know have the same logits, bit for bit.
#include "headlab/lab/runs/task_fit.h"

#include <gtest/gtest.h>

#include "headlab/core/model/initial.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "support/errors.h"

namespace headlab { namespace {

TransformerConfig small(Positions positions) {
  TransformerConfig config;
  config.vocab = 5;
  config.length = 4;
  config.layers = 2;
  config.heads = {2};
  config.d_model = 8;
  config.d_ff = 16;
  config.positions = positions;
  return config;
}

TEST(WithLength, FirstPositionsKeepTheirLogits) {
  const NoGrad no_grad;
  for (const Positions positions :
       {Positions::rotary, Positions::alibi, Positions::sinusoidal, Positions::none}) {
    Transformer model(small(positions));
    initialize(model, streams::initial_values(3));
    TaskShape task = model.shape();
    task.length = 7;
    const Transformer longer = with_length(model, task);
    EXPECT_EQ(longer.config().length, 7);
    Batch batch = Batch::make(1, 7, 1);
    batch.tokens = {0, 3, 1, 4, 2, 2, 0};
    Batch beginning = Batch::make(1, 4, 1);
    beginning.tokens = {0, 3, 1, 4};
    const Tensor own = model.forward(beginning);
    const Tensor all = longer.forward(batch);
    for (Index i = 0; i < own.count(); ++i) {
      EXPECT_FLOAT_EQ(all.data()[i], own.data()[i]) << kind_of(positions).name;
    }
  }
}

TEST(WithLength, LearnedPositionsAreNotExtended) {
  const Transformer model(small(Positions::learned));
  TaskShape task = model.shape();
  task.length = 3;
  EXPECT_EQ(with_length(model, task).config().length, 4);
  task.length = 7;
  expect_error([&] { with_length(model, task); },
               {"its sequences need 7 positions, and the model has learned 4"});
}

}}  // namespace headlab
