// The live model of a page where it takes minutes: every subset of the heads of a trained model,
// ablated with zeros and with means, costs in the page what it costs in the program; and so does
// every combination of kinds of parts. Read next: page_core_test.cc.
#include "report/page_core.h"
#include "support/tasks.h"

namespace headlab { namespace {

TEST_F(PageCore, AblatesEverySubsetAsTheProgramDoes) {
  RunConfig config = recommended_config("relations");
  config.model.heads = {8};
  config.train.steps = 60;
  config.train.warmup = 10;
  config.train.eval_every = 0;
  TrainedRun run = create_run(folder_.path() / "run", config);
  train_run(run);
  Json expected = few_examples();
  expected["cases"] = ablated_cases(run, all_sets(run.model), 2);
  expected["whole"] = true;
  expect_same({run.path}, expected);
}

/// Returns the combinations to compute with each of `shapes` shapes of models: in all of them those
/// of attention and wiring, in a drawn one each of the many of norms, positions and activations.
std::vector<std::vector<std::string>> kinds_by_shape(std::size_t shapes) {
  const std::size_t in_every_shape = all_attention().size() + all_wirings().size();
  std::vector<std::vector<std::string>> kinds(shapes);
  Generator random(Key{}.fold("kinds by shape"));
  std::size_t i = 0;
  for (const std::string& combination : all_kinds()) {
    const std::size_t drawn = static_cast<std::size_t>(random.below(std::ssize(kinds)));
    for (std::size_t shape = 0; shape < shapes; ++shape) {
      if (i < in_every_shape || shape == drawn) {
        kinds[shape].push_back(combination);
      }
    }
    ++i;
  }
  return kinds;
}

TEST_F(PageCore, ComputesEachCombinationOfKinds) {
  const std::string relations = "relations:length=8,vocab=6,classes=3,relations=1+same";
  const std::string two_stacks = "reverse_cross";
  const std::string shapes[][2] = {{relations, ""},
                                   {relations, "kv_heads=2 window=3+0"},
                                   {"patches:width=4,height=2", "window=2"},
                                   {two_stacks, "encoder_layers=1 window=2+0+3"}};
  const std::vector<std::vector<std::string>> kinds = kinds_by_shape(std::size(shapes));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& [task, shape] = shapes[i];
    SCOPED_TRACE(task + shape);
    std::vector<fs::path> runs;
    for (const std::string& combination : kinds[i]) {
      if (task == two_stacks && !allow_a_source(combination)) {
        continue;
      }
      if (runs.size() == 100) {  // a page holds the weights of so many
        expect_same(runs, few_examples());
        runs.clear();
      }
      RunConfig config;
      config.task = task;
      settings_of(config.model)
          .set_all_text(text("layers=2 d_model=8 d_ff=12 heads=4 ", combination, " ", shape));
      runs.push_back(random_run(config, text("run", runs.size())).path);
    }
    expect_same(runs, few_examples());
  }
}

}  // namespace
}  // namespace headlab
