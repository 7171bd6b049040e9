// Models as others store them: logits of PyTorch, the way out and back, and files that do not fit.
// The fixtures are of tests/golden/make_layouts.py. Read next: layout_keys_test.cc;
// tests/cli/import_test.cc.
#include "headlab/lab/layouts/layouts.h"

#include <set>

#include "headlab/core/base/safetensors.h"
#include "headlab/core/model/initial.h"
#include "support/stored_models.h"

namespace headlab { namespace {

class EachLayout : public testing::TestWithParam<const char*> {
 protected:
  ImportedModel imported = import_model(kLayouts / GetParam());
  TemporaryFolder folder;
};

TEST_P(EachLayout, HasTheLogitsOfPyTorch) {
  const Golden golden(std::string("layouts/") + GetParam() + "/expected");
  Batch batch = Batch::make(2, 9);
  batch.tokens = golden.ids("tokens");
  expect_near(imported.model.forward(batch), golden.tensor("logits"), 1e-4, GetParam());
}

TEST_P(EachLayout, RoundTripIsBitExact) {
  std::filesystem::create_directories(folder / "out");  // an empty folder is as good as none
  export_model(imported.model, imported.layout, folder / "out");
  const ImportedModel back = import_model(folder / "out");
  EXPECT_EQ(back.layout, imported.layout);
  EXPECT_EQ(settings_json(back.model.config()), settings_json(imported.model.config()));
  EXPECT_EQ(values_of(back.model), values_of(imported.model));
  const auto config_in = [](const auto& path) {
    return Json::parse(read_file(path / "config.json"), "config");
  };
  const Json config = config_in(kLayouts / GetParam()), made = config_in(folder / "out");
  const std::set<std::string> not_kept{"n_ctx", "n_inner", "dropout", "pruned_heads", "rotary_dim"};
  for (const auto& [key, value] : config.members())
    EXPECT_TRUE(not_kept.contains(key) || made.at(key) == value) << key;
}

const auto with_underscores = [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(PyTorch, EachLayout,
                         testing::Values("huggingface-gpt2", "huggingface-llama", "nanogpt",
                                         "transformerlens", "transformerlens-combined"),
                         with_underscores);

class EachFamily : public EachLayout {};

TEST_P(EachFamily, HasTheLogitsOfPyTorch) {
  const Golden golden(std::string("layouts/") + GetParam() + "/expected");
  Batch batch = Batch::make(2, 9);
  batch.tokens = golden.ids("tokens");
  expect_near(imported.model.forward(batch), golden.tensor("logits"), 1e-4, GetParam());
}

INSTANTIATE_TEST_SUITE_P(PyTorch, EachFamily,
                         testing::Values("mistral", "qwen2", "llama-biases", "helium", "ernie",
                                         "transformerlens-local", "transformerlens-llama"),
                         with_underscores);

class ExportedFamily : public EachLayout {};

TEST_P(ExportedFamily, RoundTripIsBitExact) {
  export_model(imported.model, imported.layout, folder / "out");
  const ImportedModel back = import_model(folder / "out");
  EXPECT_EQ(settings_json(back.model.config()), settings_json(imported.model.config()));
  EXPECT_EQ(values_of(back.model), values_of(imported.model));
}

INSTANTIATE_TEST_SUITE_P(PyTorch, ExportedFamily,
                         testing::Values("mistral", "llama-biases", "helium",
                                         "transformerlens-local", "transformerlens-llama"),
                         with_underscores);

TEST(Layouts, SayWhichWindowsAModelHas) {
  const auto window_of = [](const char* name) {
    return import_model(kLayouts / name).model.config().window;
  };
  EXPECT_EQ(window_of("mistral"), (std::vector<Index>{3}));
  EXPECT_EQ(window_of("qwen2"), (std::vector<Index>{0, 4}));
  EXPECT_EQ(window_of("ernie"), (std::vector<Index>{0}));  // its source reads neither key
  EXPECT_EQ(window_of("transformerlens-local"), (std::vector<Index>{0, 3}));
}

/// A model with these settings, of random weights.
Transformer model_with(const std::string& settings) {
  TransformerConfig config;
  settings_of(config).set_all_text("layers=2 d_model=16 heads=2 vocab=7 length=6 " + settings);
  Transformer model(config);
  initialize(model, Key{3});
  return model;
}

struct Way {
  const char *layout, *settings;
};

class Ways : public InAFolder, public testing::WithParamInterface<Way> {};

TEST_P(Ways, RoundTripIsBitExact) {
  const Transformer model = model_with(GetParam().settings);
  export_model(model, GetParam().layout, folder / "out");
  const ImportedModel back = import_model(folder / "out");
  EXPECT_EQ(values_of(back.model), values_of(model));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Ways,
    testing::Values(Way{"huggingface-gpt2", "d_ff=64"},
                    Way{"huggingface-gpt2", "d_ff=30 tied=true"},
                    Way{"nanogpt", "d_ff=64 tied=true activation=gelu_erf"},
                    Way{"nanogpt", "d_ff=64 tied=true activation=gelu_erf biases=off"},
                    Way{"huggingface-llama", "block=llama d_ff=40 kv_heads=1 d_head=10"},
                    Way{"huggingface-llama", "block=llama d_ff=40 tied=true"},
                    Way{"transformerlens", ""}, Way{"transformerlens", "tied=true d_ff=8"},
                    Way{"transformerlens", "block=llama d_ff=40 kv_heads=1"},
                    Way{"transformerlens", "window=0+2 d_ff=8"},
                    Way{"transformerlens", "norm=none d_ff=8"},
                    Way{"transformerlens", "answers=3 d_ff=8"},
                    Way{"transformerlens", "architecture=encoder answers=2"},
                    Way{"huggingface-llama", "block=llama d_ff=40 window=3"}));

struct Refusal {
  const char *layout, *settings, *said;
};

class Refusals : public InAFolder, public testing::WithParamInterface<Refusal> {};

TEST_P(Refusals, NameSettingsThatTheLayoutLacks) {
  const Transformer model = model_with(GetParam().settings);
  expect_error([&] { export_model(model, GetParam().layout, folder / "out"); },
               {GetParam().layout, GetParam().said});
  EXPECT_FALSE(fs::exists(folder / "out"));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Refusals,
    testing::Values(
        Refusal{"huggingface-gpt2", "d_ff=64 norm=rms", "norm=rms"},
        Refusal{"huggingface-gpt2", "d_ff=64 heads=1+2", "heads=[1,2]"},
        Refusal{"huggingface-gpt2", "d_ff=64 window=3", "window=3"},
        Refusal{"huggingface-gpt2", "d_ff=64 d_value=3", "d_value=3"},
        Refusal{"huggingface-gpt2", "", "d_ff=0"},
        Refusal{"huggingface-gpt2", "d_ff=64 tied=true attention_function=sigmoid",
                "attention_function=sigmoid"},
        Refusal{"transformerlens", "attention_function=softmax_one",
                "attention_function=softmax_one"},
        Refusal{"huggingface-gpt2", "d_ff=64 tied=true positions=alibi", "positions=alibi"},
        Refusal{"transformerlens", "positions=alibi", "positions=alibi"},
        Refusal{"nanogpt", "d_ff=64 tied=true", "activation=gelu"},
        Refusal{"nanogpt", "d_ff=64 activation=gelu_erf", "tied=false"},
        Refusal{"transformerlens", "norm_place=post", "norm_place=post"},
        Refusal{"transformerlens", "d_ff=8 norm_place=parallel", "norm_place=parallel"},
        Refusal{"huggingface-gpt2", "d_ff=64 tied=true norm_place=parallel", "norm_place=parallel"},
        Refusal{"transformerlens", "architecture=encoder window=3", "window=3"},
        Refusal{"huggingface-gpt2", "d_ff=64 answers=2", "answers=2"},
        Refusal{"huggingface-gpt2", "d_ff=64 norm=none", "norm=none"},
        Refusal{"nanogpt", "d_ff=64 activation=gelu_erf architecture=encoder",
                "architecture=encoder"},
        Refusal{"huggingface-llama", "block=llama d_ff=40 answers=2", "answers=2"},
        Refusal{"transformerlens", "d_ff=8 activation=geglu", "activation=geglu"}));

TEST(Layouts, SayThatHeadsHaveGoneWhereTheyCan) {
  const TemporaryFolder folder;
  const Transformer model = model_with("d_ff=64 tied=true").with_heads({{1}, {0, 1}});
  export_model(model, "huggingface-gpt2", folder / "out");
  EXPECT_EQ(import_model(folder / "out").model.head_numbers(), model.head_numbers());
  expect_error([&] { export_model(model, "transformerlens", folder / "other"); },
               {"cannot say attention={\"blocks.0.attn\":{\"heads\":[1]}}"});
}

TEST(Layouts, ComposedSoftmaxIsSoftmaxInOtherFormats) {
  const TemporaryFolder folder;
  const Transformer model = model_with("d_ff=64 tied=true attention_function=softmax_composed");
  export_model(model, "huggingface-gpt2", folder / "out");
  EXPECT_EQ(import_model(folder / "out").model.config().attention_function,
            AttentionFunction::softmax);
}

TEST(Layouts, RefuseABiasOfTheUnembeddingUnlessItIs0) {
  const TemporaryFolder folder;
  Transformer model = model_with("d_ff=64");
  model.unembedding().b.data()[2] = 1;
  expect_error([&] { export_model(model, "huggingface-gpt2", folder / "out"); },
               {"no unembed.b_U"});
}

TEST(Layouts, RefuseBiasesOfAGateThatTransformerLensAddsElsewhere) {
  const TemporaryFolder folder;
  const Transformer model = model_with("d_ff=8 activation=swiglu");
  export_model(model, "transformerlens", folder / "zero");
  const TensorFile file = read_safetensors(folder / "zero" / "model.safetensors");
  EXPECT_EQ(file.find("blocks.0.mlp.b_gate"), nullptr);
  EXPECT_NE(file.find("blocks.0.mlp.b_in"), nullptr);
  EXPECT_EQ(values_of(import_model(folder / "zero").model), values_of(model));
  for (const std::string name : {"blocks.1.mlp.b_gate", "blocks.0.mlp.b_in"}) {
    const Transformer changed = model.clone();
    changed.visit([&](const std::string& one, const Tensor& values) {
      if (one == name) values.data()[3] = 0.5;
    });
    expect_error([&] { export_model(changed, "transformerlens", folder / "other"); },
                 {name, "here it is not 0"});
  }
}

TEST(Layouts, OverwriteNothing) {
  const TemporaryFolder folder;
  write_file(folder / "mine", "mine");
  expect_error([&] { export_model(model_with("d_ff=64"), "huggingface-gpt2", folder.path()); },
               {"is not empty"});
}

// ---- files that do not fit

TEST_F(DamagedModel, SaysWhichShardIsTruncated) {
  copy("huggingface-llama");
  fs::resize_file(path / "model-00002-of-00003.safetensors", 3000);
  expect_refused({"model-00002-of-00003.safetensors", "truncated"});
}

TEST_F(DamagedModel, SaysWhichShardIsMissing) {
  copy("huggingface-llama");
  fs::remove(path / "model-00003-of-00003.safetensors");
  expect_refused({"model-00003-of-00003.safetensors", "No such file"});
}

TEST_F(DamagedModel, SaysWhereTheIndexIsWrong) {
  copy("huggingface-llama");
  replace("model.safetensors.index.json", "lm_head.weight", "lm_tail.weight");
  expect_refused({"model.safetensors.index.json", "lm_tail.weight", "does not"});
}

TEST_F(DamagedModel, NamesMissingAndSurplusTensorsAndUnknownTypes) {
  copy("huggingface-gpt2");
  replace("model.safetensors", "h.1.ln_2.weight", "h.1.ln_9.weight");
  expect_refused({"h.1.ln_2.weight [16] is missing", "h.1.ln_9.weight [16] has no place"});
  replace("model.safetensors", "\"F32\"", "\"F8X\"");
  expect_refused({"wte.weight", "unknown dtype 'F8X'"});
}

TEST_F(DamagedModel, NamesShapesExpectedAndFound) {
  copy("huggingface-gpt2");
  replace("config.json", "\"vocab_size\": 23", "\"vocab_size\": 19");
  expect_refused({"wte.weight [23, 16] was expected to be [19, 16]"});
}

TEST_F(DamagedModel, MakesNothingAsLargeAsAConfigPromises) {
  copy("nanogpt");
  replace("config.json", "\"n_layer\": 2", "\"n_layer\": 900");
  expect_refused({"config.json asks for", "weights"});
  replace("config.json", "\"n_layer\": 900", "\"n_layer\": 2");
  replace("config.json", "\"vocab_size\": ", "\"vocab_size\": 9");
  expect_refused({"config.json asks for", "weights"});
}

/// A size of 0 or 1 in place of each number of config.json, and in keys that a layout may hold.
TEST_P(EachLayout, ChecksEverySizeBeforeItIsUsed) {
  fs::copy(kLayouts / GetParam(), folder / "model", fs::copy_options::recursive);
  const Json config = Json::parse(read_file(kLayouts / GetParam() / "config.json"), "config");
  std::vector<std::string> keys = {"head_dim", "max_window_layers", "num_key_value_heads",
                                   "sliding_window", "window_size"};
  for (const auto& [key, value] : config.members())
    if (value.is_number()) keys.push_back(key);
  for (const std::string& key : keys) {
    for (const Json& size :
         {Json(0), Json(1), Json(-1), Json(1e300), Json(), Json(Json::Array())}) {
      Json changed = config;
      changed[key] = size;
      write_file(folder / "model" / "config.json", changed.dump());
      try {
        import_model(folder / "model");  // a few sizes do not matter, such as a window of 0
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("cannot import"), std::string::npos) << key;
      }
    }
  }
}

TEST_P(EachLayout, RefusesAModelWithoutLayersWhoseFileHasSome) {
  fs::copy(kLayouts / GetParam(), folder / "model", fs::copy_options::recursive);
  Json config = Json::parse(read_file(kLayouts / GetParam() / "config.json"), "config");
  for (const char* key : {"num_hidden_layers", "n_layer", "n_layers"})
    if (config.find(key) != nullptr) config[key] = 0;
  write_file(folder / "model" / "config.json", config.dump());
  expect_error([&] { import_model(folder / "model"); }, {"cannot import"});
}

TEST_F(DamagedModel, NamesUnsupportedSettings) {
  copy("huggingface-llama");
  replace("config.json", "\"rope_scaling\": null", "\"rope_scaling\": {\"factor\": 8}");
  expect_refused({"config.json", "rope_scaling.factor with the value 8"});
  replace("config.json", "silu", "mish");
  replace("config.json", "{\"factor\": 8}", "null");
  expect_refused({"hidden_act", "mish"});
}

TEST_F(DamagedModel, ShardsAreFilesOfTheirFolder) {
  for (const std::string name : {"../model-00001-of-00003.safetensors", "/etc/passwd", "..", "",
                                 "a\\u0000b", "sub/model.safetensors"}) {
    copy("huggingface-llama");
    std::string index = read_file(path / "model.safetensors.index.json");
    const std::string first = "model-00001-of-00003.safetensors";
    index.replace(index.find(first), first.size(), name);
    write_file(path / "model.safetensors.index.json", index);
    expect_refused({"model.safetensors.index.json", "names the file"});
    fs::remove_all(path);
  }
}

TEST_F(DamagedModel, SaysWhichOfTwoModelsIsMeant) {
  copy("huggingface-llama");
  fs::copy(kLayouts / "nanogpt" / "model.safetensors", path / "model.safetensors");
  expect_refused({"holds both", "model.safetensors.index.json"});
}

TEST_F(DamagedModel, SaysThatItsTensorsAreInAnotherFormat) {
  copy("nanogpt");
  fs::rename(path / "model.safetensors", path / "pytorch_model.bin");
  expect_refused({"neither model.safetensors nor"});
  const std::pair<const char*, const char*> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid", "git-lfs"},
      {"<!DOCTYPE html><html>", "web page"},
      {"{\"n_layer\": 2, \"n_head\": 4}", "JSON"},
      {"PK\x03\x04 and the archive", "zip"}};
  for (const auto& [bytes, said] : files) {
    write_file(path / "model.safetensors", std::string(bytes));
    expect_refused({"model.safetensors", said});
  }
}

TEST_F(DamagedModel, NeedsItsConfig) {
  copy("huggingface-gpt2");
  replace("config.json", "\"n_head\"", "\"heads\"");
  expect_refused({"the key n_head is missing"});
  replace("config.json", "\"heads\"", "\"n_head\"");
  replace("config.json", "\"n_positions\"", "\"positions\"");
  expect_refused({"the key n_positions is missing"});
  replace("config.json", "\"gpt2\"", "\"gpt9\"");
  expect_refused({"model_type gpt9 is not read; read are gpt2, llama, mistral, qwen2"});
  for (const char* family : {"gpt_neox", "opt", "bert", "t5"}) {  // Pythia, OPT, BERT, T5
    write_file(path / "config.json", text("{\"model_type\": \"", family, "\"}"));
    expect_refused({text("model_type ", family, " is not read")});
  }
  write_file(path / "config.json", "{}");
  expect_refused({"headlab knows no layout with its keys", "n_positions (huggingface-gpt2)"});
  fs::remove(path / "config.json");
  expect_refused({"cannot import", "config.json is missing"});
}

}}  // namespace headlab
