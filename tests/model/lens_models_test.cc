// Models of TransformerLens as the field passes them around: answers that are no tokens, no norms,
// and attention in both directions. Their logits are compared with a plain forward pass.
// Read next: tests/support/lens_models.h; layouts_test.cc.
#include "support/lens_models.h"

#include "headlab/lab/layouts/layouts.h"
#include "support/stored_models.h"

namespace headlab { namespace {

struct Kind {
  const char* name;
  LensModel::Sizes sizes;
};

const Kind kKinds[] = {
    {"Answers", {.outputs = 2}},
    {"MoreAnswersThanTokens", {.vocab = 3, .outputs = 7}},
    {"Tokens", {.vocab = 5, .outputs = 5}},
    {"NoNorm", {.layers = 1, .heads = 1, .hidden = 4, .outputs = 3, .has_norms = false}},
    {"NoNormWithoutNetwork", {.outputs = 5, .has_norms = false}},
    {"Bidirectional", {.layers = 3, .hidden = 6, .outputs = 2, .sees_all = true}},
    {"BidirectionalWithoutNorm", {.outputs = 4, .has_norms = false, .sees_all = true}},
};

class LensModels : public InAFolder, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override { made.write(folder / "theirs"); }
  const LensModel made{GetParam().sizes};
};

TEST_P(LensModels, HaveTheLogitsOfAPlainPass) {
  const Transformer model = import_model(folder / "theirs").model;
  const std::vector<std::int32_t> tokens = {1, 0, 2, 2, 1};
  Batch batch = Batch::make(1, 5);
  batch.tokens.assign(tokens.begin(), tokens.end());
  const Tensor logits = model.forward(batch);
  const std::vector<double> expected = made.logits(tokens);
  ASSERT_EQ(logits.count(), std::ssize(expected));
  for (Index i = 0; i < logits.count(); ++i) EXPECT_NEAR(logits.data()[i], expected[i], 2e-5) << i;
}

/// Padding is what nothing attends to.
TEST_P(LensModels, IgnorePaddingAfterTheLength) {
  const Transformer model = import_model(folder / "theirs").model;
  Batch batch = Batch::make(2, 6);
  const Ids rows = {1, 0, 2, 0, 0, 0, 2, 1, 0, 1, 2, 2};
  batch.tokens = rows;
  batch.lengths = {3, 6};
  const Tensor logits = model.forward(batch);
  const std::vector<double> expected = made.logits({1, 0, 2});
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(logits.data()[i], expected[i], 2e-5) << i;
}

TEST_P(LensModels, RoundTripIsBitExact) {
  const ImportedModel imported = import_model(folder / "theirs");
  export_model(imported.model, "transformerlens", folder / "out");
  const ImportedModel back = import_model(folder / "out");
  EXPECT_EQ(settings_json(back.model.config()), settings_json(imported.model.config()));
  EXPECT_EQ(values_of(back.model), values_of(imported.model));
  const Json json = Json::parse(read_file(folder / "out/config.json"));
  for (const char* key : {"normalization_type", "attention_dir"})
    EXPECT_EQ(json.at(key), made.config().at(key)) << key;
  const bool has_answers = GetParam().sizes.outputs != GetParam().sizes.vocab;
  EXPECT_EQ(json.find("d_vocab_out") != nullptr, has_answers);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LensModels, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

class LensFolder : public InAFolder {
 protected:
  void write(const LensModel::Sizes& sizes, const std::string& key, const Json& value) const {
    const LensModel made(sizes);
    made.write(folder / "theirs");
    Json config = made.config();
    config[key] = value;
    write_file(folder / "theirs/config.json", config.dump());
  }
};

TEST_F(LensFolder, MinusOneOrNullMeansThatOutputsAreTokens) {
  for (const Json& value : {Json(-1), Json(), Json(5)}) {
    write({.vocab = 5, .outputs = 5}, "d_vocab_out", value);
    EXPECT_EQ(import_model(folder / "theirs").model.config().answers, 0) << value.dump();
  }
}

TEST_F(LensFolder, RefusesAnswersThatTheFileDoesNotHave) {
  write({.outputs = 2}, "d_vocab_out", 3);
  expect_error([&] { import_model(folder / "theirs"); }, {"unembed.W_U", "was expected to be"});
}

TEST_F(LensFolder, RefusesNormsThatTheConfigDoesNotHave) {
  write({}, "normalization_type", Json());
  expect_error([&] { import_model(folder / "theirs"); }, {"ln1.w", "has no place"});
}

TEST_F(LensFolder, RefusesWindowsThatTransformerLensIgnores) {
  LensModel({.sees_all = true}).write(folder / "theirs");
  Json config = LensModel({.sees_all = true}).config();
  config["use_local_attn"] = true;
  config["window_size"] = 2;
  config["attn_types"] = Json::parse(R"(["local", "global"])");
  write_file(folder / "theirs/config.json", config.dump());
  expect_error([&] { import_model(folder / "theirs"); }, {"use_local_attn", "bidirectional"});
}

TEST_F(LensFolder, RefusesToBeTiedWithAnswers) {
  write({.outputs = 2}, "tie_word_embeddings", true);
  expect_error([&] { import_model(folder / "theirs"); }, {"tied", "2 answers"});
}

}}  // namespace headlab::
