// Several trainings at once, each on several threads: the same bits, and (under ThreadSanitizer) no
// race. Read next: core_test.cc.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "headlab/core.h"
#include "headlab/core/base/threads.h"

namespace headlab { namespace {

/// The parameters after a short training.
std::vector<double> trained_with_seed(std::uint64_t seed) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  TransformerConfig config;
  config.shape() = task->shape();
  config.heads = {2};
  config.d_model = 8;
  config.d_ff = 12;
  config.dropout = 0.1;
  Transformer model(config);
  initialize(model, Key{seed});
  TrainConfig train;
  train.steps = 20;
  train.batch = 16;
  train.warmup = 5;
  train.eval_examples = 8;
  train.seed = static_cast<std::int64_t>(seed);
  Trainer(model, *task, train).run();
  std::vector<double> parameters;
  model.visit([&](const std::string&, const Tensor& tensor) {
    parameters.insert(parameters.end(), tensor.data(), tensor.data() + tensor.count());
  });
  return parameters;
}

class Hosts : public testing::Test {
 protected:
  ~Hosts() override { set_thread_count(before_); }
  int before_ = thread_count();
};

TEST_F(Hosts, TwoThatTrainAtOnceDoNotDisturbEachOther) {
  const std::vector<double> first = trained_with_seed(1), second = trained_with_seed(2);
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    std::vector<double> beside;
    {
      std::jthread other([&] { beside = trained_with_seed(2); });
      EXPECT_EQ(trained_with_seed(1), first) << threads;
    }
    EXPECT_EQ(beside, second) << threads;
  }
}

}  // namespace
}  // namespace headlab
