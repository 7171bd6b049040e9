// The family of models: every combination of the kinds of norms, positions, feed-forward networks,
// biases, windows and architectures that validates is built, and does what every model must. Kinds
// come from their tables, so that a new row is tested by being there.
#include "headlab/core/base/threads.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/ops/ops.h"
#include "support/models.h"

namespace headlab { namespace {

constexpr const char* kShapes[] = {
    "architecture=decoder", "architecture=encoder window=2 features=1", "kv_heads=2 window=3+0",
    "architecture=encoder_decoder encoder_layers=1 source_length=5 window=2+0+3"};

/// The settings of all combinations; of two stacks with layers of their own windows.
std::vector<std::string> combinations() {
  std::vector<std::string> all;
  for (const std::string& kinds : all_kinds()) {
    for (const std::string shape : kShapes) {
      const bool has_source = shape.find("encoder_decoder") != std::string::npos;
      if (!has_source || allow_a_source(kinds)) {
        all.push_back(kinds + " " + shape);
      }
    }
  }
  return all;
}

TransformerConfig family_config(const std::string& settings) {
  return config_with("layers=2 heads=4 d_model=8 d_ff=6 vocab=5 length=6 " + settings);
}

/// The first heads of every attention layer but the last, which loses all, and gates that do the
/// same.
std::pair<std::vector<std::vector<std::int32_t>>, ModelHooks> kept_and_gates(
    const Transformer& model) {
  std::vector<std::vector<std::int32_t>> kept(model.head_numbers().size(), {0, 2, 3});
  kept.back().clear();
  ModelHooks hooks;
  for (const auto& heads : kept) {
    HeadInterventions interventions;
    interventions.gate = Tensor::zeros({4});
    for (const std::int32_t head : heads) interventions.gate.data()[head] = 1;
    hooks.interventions.push_back(interventions);
  }
  return {kept, hooks};
}

TEST(Family, RemovalEqualsMaskAndFilesRoundTripInAllCombinations) {
  const NoGrad no_grad;
  for (const std::string& settings : combinations()) {
    SCOPED_TRACE(settings);
    const Transformer model = random_model(family_config(settings));
    const Batch batch = random_batch(model.config(), 2, 6);
    const auto [kept, hooks] = kept_and_gates(model);
    const Transformer removed = model.with_heads(kept);
    const Tensor logits = removed.forward(batch);
    expect_near(logits, model.forward(batch, {}, hooks), 1e-4);

    TensorFile file;
    store_parameters(removed, file);
    TransformerConfig written = removed.config(), config;
    settings_of(config).set_all(Json::parse(settings_of(written).to_json().dump()), "config");
    Transformer read(config);
    load_parameters(read, file);
    expect_near(read.forward(batch), logits, sizeof(Scalar) == 4 ? 0 : 1e-5);  // files hold floats
  }
}

TEST(Family, EveryParameterLearnsAndThreadsChangeNothingInAllCombinations) {
  const int threads = thread_count();
  for (const std::string& settings : combinations()) {
    SCOPED_TRACE(settings);
    Transformer model = random_model(family_config(settings));
    const Batch batch = random_batch(model.config(), 2, 6);
    std::vector<std::vector<double>> gradients[2];
    for (const int count : {1, 3}) {
      set_thread_count(count);
      backward(model.loss(batch));
      model.visit([&](const std::string& name, const Tensor& p) {
        ASSERT_TRUE(p.grad().defined()) << name;
        gradients[count == 3].push_back(numbers(p.grad()));
        const bool idle = name.ends_with("b_K");  // adds the same to all scores of a query
        const bool may_be_dead = model.config().norm == NormType::none &&
                                 model.config().activation == Activation::relu &&
                                 name.find(".mlp.") != name.npos;  // no input is above 0
        EXPECT_TRUE(idle || may_be_dead || largest(gradients[0].back()) > 0) << name;
        p.zero_grad();
      });
    }
    EXPECT_EQ(gradients[0], gradients[1]);
  }
  set_thread_count(threads);
}

/// The batch's positions [begin, end), without padding.
Batch part_of(const Batch& batch, Index begin, Index end) {
  Batch part = Batch::make(batch.size, end - begin, 1, batch.source_length);
  part.source = batch.source, part.source_lengths = batch.source_lengths;
  for (Index b = 0; b < batch.size; ++b)
    for (Index t = begin; t < end; ++t) part.token(b, t - begin) = batch.token(b, t);
  return part;
}

TEST(Family, CachedTokenEqualsFullPassInAllCombinations) {
  const NoGrad no_grad;
  for (const std::string& settings : combinations()) {
    const Transformer whole = random_model(family_config(settings));
    if (whole.config().architecture == Architecture::encoder) continue;
    for (const Transformer& model : {whole, whole.with_heads(kept_and_gates(whole).first)}) {
      SCOPED_TRACE(settings);
      Batch batch = random_batch(model.config(), 2, 6);
      if (batch.source_length > 0) batch.source_lengths = {3, 5};
      const Tensor logits = model.forward(batch);
      ModelCache cache(model.config(), 6);
      for (const auto& [begin, end] :
           {std::pair<Index, Index>(0, 2), {2, 3}, {3, 4}, {4, 5}, {5, 6}})
        expect_near(model.forward(part_of(batch, begin, end), {}, {.cache = &cache}),
                    slice(logits, 1, begin, end), 1e-4);
    }
  }
}

/// Logits at the last position of a decoder's only layer, with the first token changed or not.
TEST(Family, WindowMasksKeysBeyondIt) {
  const NoGrad no_grad;
  for (const auto& [window, sees] : {std::pair("2", false), std::pair("6", true)}) {
    const Transformer model = random_model(small_config(text("layers=1 window=", window)));
    Batch batch = random_batch(model.config(), 1, 6);
    const auto last = [&] {
      const std::vector<double> all = numbers(model.forward(batch));
      return std::vector<double>(all.end() - 7, all.end());
    };
    const std::vector<double> before = last();
    batch.token(0, 0) = (batch.token(0, 0) + 1) % 7;
    EXPECT_EQ(last() != before, sees) << window;
  }
}

TEST(Family, RotaryAttentionDependsOnDistancesAlone) {
  const NoGrad no_grad;
  const Transformer model = random_model(small_config("layers=1 block=llama window=3"));
  Batch batch = Batch::make(1, 6);
  batch.tokens = {1, 2, 3, 1, 2, 3};
  const std::vector<double> all = numbers(model.forward(batch));
  for (std::size_t v = 0; v < 7; ++v) EXPECT_NEAR(all[2 * 7 + v], all[5 * 7 + v], 1e-5);
}

TEST(Family, BlocksAreTheSettingsThatTheyName) {
  const TransformerConfig llama = small_config("block=llama"), gpt2 = small_config("block=gpt2");
  EXPECT_EQ(llama.norm, NormType::rms);
  EXPECT_EQ(llama.positions, Positions::rotary);
  EXPECT_EQ(llama.activation, Activation::swiglu);
  EXPECT_FALSE(llama.biases);
  TransformerConfig plain = small_config(), block = gpt2;
  EXPECT_EQ(settings_of(block).to_json(), settings_of(plain).to_json());
  const TransformerConfig original = small_config("block=original norm_place=pre");
  EXPECT_EQ(original.norm_place, NormPlace::pre);  // what comes after it wins
  EXPECT_EQ(original.positions, Positions::sinusoidal);
  expect_error([] { small_config("block=lama"); }, {"unknown block", "llama"});
}

TEST(Family, UnfitSettingsAreRefusedWithAMessage) {
  expect_error([] { Transformer(small_config("positions=rotary d_head=3")); },
               {"rotary positions need heads of a width that divides by 2, got 3"});
  expect_error([] { Transformer(small_config("window=2+0+1")); }, {"window names 3 layers"});
  expect_error([] { small_config("window=-1"); }, {"window"});
  expect_error([] { Transformer(small_encoder_decoder("norm_place=parallel")); },
               {"cannot use norm_place parallel in an encoder-decoder", "cross-attention"});
  expect_error([] { small_config("norm=batch"); }, {"norm must be one of layer, rms"});
  expect_error([] { small_config("positions=rotery"); }, {"did you mean 'rotary'?"});
}

}  // namespace
}  // namespace headlab
