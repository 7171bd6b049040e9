// Drawing one token after the other, with the whole context computed anew for each: toy models are
// so small that a cache of keys and values would only be more to read. Likelier tokens come first
// in the order, and equals by number, so a draw is the same on every machine.
#include "headlab/model/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// One token from logits [V].
std::int32_t draw(std::span<const Scalar> logits, const GenerationOptions& options,
                  Generator& random) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return logits[a] > logits[b]; });
  if (options.temperature <= 0) return order[0];
  if (options.top_k > 0 && options.top_k < static_cast<Index>(order.size()))
    order.resize(options.top_k);
  std::vector<double> cumulative;
  double total = 0;
  for (std::int32_t token : order) {
    const double difference = logits[token] - logits[order[0]];
    cumulative.push_back(total += std::exp(difference / options.temperature));
  }
  const auto chosen =
      std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * total);
  const auto place = std::min<std::ptrdiff_t>(chosen - cumulative.begin(), std::ssize(order) - 1);
  return order[place];
}

}  // namespace

std::vector<std::int32_t> generate(const Transformer& model, std::vector<std::int32_t> prompt,
                                   const GenerationOptions& options) {
  const TransformerConfig& config = model.config();
  if (config.architecture != Architecture::decoder || config.targets != 1)
    throw Error(
        "only a decoder, no encoder-decoder, with one target a position can continue a sequence",
        "that is a model of text, copy, sort, recall and the like, not of relations");
  require(!prompt.empty(), "the prompt is empty; at least one token is needed to continue from");
  const NoGrad no_grad;
  Generator random(options.key);
  for (Index i = 0; i < options.tokens; ++i) {
    const auto length = std::min(static_cast<Index>(prompt.size()), config.length);
    Batch batch = Batch::make(1, length);
    batch.tokens.assign(prompt.end() - length, prompt.end());
    const Tensor logits = model.forward(batch);
    const Scalar* last = logits.data() + (length - 1) * config.vocab;
    prompt.push_back(draw({last, static_cast<std::size_t>(config.vocab)}, options, random));
  }
  return prompt;
}

Batch decode_greedily(const Transformer& model, Batch prompts, Index tokens) {
  const TransformerConfig& config = model.config();
  require(config.architecture != Architecture::encoder && config.targets == 1,
          "only a decoder or encoder-decoder with one target at each position can continue ",
          "sequences");
  require(prompts.length + tokens <= config.length, prompts.length, " tokens and ", tokens,
          " more are too many: the model was made for at most ", config.length, " positions");
  require(prompts.lengths.empty(), "sequences of different lengths cannot be continued together");
  const NoGrad no_grad;
  for (; tokens > 0; --tokens) {
    const Tensor logits = model.forward(prompts);
    Batch longer = Batch::make(prompts.size, prompts.length + 1, 1, prompts.source_length);
    longer.source = prompts.source, longer.source_lengths = prompts.source_lengths;
    for (Index b = 0; b < prompts.size; ++b) {
      for (Index t = 0; t < prompts.length; ++t) longer.token(b, t) = prompts.token(b, t);
      const Scalar* last = logits.data() + ((b + 1) * prompts.length - 1) * config.vocab;
      longer.token(b, prompts.length) =
          static_cast<std::int32_t>(std::max_element(last, last + config.vocab) - last);
    }
    prompts = std::move(longer);
  }
  return prompts;
}

}}  // namespace headlab
