// Checkpoints: what is written is read back, and a file that does not fit exactly is refused before
// anything changes.
#include "headlab/core/model/checkpoint.h"

#include <cmath>
#include <functional>

#include "support/models.h"

namespace headlab { namespace {

std::vector<double> all_values(Transformer& model) {
  std::vector<double> all;
  for (const Tensor& parameter : parameters_of(model))
    all.insert(all.end(), parameter.values().begin(), parameter.values().end());
  return all;
}

TensorFile file_of(Transformer model, const std::string& prefix = "") {
  TensorFile file;
  store_parameters(model, file, prefix);
  return file;
}

StoredTensor& find(TensorFile& file, std::string_view name) {
  for (StoredTensor& tensor : file.tensors)
    if (tensor.name == name) return tensor;
  throw Error(text("no tensor ", name));
}

/// Loading a file that was changed throws an error with these parts, and leaves the model alone.
void expect_refused(const std::function<void(TensorFile&)>& change,
                    const std::vector<std::string>& parts) {
  TensorFile file = file_of(random_model(small_config()));
  change(file);
  Transformer model = random_model(small_config(), Key{9});
  const std::vector<double> before = all_values(model);
  expect_error([&] { load_parameters(model, file); }, parts);
  EXPECT_EQ(all_values(model), before);
}

void expect_refused(const std::string& name, const StoredTensor& put,
                    const std::vector<std::string>& parts) {
  expect_refused([&](TensorFile& file) { find(file, name) = put; }, parts);
}

TEST(Checkpoint, HoldsParametersUnderTheirNames) {
  const TensorFile file = file_of(random_model(small_config()));
  for (const char* name : {"embed.W_E", "pos_embed.W_pos", "blocks.1.ln1.w", "blocks.0.attn.b_K",
                           "blocks.1.mlp.W_in", "ln_final.b", "unembed.W_U"})
    EXPECT_NE(file.find(name), nullptr) << name;
  EXPECT_EQ(file.at("blocks.0.attn.W_Q").shape, (std::vector<std::int64_t>{8, 8}));
  for (const StoredTensor& tensor : file.tensors) EXPECT_EQ(tensor.dtype, "F32") << tensor.name;
}

TEST(Checkpoint, RoundTripIsBitExact) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    text("headlab_checkpoint_", sizeof(Scalar), ".safetensors");
  Transformer model = random_model(small_config());
  write_model(path, model);
  Transformer read = random_model(small_config(), Key{9});
  read_model(path, read);
  const auto as_float = [](std::vector<double> values) {
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(as_float(all_values(read)), as_float(all_values(model)));
  for (const Tensor& parameter : parameters_of(read)) EXPECT_TRUE(parameter.requires_grad());
  std::filesystem::remove(path);
}

TEST(Checkpoint, IsReadByPrefixFromAFileWithOtherTensors) {
  Transformer model = random_model(small_config());
  TensorFile file = file_of(model, "model.");
  file.tensors.push_back(stored("optimizer.m.embed.W_E", Tensor::zeros({2})));
  Transformer read = random_model(small_config(), Key{9});
  load_parameters(read, file, "model.");
  expect_near(all_values(read), all_values(model), 1e-7);
}

TEST(Checkpoint, RefusesTensorsThatDoNotFit) {
  expect_refused([](TensorFile& file) { file.tensors.pop_back(); }, {"unembed.b_U"});
  const StoredTensor more = stored("blocks.2.attn.b_O", Tensor::zeros({8}));
  expect_refused([&](TensorFile& file) { file.tensors.push_back(more); },
                 {"blocks.2.attn.b_O", "no parameter of this model"});
  expect_refused("embed.W_E", stored("embed.W_E", Tensor::zeros({8, 7})),
                 {"embed.W_E", "[8, 7]", "expected [7, 8]"});
  expect_refused([](TensorFile& file) { find(file, "unembed.b_U").shape = {1, 1, 1, 1, 1, 1, 7}; },
                 {"unembed.b_U", "[1, 1, 1, 1, 1, 1, 7]", "expected [7]"});
  const std::vector<double> zeros(8, 0);
  expect_refused("ln_final.w", StoredTensor::of("ln_final.w", {8}, std::span(zeros)),
                 {"ln_final.w", "F64", "expected F32"});
  for (const Scalar bad : {Scalar(NAN), Scalar(INFINITY)})
    expect_refused("unembed.b_U", stored("unembed.b_U", Tensor::full({7}, bad)),
                   {"unembed.b_U", "not finite"});
}

TEST(Checkpoint, NamesTheFileThatDoesNotFit) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    text("headlab_misfit_", sizeof(Scalar), ".safetensors");
  Transformer model = random_model(small_config());
  write_model(path, model);
  Transformer read(small_config("layers=1"));
  expect_error([&] { read_model(path, read); }, {path.string(), "config.json"});
  std::filesystem::remove(path);
  expect_error([&] { read_model(path, read); }, {path.string()});
}

}  // namespace
}  // namespace headlab
