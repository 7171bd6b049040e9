// Models whose logits must be the sum of their parts, and the check itself: in float and in double
// with another tolerance. Read next: attribution_test.cc, attribution_f64.cc.
#pragma once

#include "headlab/lab/heads/causes/attribution.h"
#include "support/models.h"

namespace headlab {

/// A decoder with everything; grouped heads, some of them gone; several targets; a tied encoder
/// without feed-forward networks; two streams, with sinusoidal positions too; norms that do not
/// centre, and no biases.
inline std::vector<Transformer> attributed_models() {
  TransformerConfig tied = small_config("architecture=encoder tied=true d_ff=0 positions=none");
  return {random_model(small_config()),
          random_model(small_config("heads=4 kv_heads=2 targets=3 positions=sinusoidal"))
              .with_heads({{0, 3}, {}}),
          random_model(tied),
          random_model(small_config("norm_place=parallel targets=2")),
          random_model(small_config("block=llama norm_place=parallel")),
          random_model(small_encoder_decoder()),
          random_model(small_config("block=llama targets=2 window=2")),
          random_model(small_config("norm=rms activation=geglu tied=true biases=off")),
          random_model(small_encoder_decoder("positions=sinusoidal encoder_layers=2 tied=true"))};
}

/// Parts against logits, within `tolerance` of the largest logit.
inline void expect_parts_sum_to_logits(double tolerance) {
  for (const Transformer& model : attributed_models()) {
    const TransformerConfig& config = model.config();
    Batch batch = random_batch(config, 3, 5);
    batch.lengths = {5, 3, 4};
    const Tensor logits = model.forward(batch);
    const double most = largest(numbers(logits));
    for (const bool centred : {false, true}) {
      const Attribution found = attribute_logits(model, batch, centred);
      ASSERT_EQ(std::ssize(found.rows), batch.target_count());
      for (std::size_t i = 0; i < found.rows.size(); ++i) {
        const Scalar* row = logits.data() + found.rows[i] * config.vocab;
        double expected = row[batch.targets[static_cast<std::size_t>(found.rows[i])]], sum = 0;
        for (Index v = 0; centred && v < config.vocab; ++v)
          expected -= static_cast<double>(row[v]) / static_cast<double>(config.vocab);
        for (const std::vector<double>& shares : found.shares) sum += shares[i];
        EXPECT_NEAR(sum, expected, tolerance * most) << i;
      }
    }
  }
}

}  // namespace headlab
