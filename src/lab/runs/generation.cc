// Sampling of one token after another. The first pass reads the prompt, each later pass the token
// added last. Tokens are sorted by probability, and equal ones by number, so that a draw is the
// same on every machine. Read next: src/core/model/transformer.cc, src/core/nn/attention.cc
// (KeyValueCache).
#include "headlab/lab/runs/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab {
namespace {

/// Samples one token from logits [V].
std::int32_t draw(std::span<const Scalar> logits, const GenerationOptions& options,
                  Generator& random) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return logits[a] > logits[b]; });
  if (options.temperature <= 0) return order[0];
  if (options.top_k > 0 && options.top_k < static_cast<Index>(order.size())) {
    order.resize(options.top_k);
  }
  std::vector<double> cumulative;
  double total = 0;
  for (std::int32_t token : order) {
    const double difference = logits[token] - logits[order[0]];
    total += std::exp(difference / options.temperature);
    cumulative.push_back(total);
  }
  const auto place_of = [&](auto first_beyond) {
    return std::min<std::ptrdiff_t>(first_beyond - cumulative.begin(), std::ssize(order) - 1);
  };
  const auto last = place_of(std::ranges::lower_bound(cumulative, options.top_p * total));
  const auto chosen =
      place_of(std::ranges::upper_bound(cumulative, random.uniform() * cumulative[last]));
  return order[std::min(chosen, last)];
}

}  // namespace

std::vector<std::int32_t> generate(const Transformer& model, std::vector<std::int32_t> prompt,
                                   const GenerationOptions& options) {
  const TransformerConfig& config = model.config();
  require(config.features == 0,
          "cannot continue a sequence: the model reads vectors, which no token can follow");
  if (config.architecture == Architecture::encoder || config.targets != 1) {
    throw Error(
        "cannot continue a sequence: the model must be a decoder or encoder-decoder with one "
        "target a position",
        "use a model of text, copy, sort or recall, not of relations");
  }
  require(config.answers == 0, "cannot continue a sequence: the model's ", config.answers,
          " answers are not tokens, so none can follow a prompt");
  require(!prompt.empty(),
          "cannot continue a sequence: the prompt is empty; at least one token is needed to "
          "continue from");
  const NoGrad no_grad;
  Generator random(options.key);
  ModelCache cache(config, std::min(config.length, std::ssize(prompt) + options.tokens));
  for (Index i = 0; i < options.tokens; ++i) {
    const Index size = std::ssize(prompt);
    const bool cached = size <= config.length;
    const Index first = cached ? cache.length : std::max<Index>(0, size - config.length);
    Batch batch = Batch::make(1, size - first, 1, std::ssize(options.source));
    std::copy(prompt.begin() + first, prompt.end(), batch.tokens.begin());
    std::ranges::copy(options.source, batch.source.begin());
    const Tensor logits = model.forward(batch, {}, {.cache = cached ? &cache : nullptr});
    const Scalar* last = logits.data() + (batch.length - 1) * config.vocab;
    prompt.push_back(draw({last, static_cast<std::size_t>(config.vocab)}, options, random));
    if (prompt.back() == options.stop) break;
  }
  return prompt;
}

}  // namespace headlab
