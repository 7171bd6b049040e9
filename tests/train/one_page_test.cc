// examples/one_page.cc computes what Transformer computes from the same parameters: the page that a
// student reads first tells the truth about the rest. Read next: examples/one_page.cc.
#include <cstring>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "support/tensors.h"

namespace one_page {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"  // of a main that is not the program's
#include "../../examples/one_page.cc"
#pragma GCC diagnostic pop
}  // namespace one_page

namespace headlab { namespace {

TEST(OnePage, ComputesWhatTransformerDoes) {
  const auto task = make_task("relations:length=10");
  TransformerConfig config;
  config.shape() = task->shape();
  config.heads = {one_page::H};
  config.d_model = one_page::C;
  Transformer model(config);
  one_page::Tensors parameters;
  Generator random(Key{1});
  model.visit([&](const std::string& name, const Tensor& parameter) {
    for (Scalar& value : parameter.values()) value = static_cast<Scalar>(random.uniform(-0.5, 0.5));
    std::string_view own = name;  // without the module: W_Q, ln1.w
    for (const char* attention_layer : {"pos_embed.", "embed.", "unembed.", "blocks.0.", "attn."})
      if (own.starts_with(attention_layer)) own.remove_prefix(std::strlen(attention_layer));
    parameters[std::string(own)] = parameter;
  });
  EXPECT_EQ(parameters.size(), one_page::kParameters.size());
  const Batch batch = task->make_batch(Key{2}, one_page::B, Split::train);
  const NoGrad no_grad;
  ActivationCache activations;
  const Tensor expected = model.forward(batch, {}, {.activations = &activations});
  const auto [logits, pattern] = one_page::forward(parameters, batch);
  expect_near(logits, expected, 1e-5);
  expect_near(pattern, activations.attention[0].pattern, 1e-5);
}

}  // namespace
}  // namespace headlab
