// Runs whose files are damaged, foreign or gone: each is refused in a sentence that names the file.
// Read next: resume_test.cc.
#include "headlab/core/model/checkpoint.h"
#include "support/runs.h"

namespace headlab { namespace {

/// A run whose files a test damages.
class DamagedRun : public testing::Test {
 protected:
  DamagedRun() : run_(create_run(folder_ / "run", tiny_config())) {}
  /// The message of opening the run and of training it, says.
  std::string refusal() {
    return error_of([&] {
      TrainedRun run = open_run(run_.path);
      train_run(run);
    });
  }
  void expect_refusal(const std::string& file, const std::string& part) {
    const std::string message = refusal();
    EXPECT_NE(message.find((run_.path / file).string()), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  void edit_config(const std::string& name, const Json& value) {
    Json json = Json::parse(read_file(config_file(run_)));
    json[name] = value;
    write_file(config_file(run_), json.dump());
  }
  /// Changes one tensor of the state.
  template <class Change>
  void edit_state(const std::string& name, Change change) {
    TensorFile state = read_safetensors(state_file(run_));
    for (StoredTensor& tensor : state.tensors)
      if (tensor.name == name) change(tensor);
    write_safetensors(state_file(run_), state);
  }

  TemporaryFolder folder_;
  TrainedRun run_;
};

TEST_F(DamagedRun, IsNoRunWithoutConfig) {
  fs::remove(config_file(run_));
  EXPECT_NE(refusal().find("no run found"), std::string::npos);
  expect_error([] { open_run("/no/such/place"); }, {"no run found"});
}

TEST_F(DamagedRun, NamesATruncatedOrForeignConfig) {
  const std::string whole = read_file(config_file(run_));
  write_file(config_file(run_), whole.substr(0, whole.size() / 2));
  expect_refusal("config.json", "line");
  write_file(config_file(run_), "[]");
  expect_refusal("config.json", "expected an object");
  write_file(config_file(run_), R"({"laiers": 2})");
  expect_refusal("config.json", "'layers'");
  write_file(config_file(run_), R"({"layers": "two"})");
  expect_refusal("config.json", "layers must be");
}

TEST_F(DamagedRun, NamesATruncatedState) {
  const std::string whole = read_file(state_file(run_));
  for (std::size_t size : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    write_file(state_file(run_), whole.substr(0, size));
    expect_refusal("state.safetensors", "");
  }
}

TEST_F(DamagedRun, NamesTheTensorThatHoldsNaN) {
  const float nan = std::nanf("");
  const auto poison = [&](StoredTensor& tensor) {
    tensor.bytes.replace(4, 4, reinterpret_cast<const char*>(&nan), 4);
  };
  edit_state("model.blocks.0.attn.W_Q", poison);
  expect_refusal("state.safetensors", "model.blocks.0.attn.W_Q holds numbers that are not finite");
}

TEST_F(DamagedRun, NamesTheMomentsThatAreDamaged) {
  edit_state("optimizer.v.embed.W_E", [](StoredTensor& tensor) { tensor.shape = {48}; });
  expect_refusal("state.safetensors", "optimizer.v.embed.W_E has shape [48]");
}

TEST_F(DamagedRun, NamesTheMomentsThatAreMissing) {
  edit_state("optimizer.m.embed.W_E", [](StoredTensor& tensor) { tensor.name = "other.m"; });
  edit_state("optimizer.v.embed.W_E", [](StoredTensor& tensor) { tensor.name = "other.v"; });
  expect_refusal("state.safetensors", "optimizer.m.embed.W_E");
}

TEST_F(DamagedRun, NamesAStateOfAnotherModel) {
  edit_config("d_ff", 20);
  expect_refusal("state.safetensors", "does not belong to the config.json next to it");
}

TEST_F(DamagedRun, NamesTheTensorsThatAnOlderStateOfAnotherModelHas) {
  TensorFile state = read_safetensors(state_file(run_));
  state.metadata.clear();
  write_safetensors(state_file(run_), state);
  edit_config("d_ff", 20);
  expect_refusal("state.safetensors", "W_in");
  edit_config("d_ff", 0);
  expect_refusal("state.safetensors", "no parameter of this model");
}

TEST_F(DamagedRun, IsRefusedIfTheTaskHasChanged) {
  edit_config("vocab", 9);
  EXPECT_NE(refusal().find("is no longer the one it was trained on"), std::string::npos);
}

TEST(Run, IsRefusedIfItsDataFileHasChanged) {
  const TemporaryFolder folder;
  const fs::path data = folder / "data.txt";
  std::string content;
  for (int i = 0; i < 200; ++i) content += "the cat sat on the mat. ";
  write_file(data, content);
  RunConfig config = tiny_config();
  config.task = text("text:file=", data.string(), ",length=8");
  create_run(folder / "run", config);
  EXPECT_NO_THROW(open_run(folder / "run"));
  std::swap(content[4], content[8]);  // the same characters, in another order
  write_file(data, content);
  expect_error([&] { open_run(folder / "run"); }, {"no longer the one it was trained on"});
  fs::remove(data);
  expect_error([&] { open_run(folder / "run"); }, {data.string()});
}

TEST(Run, OnAFileKeepsTheWeightsOfItsLowestHeldOutLoss) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 200; ++i) content += "the cat sat on the mat. ";
  write_file(folder / "data.txt", content);
  RunConfig config = tiny_config();
  config.task = text("text:file=", (folder / "data.txt").string(), ",length=8");
  config.train.lr = config.train.min_lr = 0.3;  // so much that the loss goes up and down
  config.train.eval_every = 3;
  TrainedRun run = create_run(folder / "run", config);
  double lowest = HUGE_VAL;
  std::vector<double> then;
  RunCallbacks callbacks;
  callbacks.on_evaluation = [&](const EvaluationRecord& record) {
    if (record.held_out.loss >= lowest) return;
    lowest = record.held_out.loss;
    then = parameters_in(run.model);
  };
  train_run(run, callbacks);
  Transformer best = run.model.clone();
  read_model(best_file(run), best);
  EXPECT_EQ(parameters_in(best), then);
}

TEST(Run, IsReadFromItsModelWhereThereIsNoState) {
  const TemporaryFolder folder;
  const TrainedRun run = create_run(folder / "run", tiny_config());
  fs::remove(state_file(run));
  EXPECT_EQ(parameters_in(open_run(run.path).model), parameters_in(run.model));
  fs::remove(model_file(run));
  expect_error([&] { open_run(run.path); }, {"model.safetensors"});
}

}  // namespace
}  // namespace headlab
