// Models built by hand whose heads look exactly where they are told, for the tests of what heads
// are said to do. The residual stream holds the position and the class of each token, one
// dimension each; post-norm blocks let attention read it as it is; weights are so large that all
// of the attention lies on one key. Read next: tests/heads/scores_test.cc.
#pragma once

#include "headlab/core/model/transformer.h"
#include "headlab/core/tasks/task.h"

namespace headlab {

constexpr Index kUniform = 0;  // looks at all keys alike
constexpr Index kSame = -1;    // looks at the last earlier token of the same class

/// Each head of the one layer: kUniform, kSame, or k: looks k back (at the first key before that).
/// `window`: of the layer.
inline Transformer hand_built(const TaskShape& shape, Index classes,
                              const std::vector<Index>& heads, Index window = 0) {
  TransformerConfig config;
  config.architecture = shape.architecture;
  config.vocab = shape.vocab;
  config.length = shape.length;
  config.targets = shape.targets;
  config.norm_place = NormPlace::post;
  config.window = {window};
  config.heads = {static_cast<Index>(heads.size())};
  config.d_model = config.d_head = shape.length + classes;
  Transformer model(config);
  const Index C = config.d_model, T = shape.length, columns = config.d_head * config.heads[0];
  model.visit([&](const std::string& name, const Tensor& parameter) {
    for (Index t = 0; name == "pos_embed.W_pos" && t < T; ++t) parameter.data()[t * C + t] = 1;
    for (Index v = 0; name == "embed.W_E" && v < shape.vocab; ++v)
      parameter.data()[v * C + T + v % classes] = 1;
  });
  MultiHeadAttention& attention = model.attention(0);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Index first = static_cast<Index>(h) * C;
    const auto query = [&](Index row, Index column, double weight) {
      attention.Q.W.data()[row * columns + first + column] = static_cast<Scalar>(weight);
    };
    for (Index c = 0; c < C; ++c) {
      attention.K.W.data()[c * columns + first + c] = 1;
      if (heads[h] == kSame && c >= T) query(c, c, 1e5);  // the same class first,
    }
    for (Index t = 0; t < T && heads[h] != kUniform; ++t) {
      if (heads[h] > 0) query(t, std::max<Index>(0, t - heads[h]), 1e5);
      for (Index s = 0; s < t && heads[h] == kSame; ++s)
        query(t, s, 1e3 * static_cast<double>(s + 1));  // then the latest, but not itself
    }
  }
  return model;
}

}  // namespace headlab
