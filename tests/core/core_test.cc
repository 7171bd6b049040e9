// The framework without the laboratory: this program includes core.h and links headlab::core alone.
// Read next: include/headlab/core.h.
#include "headlab/core.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headlab { namespace {

TEST(Core, ListsItsOwnTasksOnly) {
  std::vector<std::string> names;
  for (const TaskEntry& task : task_table()) names.emplace_back(task.name);
  const std::vector<std::string> expected = {"relations", "induction"};
  EXPECT_EQ(names, expected);
}

TEST(Core, RefusesATaskOfTheLaboratoryWithTheNamesItHas) {
  try {
    make_task("grid");
    FAIL() << "grid is not in the framework";
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("relations"), std::string::npos) << error.hint();
    EXPECT_EQ(error.hint().find("patches"), std::string::npos) << error.hint();
  }
}

TEST(Core, TrainsAModelThatLearns) {
  const auto task = make_task("relations:length=6");
  TransformerConfig config;
  config.shape() = task->shape();
  Transformer model(config);
  initialize(model, Key{0});
  const double before = evaluate(model, *task).loss;
  TrainConfig train;
  train.steps = 20;
  Trainer(model, *task, train).run();
  EXPECT_LT(evaluate(model, *task).loss, before);
}

}  // namespace
}  // namespace headlab
