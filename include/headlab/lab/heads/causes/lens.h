// The logit lens: the stream after each sublayer, read by the final norm and the unembedding as if
// the model ended there. It shows at which depth the right answer appears. nostalgebraist 2020,
// "interpreting GPT: the logit lens". The encoder of an encoder-decoder writes no logits and is
// left out. Read next: attribution.h, which splits the last logits into parts.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/base/mean.h"
#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/file_prompts.h"
#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Means over targets.
struct LensMeans {
  Mean loss;      // nats per target
  Mean accuracy;  // share of targets with the largest logit
  Mean rank;      // 1 + number of outputs with a larger logit than the target's

  void add(const LensMeans& other);
};

/// A place in the stream.
struct LensPlace {
  std::string name;  // "embedding", or the sublayer before it: "blocks.0.attn"
  LensMeans means{};
  PairedChange change{};  // of the loss by this sublayer; none for the embedding
};
/// Means of one target at one place, at one position or (-1) at all of them.
struct LensCell {
  std::size_t place = 0;
  Index position = -1;
  Index k = 0;
  LensMeans means{};
};

struct LensReport {
  std::vector<std::string> attention{}, targets{};
  std::vector<LensPlace> places{};
  std::vector<LensCell> by_target{}, by_position{};
  Index examples = 0;
  AgainstReport against{};  // by place, at targets for which a line of a file names `against`
};
Result result_of(const LensReport& report);

/// A stream [B, T, C] and the sublayer that it follows.
struct LensStream {
  std::string name;
  Tensor x;
};
/// Returns the streams of the stack that writes the logits, in order of computation: after the
/// embedding and after each sublayer; the last one has the logits of the model. If norm_place is a
/// wiring that a program has added, the streams are those after whole blocks.
std::vector<LensStream> lens_streams(const Transformer& model, const ActivationCache& activations);
/// Returns the logits of a stream: W_U of its final norm, or W_U alone if the model has none.
Tensor lens_logits(const Transformer& model, const Tensor& stream);

/// Reads every stream on held-out examples of the task.
LensReport read_lens(const Transformer& model, const Task& task, Index examples = 512);

/// The quantity of a prompt at one place in the stream.
struct PromptPlace {
  std::string name;
  double value = 0;   // of the quantity, in nats
  double change = 0;  // by this sublayer; NaN for the embedding
  Index rank = 1;     // 1 + number of outputs with a larger logit than the answer's
  std::string first;  // the answer with the largest logit
};
struct PromptLens {
  std::string said;  // the quantity
  std::vector<PromptPlace> places{};
};
Result result_of(const PromptLens& report);

/// Reads every stream on a prompt of one sequence.
PromptLens read_lens(const Transformer& model, const Task& task, const Batch& prompt,
                     const NamedAnswer& asked);

}  // namespace headlab
