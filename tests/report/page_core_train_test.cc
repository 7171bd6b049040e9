// The oracle of the live model: every subset of the heads of a trained model, silenced with zeros
// and with means, costs in the page what it costs in the program. Read next: page_core_test.cc.
#include "report/page_core.h"

namespace headlab { namespace {

TEST_F(PageCore, SilencesEverySubsetOfATrainedModel) {
  RunConfig config = recommended_config("relations");
  config.model.heads = {8};
  config.train.steps = 60;
  config.train.warmup = 10;
  config.train.eval_every = 0;
  TrainedRun run = create_run(folder_.path() / "run", config);
  train_run(run);
  Json expected = few_examples();
  expected["cases"] = silenced_cases(run, all_sets(run.model), 2);
  expected["whole"] = true;
  expect_same({run.path}, expected);
}

}  // namespace
}  // namespace headlab
