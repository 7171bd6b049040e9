// Quantities of the logits of one prompt: the logit of an answer less that of another, or the
// log-probability of an answer, at one position. Patching, attribution and the logit lens measure
// the same quantity. Wang et al. 2022, "Interpretability in the Wild", use the logit difference.
// Read next: node_patching.h, attribution.h, lens.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/tasks/task.h"

namespace headlab {

/// Two columns of a row of logits [B*T*K, V]: the quantity is logit(clean) - logit(corrupted), or
/// the log-probability of `clean` if `corrupted` is -1.
struct Contrast {
  Index row, clean, corrupted;
};

/// Returns the quantity of these logits; V is `outputs`.
double value_at(const Tensor& logits, Index outputs, const Contrast& one);

/// Answers that a user names as texts.
struct AnswerWords {
  std::string answer{};   // "": the model's first choice
  std::string against{};  // "": none
  Index position = -1;    // -1: the last
  std::string target{};   // name of a target of the task; "": the first
};

/// A quantity of one prompt.
struct NamedAnswer {
  Index position = 0;
  Index target = 0;  // index of the target at this position
  std::int32_t answer = 0;
  std::int32_t against = -1;  // -1: the quantity is the log-probability of `answer`
  bool is_chosen = false;     // whether `answer` is the first choice of the model, not named
  std::string said{};         // "log-probability of 'cat' at position 3"

  /// Returns the quantity of a prompt with K targets at each position.
  Contrast contrast(Index K) const { return {position * K + target, answer, against}; }
};

/// Returns the position that the words name. Error about `position` if the prompt has no such one.
Index position_of(const Batch& prompt, const AnswerWords& words);
/// Returns the index of the target that the words name. Error about `target` for an unknown name.
Index target_of(const Task& task, const AnswerWords& words);
/// Returns the answer with this text. Error about the setting `name` if there is no such answer, or
/// if it is more than one token.
std::int32_t answer_of(const Task& task, const std::string& name, const std::string& word);
/// Returns the answer with the largest logit at a position of a prompt.
std::int32_t first_choice(const Transformer& model, const Batch& prompt, Index position,
                          Index target);

/// Returns the quantity that the words name, for a prompt of one sequence. Errors: those of the
/// four functions above; two answers that are the same.
NamedAnswer find_answer(const Transformer& model, const Task& task, const Batch& prompt,
                        const AnswerWords& words);

}  // namespace headlab
