// The trainer of the playground, under node: its gradients, what it finds, its speed, and that it
// has the losses of the program, from the same seed on the same sequences. Bugs in the optimizer
// are noticed. Read next: play_losses_test.mjs, play_test.mjs.
#include <algorithm>

#include "report/page_core.h"

namespace headlab { namespace {

constexpr const char* kModules = HEADLAB_SOURCE_DIR "/src/app/report/page";

/// Settings of models by the names of the program.
const std::vector<std::string> kModels = {
    "layers=1 heads=4", "layers=2 heads=3 attention_function=sigmoid norm=rms positions=rotary",
    "layers=1 heads=2 attention_function=softmax_one positions=alibi d_ff=32 activation=swiglu"};
const std::vector<std::string> kOtherModels = {
    "layers=1 heads=2 positions=none norm=none",
    "layers=2 heads=2 positions=sinusoidal d_ff=16 activation=gelu"};

class PlaygroundTraining : public PageCore {
 protected:
  void prepare() override {
    const std::vector<std::string> tasks = {"relations", "induction", "sort",
                                            "relations:length=8,vocab=6,relations=next+same",
                                            "relations:length=8,vocab=90,relations=1+same"};
    write_file(page_, make_playground(tasks).html);
    expect_well(text("play_losses_test.mjs write ", page_, " ", folder_.path().string()));
  }

  static Told told_by_node(const std::string& words) {
    return told_by(text("node --expose-gc " HEADLAB_SOURCE_DIR "/tests/report/", words));
  }
  void expect_well(const std::string& words) {
    const Told told = told_by_node(words);
    EXPECT_TRUE(told.well) << told.text;
  }

  /// Trains on the sequences of task number `task` of the page; returns what the program found.
  Json trained(std::size_t task, const std::string& settings, Index steps) {
    const std::string lines = (folder_ / text(task, ".jsonl")).string();
    const std::string held_out = (folder_ / text(task, "_held_out.jsonl")).string();
    RunConfig config;
    config.task = text("file:train=", lines, ",held_out=", held_out, ",test=", held_out);
    user_settings_of(config).set_all_text(
        text("d_model=32 d_head=8 batch=32 lr=0.01 warmup=30 min_lr=0.001 seed=3 eval_every=0 ",
             settings, " steps=", steps));
    fit_to_task(config);
    TrainedRun run = create_run(folder_ / "run", config, Existing::replace);
    train_run(run);
    const Json last = read_log(metrics_file(run)).back();
    return Json::object({{"task", task},
                         {"config", Json::parse(read_file(run.path / "config.json"))},
                         {"train_loss", last.at("train_loss")},
                         {"loss", last.at("loss")},
                         {"accuracy", last.at("accuracy")}});
  }

  /// Compares with the page, whose modules are in a folder.
  Told compared(const Json& expected, const std::string& modules = kModules) {
    const std::string json = (folder_ / "expected.json").string();
    write_file(json, expected.dump());
    return told_by_node(text("play_losses_test.mjs ", modules, " ", page_, " ", json));
  }

  std::string page_ = (folder_ / "page.html").string();
};

TEST_F(PlaygroundTraining, HasTheLossesOfTheProgram) {
  Json expected = Json::array();
  for (std::size_t task = 0; task < 3; ++task) {
    for (const std::string& model : kModels) {
      for (const Index steps : {1, 50}) {
        expected.push_back(trained(task, model, steps));
      }
    }
    expected.push_back(trained(task, kModels[task], 200));
  }
  for (const std::size_t task : {3, 4}) {
    for (const std::string& model : kOtherModels) {
      expected.push_back(trained(task, model, 50));
    }
  }
  const Told told = compared(expected);
  EXPECT_TRUE(told.well) << told.text;
}

TEST_F(PlaygroundTraining, NoticesBugsOfTheOptimizer) {
  Json expected = Json::array();
  expected.push_back(trained(0, kModels[0], 50));
  expected.push_back(trained(2, kModels[2], 50));
  const Told sound = compared(expected);
  ASSERT_TRUE(sound.well) << sound.text;
  const fs::path modules = folder_ / "modules";
  fs::copy(kModules, modules, fs::copy_options::recursive);
  const fs::path file = modules / "play/train/adamw.js";
  const std::string code = read_file(file);
  const struct {
    std::string from, to;
  } bugs[] = {{"rate / (1 - BETA1 ** step)", "rate"},
              {"1 / Math.sqrt(1 - BETA2 ** step)", "1"},
              {"norm > CLIP ? CLIP / (norm + 1e-6) : 1", "1"},
              {"i < decayed ?", "i >= 0 ?"},
              {"rate * DECAY * values[i]", "0"}};
  for (const auto& [from, to] : bugs) {
    SCOPED_TRACE(text(from, " becomes ", to));
    std::string changed = code;
    ASSERT_NE(code.find(from), code.npos);
    write_file(file, changed.replace(code.find(from), from.size(), to));
    EXPECT_FALSE(compared(expected, modules.string()).well);
  }
}

TEST_F(PlaygroundTraining, DividesQuestionsAmongHeadsWithRightGradientsAndInTime) {
  expect_well(text("play_test.mjs ", kModules, " ", page_));
}

}}  // namespace headlab
