// Small models as TransformerLens stores them, with random weights, and their logits from a plain
// forward pass in double that shares nothing with the program. For tests of import: answers that
// are no tokens, no norms, bidirectional attention. Read next: tests/model/lens_models_test.cc.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/random.h"
#include "headlab/core/base/safetensors.h"

namespace headlab {

class LensModel {
 public:
  using Numbers = std::vector<double>;
  struct Sizes {
    std::int64_t layers = 2, heads = 2, width = 6, head_width = 3;
    std::int64_t hidden = 0;  // of the feed-forward network; 0: none
    std::int64_t length = 6, vocab = 5, outputs = 2;
    bool has_norms = true, sees_all = false;
  };

  explicit LensModel(const Sizes& sizes) : sizes_(sizes) { make_tensors(); }

  Json config() const {
    const bool has_network = sizes_.hidden > 0;
    return Json::object({{"n_layers", sizes_.layers},
                         {"d_model", sizes_.width},
                         {"n_ctx", sizes_.length},
                         {"d_head", sizes_.head_width},
                         {"n_heads", sizes_.heads},
                         {"d_mlp", has_network ? Json(sizes_.hidden) : Json()},
                         {"attn_only", !has_network},
                         {"act_fn", "relu"},
                         {"d_vocab", sizes_.vocab},
                         {"d_vocab_out", sizes_.outputs},
                         {"eps", 1e-5},
                         {"normalization_type", sizes_.has_norms ? Json("LN") : Json()},
                         {"positional_embedding_type", "standard"},
                         {"attention_dir", sizes_.sees_all ? "bidirectional" : "causal"},
                         {"use_attn_result", true},
                         {"model_name", "custom"},
                         {"seed", 42}});
  }

  void write(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    write_file(folder / "config.json", config().dump());
    TensorFile file;
    for (const auto& [name, tensor] : tensors_) {
      const std::vector<float> floats(tensor.values.begin(), tensor.values.end());
      file.tensors.push_back(StoredTensor::of(name, tensor.shape, std::span<const float>(floats)));
    }
    write_safetensors(folder / "model.safetensors", file);
  }

  /// Logits [T, outputs] of one sequence.
  Numbers logits(const std::vector<std::int32_t>& tokens) const {
    const auto T = static_cast<std::int64_t>(tokens.size());
    Numbers x;
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t c = 0; c < sizes_.width; ++c)
        x.push_back(values("embed.W_E")[tokens[t] * sizes_.width + c] +
                    values("pos_embed.W_pos")[t * sizes_.width + c]);
    for (std::int64_t layer = 0; layer < sizes_.layers; ++layer) {
      const std::string block = text("blocks.", layer, ".");
      add(x, attention(normalised(x, block + "ln1"), block + "attn."));
      if (sizes_.hidden > 0) add(x, network(normalised(x, block + "ln2"), block + "mlp."));
    }
    return linear(normalised(x, "ln_final"), "unembed.W_U", "unembed.b_U");
  }

 private:
  struct Stored {
    std::vector<std::int64_t> shape;
    Numbers values;
  };

  void make(const std::string& name, std::vector<std::int64_t> shape) {
    Generator random(Key{7}.fold(name));
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    Stored& stored = tensors_[name];
    stored.shape = std::move(shape);
    for (std::int64_t i = 0; i < count; ++i)
      stored.values.push_back(static_cast<float>(random.uniform(-1, 1)));
  }

  void make_norm(const std::string& name) {
    if (!sizes_.has_norms) return;
    make(name + ".w", {sizes_.width});
    make(name + ".b", {sizes_.width});
  }

  void make_tensors() {
    const std::int64_t H = sizes_.heads, C = sizes_.width, D = sizes_.head_width;
    make("embed.W_E", {sizes_.vocab, C});
    make("pos_embed.W_pos", {sizes_.length, C});
    for (std::int64_t layer = 0; layer < sizes_.layers; ++layer) {
      const std::string block = text("blocks.", layer, ".");
      make_norm(block + "ln1");
      for (const char* part : {"Q", "K", "V"}) {
        make(block + "attn.W_" + part, {H, C, D});
        make(block + "attn.b_" + part, {H, D});
      }
      make(block + "attn.W_O", {H, D, C});
      make(block + "attn.b_O", {C});
      if (sizes_.hidden == 0) continue;
      make_norm(block + "ln2");
      make(block + "mlp.W_in", {C, sizes_.hidden});
      make(block + "mlp.b_in", {sizes_.hidden});
      make(block + "mlp.W_out", {sizes_.hidden, C});
      make(block + "mlp.b_out", {C});
    }
    make_norm("ln_final");
    make("unembed.W_U", {C, sizes_.outputs});
    make("unembed.b_U", {sizes_.outputs});
  }

