// Keys that import understands of a config.json and of a file's tensors: keys that it reads, passes
// over or refuses, families, and matrices that are there twice. A test changes one thing in a
// fixture. Read next: src/lab/layouts/layout_keys.cc, the table of keys.
#include <functional>

#include "support/stored_models.h"

namespace headlab { namespace {

/// A change of config.json, and parts of the error.
struct Change {
  const char *model, *key, *value;
  std::vector<std::string> said;
};

class RefusedKeys : public DamagedModel, public testing::WithParamInterface<Change> {
 protected:
  void set(const std::string& key, const Json& value) const {
    Json json = Json::parse(read_file(path / "config.json"));
    json[key] = value;
    write_file(path / "config.json", json.dump());
  }
};

TEST_P(RefusedKeys, AreNamedWithFileAndValue) {
  copy(GetParam().model);
  set(GetParam().key, Json::parse(GetParam().value));
  std::vector<std::string> parts = GetParam().said;
  parts.insert(parts.end(), {"config.json", GetParam().key});
  expect_refused(parts);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedKeys,
    testing::Values(
        Change{"huggingface-llama", "embedding_multiplier", "12", {"unknown key", "12"}},
        Change{"huggingface-llama", "model_type", R"("granite")", {"granite", "does not know"}},
        Change{"huggingface-llama", "model_type", R"("gpt3")", {"gpt3", "does not know"}},
        Change{"huggingface-llama", "model_type", "7", {"7", "does not know"}},
        Change{"huggingface-gpt2", "model_type", R"("t5")", {"t5", "is not read", "read are gpt2"}},
        Change{"huggingface-llama", "architectures", R"(["GemmaForCausalLM"])", {"Gemma"}},
        Change{"huggingface-llama", "partial_rotary_factor", "0.5", {"is 0.5", "only 1"}},
        Change{"huggingface-llama", "rope_parameters", R"({"type": "linear"})", {"linear"}},
        Change{"huggingface-llama", "rope_parameters", R"({"rope_theta": 7})", {"another"}},
        Change{"huggingface-llama", "rope_parameters", R"({"full_attention": {}})", {"unknown"}},
        Change{"huggingface-llama", "rope_parameters", "5", {"is 5", "an object"}},
        Change{"huggingface-llama", "pretraining_tp", "2", {"is 2", "only 1"}},
        Change{"huggingface-llama", "layer_types", R"(["full_attention"])", {"each of 2 layers"}},
        Change{"huggingface-llama",
               "layer_types",
               R"(["full_attention", "chunked_attention"])",
               {"chunked_attention"}},
        Change{"huggingface-llama",
               "layer_types",
               R"(["full_attention", "sliding_attention"])",
               {"no sliding_window"}},
        Change{"huggingface-llama", "sliding_window", "2.5", {"is 2.5"}},
        Change{"huggingface-llama", "sliding_window", "3", {"is 3", "llama have no windows"}},
        Change{"ernie", "sliding_window", "2", {"is 2", "ernie4_5 have no windows"}},
        Change{"mistral",
               "layer_types",
               R"(["sliding_attention", "full_attention"])",
               {"layer_types", "all layers have it"}},
        Change{"huggingface-llama", "use_bias", "true", {"llama has no such biases"}},
        Change{"huggingface-llama", "hidden_act", "null", {"is null"}},
        Change{"mistral", "attention_bias", "true", {"mistral has no such biases"}},
        Change{"huggingface-gpt2", "scale_attn_by_inverse_layer_idx", "true", {"is true"}},
        Change{"huggingface-gpt2", "rotary_dim", "4", {"unknown key"}},
        Change{"nanogpt", "n_kv_head", "2", {"unknown key", "2"}},
        Change{"transformerlens", "attn_scale", "12", {"is 12", "only 2"}},
        Change{"transformerlens", "final_rms", "true", {"is true", "only false"}},
        Change{"transformerlens", "output_logits_soft_cap", "3", {"is 3"}},
        Change{"transformerlens", "attn_scores_soft_cap", "2", {"is 2"}},
        Change{"transformerlens", "use_NTK_by_parts_rope", "true", {"is true"}},
        Change{"transformerlens", "normalization_type", R"("BN")", {"BN"}},
        Change{"transformerlens", "d_vocab_out", "2.5", {"is 2.5", "a number of outputs"}},
        Change{"transformerlens", "d_vocab_out", "0", {"is 0", "a number of outputs"}},
        Change{"transformerlens", "d_vocab_out", R"("two")", {"two", "a number of outputs"}},
        Change{"transformerlens", "attention_dir", R"("backward")", {"backward", "only"}},
        Change{"transformerlens", "gated_mlp", "true", {"with gated_mlp true"}},
        Change{"transformerlens", "use_local_attn", "true", {"no window_size"}},
        Change{"transformerlens-combined", "rotary_dim", "2", {"is 2", "only 4"}},
        Change{"transformerlens", "original_architecture", R"("BloomForCausalLM")", {"Bloom"}}),
    [](const auto& test) { return text("Number", test.index); });

class AcceptedKeys : public RefusedKeys {};

TEST_P(AcceptedKeys, ChangeNothing) {
  copy(GetParam().model);
  set(GetParam().key, Json::parse(GetParam().value));
  EXPECT_EQ(settings_json(import_model(path).model.config()),
            settings_json(import_model(kLayouts / GetParam().model).model.config()));
}

INSTANTIATE_TEST_SUITE_P(
    Keys, AcceptedKeys,
    testing::Values(
        Change{"huggingface-llama", "rope_scaling", R"({"rope_type": "default"})", {}},
        Change{"huggingface-llama", "rope_parameters", R"({"rope_theta": 500})", {}},
        Change{"huggingface-llama", "sliding_window", "4096", {}},
        Change{"huggingface-llama", "eos_token_id", "[1, 2]", {}},
        Change{"mistral", "layer_types", R"(["sliding_attention", "sliding_attention"])", {}},
        Change{"qwen2", "layer_types", R"(["full_attention", "sliding_attention"])", {}},
        Change{"huggingface-llama", "use_cache", "true", {}},
        Change{"huggingface-gpt2", "task_specific_params", R"({"a": {"b": 1}})", {}},
        Change{"transformerlens", "attn_scale", "2.0000001", {}},
        Change{"transformerlens-llama", "final_rms", "true", {}},  // as every Llama there has it
        Change{"transformerlens", "NTK_by_parts_factor", "32", {}},
        Change{"nanogpt", "resid_pdrop", "0.1", {}}),
    [](const auto& test) { return text("Number", test.index); });

TEST_F(RefusedKeys, AreIgnoredOnRequest) {
  copy("huggingface-llama");
  set("mine", 1);
  set("rope_parameters", Json::object({{"yours", 2}}));
  expect_error([&] { import_model(path, {"mine"}); }, {"rope_parameters.yours", "the value 2"});
  EXPECT_NO_THROW(import_model(path, {"mine", "rope_parameters.yours"}));
  expect_error(
      [&] {
        import_model(path, {"mine", "rope_theta"});
      },
      {"cannot ignore the key rope_theta", "knows"});
  expect_error([&] { import_model(path, {"other"}); }, {"other", "does not have it"});
}

TEST_F(RefusedKeys, FamilyIsNeededWhereTensorsDoNotTellIt) {
  copy("huggingface-llama");
  set("model_type", Json());
  expect_refused({"neither model_type nor architectures"});
  set("architectures", Json::Array{"LlamaForCausalLM"});
  EXPECT_NO_THROW(import_model(path));
}

TEST_F(DamagedModel, NeedsToKnowTheGeluOfNanoGpt) {
  copy("nanogpt");
  replace("config.json", "\"bias\": false,", "");
  expect_refused({"the key bias is missing"});
}

// ---- two matrices where the model has one

class StoredTwice : public DamagedModel {
 protected:
  /// Changes the tensors of the file.
  void edit(const std::function<void(TensorFile&)>& change) const {
    TensorFile file = read_safetensors(path / "model.safetensors");
    change(file);
    write_safetensors(path / "model.safetensors", file);
  }
  static StoredTensor& tensor(TensorFile& file, const std::string& name) {
    return *std::ranges::find(file.tensors, name, &StoredTensor::name);
  }
  static constexpr const char *kTied = "_orig_mod.lm_head.weight",
                              *kEmbedding = "_orig_mod.transformer.wte.weight";
};

TEST_F(StoredTwice, DifferingTiedWeightsNeedAnUntiedConfig) {
  copy("nanogpt");
  edit([](TensorFile& file) { tensor(file, kTied).bytes[5] ^= 1; });
  expect_refused({kTied, kEmbedding, "tied"});
  replace("config.json", "{", "{\"tie_word_embeddings\": false, ");
  const Transformer model = import_model(path).model;
  EXPECT_FALSE(model.config().tied);
}

TEST_F(StoredTwice, OneOfTheTwoNamesIsEnough) {
  for (const char* name : {kTied, kEmbedding}) {
    copy("nanogpt");
    edit([&](TensorFile& file) {
      std::erase_if(file.tensors, [&](const StoredTensor& one) { return one.name == name; });
    });
    EXPECT_EQ(values_of(import_model(path).model),
              values_of(import_model(kLayouts / "nanogpt").model));
    fs::remove_all(path);
  }
}

TEST_F(StoredTwice, TwoTensorsForOneParameterAreRefused) {
  copy("nanogpt");
  edit([](TensorFile& file) {
    StoredTensor other = tensor(file, kEmbedding);
    other.name = "transformer.wte.weight";
    file.tensors.push_back(other);
  });
  expect_refused({kEmbedding, "transformer.wte.weight", "both"});
}

TEST_F(StoredTwice, TransformerLensReadsItsUnembeddingWhateverConfigSays) {
  copy("transformerlens");
  const std::vector<float> values = values_of(import_model(path).model);
  replace("config.json", "{", "{\"tie_word_embeddings\": true, ");
  const Transformer model = import_model(path).model;
  EXPECT_FALSE(model.config().tied);
  EXPECT_EQ(values_of(model), values);
}

TEST_F(StoredTwice, OnlyMasksOfTheirOwnLayoutAreHarmless) {
  copy("transformerlens");
  edit([](TensorFile& file) { tensor(file, "blocks.0.attn.mask").name = "blocks.0.attn.bias"; });
  expect_refused({"blocks.0.attn.bias", "has no place"});
}

}}  // namespace headlab
