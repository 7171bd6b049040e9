// The learning rate at every corner of its schedule, and settings that cannot be.
#include "headlab/core/train/config.h"

#include "headlab/core/base/text.h"
#include "headlab/lab/runs/run_config.h"
#include "support/tensors.h"

namespace headlab { namespace {

TrainConfig schedule(ScheduleKind kind, Index steps, Index warmup, double min_lr = 0.1) {
  TrainConfig config;
  config.schedule = kind;
  config.steps = steps;
  config.warmup = warmup;
  config.lr = 2;
  config.min_lr = min_lr;
  return config;
}

constexpr ScheduleKind kKinds[] = {ScheduleKind::cosine, ScheduleKind::linear,
                                   ScheduleKind::constant};

TEST(LearningRate, RisesInEqualStepsOverTheWarmup) {
  for (ScheduleKind kind : kKinds) {
    const TrainConfig config = schedule(kind, 100, 10);
    for (Index step = 0; step < 10; ++step)
      EXPECT_DOUBLE_EQ(learning_rate(config, step), 2 * static_cast<double>(step + 1) / 10);
    EXPECT_DOUBLE_EQ(learning_rate(config, 10), 2);
  }
}

TEST(LearningRate, ReachesItsMinimumAtTheLastStep) {
  for (Index warmup : {0, 1, 10, 98}) {
    EXPECT_NEAR(learning_rate(schedule(ScheduleKind::cosine, 100, warmup), 99), 0.1, 1e-15);
    EXPECT_NEAR(learning_rate(schedule(ScheduleKind::linear, 100, warmup), 99), 0.1, 1e-15);
    EXPECT_DOUBLE_EQ(learning_rate(schedule(ScheduleKind::constant, 100, warmup), 99), 2);
  }
}

TEST(LearningRate, StartsAtTheTopWithoutWarmup) {
  for (ScheduleKind kind : kKinds) EXPECT_DOUBLE_EQ(learning_rate(schedule(kind, 100, 0), 0), 2);
}

TEST(LearningRate, FallsAlongHalfACosineOrALine) {
  // Steps 10 to 110: a quarter of the way at 35, half at 60.
  const TrainConfig cosine = schedule(ScheduleKind::cosine, 111, 10);
  EXPECT_NEAR(learning_rate(cosine, 35), 0.1 + 1.9 * (1 + std::sqrt(0.5)) / 2, 1e-14);
  EXPECT_NEAR(learning_rate(cosine, 60), 1.05, 1e-14);
  const TrainConfig linear = schedule(ScheduleKind::linear, 111, 10);
  EXPECT_NEAR(learning_rate(linear, 35), 2 - 1.9 / 4, 1e-14);
  EXPECT_NEAR(learning_rate(linear, 60), 1.05, 1e-14);
}

TEST(LearningRate, NeverRisesAfterTheWarmup) {
  for (ScheduleKind kind : kKinds) {
    const TrainConfig config = schedule(kind, 50, 7);
    for (Index step = 7; step < 60; ++step) {
      EXPECT_LE(learning_rate(config, step), learning_rate(config, step - 1));
      EXPECT_GE(learning_rate(config, step), 0.1 - 1e-15);
    }
  }
}

TEST(LearningRate, StaysAtItsMinimumBeyondTheLastStep) {
  EXPECT_NEAR(learning_rate(schedule(ScheduleKind::cosine, 100, 10), 5000), 0.1, 1e-15);
  EXPECT_NEAR(learning_rate(schedule(ScheduleKind::linear, 100, 10), 5000), 0.1, 1e-15);
}

TEST(LearningRate, IsTheTopWhereOneStepIsLeft) {
  for (ScheduleKind kind : kKinds) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule(kind, 1, 0), 0), 2);
    EXPECT_DOUBLE_EQ(learning_rate(schedule(kind, 11, 10), 10), 2);
  }
}

TEST(LearningRate, RisesToTheEndOfARunShorterThanItsWarmup) {
  for (ScheduleKind kind : kKinds) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule(kind, 5, 10), 4), 1);
    EXPECT_DOUBLE_EQ(learning_rate(schedule(kind, 10, 10), 9), 2);
  }
}

TEST(WarmupNote, SaysThatTheRateNeverReachesTheTop) {
  TrainConfig config = schedule(ScheduleKind::cosine, 20, 100);
  EXPECT_EQ(warmup_note(config),
            "warmup 100 is longer than the 20 steps: the learning rate reaches 0.4 of 2");
  for (const auto& [steps, warmup] : {std::pair{20, 20}, {20, 5}, {0, 100}}) {
    config.steps = steps, config.warmup = warmup;
    EXPECT_EQ(warmup_note(config), "") << steps << " " << warmup;
  }
}

TEST(ScheduleNote, SaysThatARunThatGoesOnGetsAnotherRate) {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear}) {
    const TrainConfig before = schedule(kind, 40, 5, 0), longer = schedule(kind, 80, 5, 0);
    EXPECT_EQ(schedule_note(before, longer, 40),
              text("the schedule was planned for 40 steps and is stretched to 80: the learning "
                   "rate goes from 0 to ",
                   significant(learning_rate(longer, 40))));
    EXPECT_NE(schedule_note(before, longer, 20), "") << "in the middle as well";
    EXPECT_EQ(schedule_note(before, longer, 0), "") << "nothing was trained yet";
    EXPECT_EQ(schedule_note(before, before, 40), "");
  }
  EXPECT_EQ(schedule_note(schedule(ScheduleKind::constant, 40, 5),
                          schedule(ScheduleKind::constant, 80, 5), 40),
            "");
}

TEST(TrainConfig, IsSoundByDefault) { EXPECT_NO_THROW(TrainConfig().validate()); }

void expect_invalid(const TrainConfig& config, const std::vector<std::string>& parts) {
  expect_error([&] { config.validate(); }, parts);
}

TEST(TrainConfig, RefusesContradictorySettings) {
  RunConfig run;
  run.model.d_model = -1;
  expect_error([&] { run.validate(); }, {"d_model"});
  expect_invalid({.batch = 10, .accumulate = 4}, {"batch 10", "accumulate 4"});
  expect_invalid({.min_lr = 1}, {"min_lr 1 is above lr 0.001"});
}

TEST(TrainConfig, RefusesSettingsOutOfRange) {
  expect_invalid({.accumulate = 0}, {"accumulate must be a whole number from 1"});
  expect_invalid({.batch = -64}, {"batch must be", "-64"});
  expect_invalid({.steps = -1}, {"steps must be", "-1"});
  expect_invalid({.lr = std::nan("")}, {"lr must be a number"});
  expect_invalid({.beta2 = 1}, {"beta2 must be"});
}

TEST(FitHeads, FloorsTheWidthOfHeadsThatDoNotDivideTheModel) {
  TransformerConfig three, given, four;
  for (TransformerConfig* config : {&three, &given, &four}) config->d_model = 16;
  three.heads = given.heads = {3}, given.d_head = 7, four.heads = {4};
  for (TransformerConfig* config : {&three, &given, &four}) fit_heads(*config);
  EXPECT_EQ(three.d_head, 5);
  EXPECT_EQ(given.d_head, 7);
  EXPECT_EQ(four.d_head, 0) << "they divide it";
}

}  // namespace
}  // namespace headlab