  const Numbers& values(const std::string& name) const { return tensors_.at(name).values; }

  static void add(Numbers& x, const Numbers& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Numbers normalised(Numbers x, const std::string& name) const {
    if (!sizes_.has_norms) return x;
    const auto C = static_cast<std::size_t>(sizes_.width);
    for (std::size_t at = 0; at < x.size(); at += C) {
      double mean = 0, squares = 0;
      for (std::size_t c = 0; c < C; ++c) mean += x[at + c] / static_cast<double>(C);
      for (std::size_t c = 0; c < C; ++c) squares += std::pow(x[at + c] - mean, 2);
      const double deviation = std::sqrt(squares / static_cast<double>(C) + 1e-5);
      for (std::size_t c = 0; c < C; ++c)
        x[at + c] =
            (x[at + c] - mean) / deviation * values(name + ".w")[c] + values(name + ".b")[c];
    }
    return x;
  }

  /// x W + b for rows x.
  Numbers linear(const Numbers& x, const std::string& W, const std::string& b) const {
    const auto in = static_cast<std::size_t>(tensors_.at(W).shape[0]);
    const auto out = static_cast<std::size_t>(tensors_.at(W).shape[1]);
    Numbers y;
    for (std::size_t at = 0; at < x.size(); at += in)
      for (std::size_t j = 0; j < out; ++j) {
        double sum = values(b)[j];
        for (std::size_t i = 0; i < in; ++i) sum += x[at + i] * values(W)[i * out + j];
        y.push_back(sum);
      }
    return y;
  }

  Numbers network(const Numbers& x, const std::string& name) const {
    Numbers hidden = linear(x, name + "W_in", name + "b_in");
    for (double& value : hidden) value = std::max(value, 0.0);
    return linear(hidden, name + "W_out", name + "b_out");
  }

  /// Row t of q, k or v of a head: x_t W + b.
  Numbers projected(const Numbers& x, std::int64_t t, const std::string& name, const char* part,
                    std::int64_t head) const {
    const std::int64_t C = sizes_.width, D = sizes_.head_width;
    Numbers row;
    for (std::int64_t d = 0; d < D; ++d) {
      double sum = values(name + "b_" + part)[head * D + d];
      for (std::int64_t c = 0; c < C; ++c)
        sum += x[t * C + c] * values(name + "W_" + part)[(head * C + c) * D + d];
      row.push_back(sum);
    }
    return row;
  }

  /// Weights of query t on all keys.
  Numbers weights(const Numbers& x, std::int64_t t, const std::string& name,
                  std::int64_t head) const {
    const auto T = static_cast<std::int64_t>(x.size()) / sizes_.width;
    const Numbers q = projected(x, t, name, "Q", head);
    Numbers row;
    double sum = 0;
    for (std::int64_t s = 0; s < T; ++s) {
      const Numbers k = projected(x, s, name, "K", head);
      double score = 0;
      for (std::size_t d = 0; d < q.size(); ++d) score += q[d] * k[d];
      const bool is_seen = sizes_.sees_all || s <= t;
      const double root = std::sqrt(static_cast<double>(sizes_.head_width));
      row.push_back(is_seen ? std::exp(score / root) : 0);
      sum += row.back();
    }
    for (double& weight : row) weight /= sum;
    return row;
  }

  Numbers attention(const Numbers& x, const std::string& name) const {
    const std::int64_t C = sizes_.width, D = sizes_.head_width;
    const auto T = static_cast<std::int64_t>(x.size()) / C;
    Numbers y;
    for (std::int64_t t = 0; t < T; ++t) {
      y.insert(y.end(), values(name + "b_O").begin(), values(name + "b_O").end());
      for (std::int64_t head = 0; head < sizes_.heads; ++head) {
        const Numbers row = weights(x, t, name, head);
        for (std::int64_t s = 0; s < T; ++s) {
          const Numbers v = projected(x, s, name, "V", head);
          for (std::int64_t d = 0; d < D; ++d)
            for (std::int64_t c = 0; c < C; ++c)
              y[t * C + c] += row[s] * v[d] * values(name + "W_O")[(head * D + d) * C + c];
        }
      }
    }
    return y;
  }

  Sizes sizes_;
  std::map<std::string, Stored> tensors_;
};

}  // namespace headlab
