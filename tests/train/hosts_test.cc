// Several trainings at once, each on several threads: the same bits, and (under ThreadSanitizer) no
// race. Read next: trainer_test.cc.
#include <thread>

#include "support/runs.h"

namespace headlab { namespace {

/// The parameters after a short training.
std::vector<double> trained_with_seed(std::int64_t seed) {
  RunConfig config = tiny_config(text("steps=20 batch=16 seed=", seed));
  const std::unique_ptr<Task> task = fit_to_task(config);
  Transformer model = initial_model(config);
  Trainer(model, *task, config.train).run();
  return parameters_in(model);
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
