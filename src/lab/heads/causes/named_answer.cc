// Words of a user become numbers here, and every error names the setting and the word. Quantities
// are computed in double, because attribution and patching compare them with sums and quotients.
// Read next: contrasts.cc.
#include "headlab/lab/heads/causes/named_answer.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab {
namespace {

/// Returns the number of an answer among those that are not tokens.
std::int32_t numbered_answer(const Task& task, const std::string& word) {
  std::vector<std::string> known;
  for (std::int32_t i = 0; i < task.shape().answers; ++i) known.push_back(task.answer_text(i));
  const auto found = std::ranges::find(known, word);
  if (found == known.end()) throw unknown_name("answer", word, known);
  return static_cast<std::int32_t>(found - known.begin());
}

/// Returns "at position 3", with the name of the target if the task has several.
std::string place_text(const Task& task, const NamedAnswer& asked) {
  const std::vector<std::string> names = task.target_names();
  const std::string place = text("at position ", asked.position);
  if (names.size() < 2) return place;
  return text(place, ", target ", names[static_cast<std::size_t>(asked.target)]);
}

std::string quantity_text(const Task& task, const NamedAnswer& asked) {
  const std::string answer = text("'", task.answer_text(asked.answer), "'");
  if (asked.against < 0) return "log-probability of " + answer;
  return text("logit of ", answer, " less that of '", task.answer_text(asked.against), "'");
}

}  // namespace

double value_at(const Tensor& logits, Index outputs, const Contrast& one) {
  const Scalar* row = logits.data() + one.row * outputs;
  const auto logit = static_cast<double>(row[one.clean]);
  if (one.corrupted >= 0) return logit - static_cast<double>(row[one.corrupted]);
  const auto largest = static_cast<double>(*std::max_element(row, row + outputs));
  double sum = 0;
  for (Index v = 0; v < outputs; ++v) sum += std::exp(static_cast<double>(row[v]) - largest);
  return logit - largest - std::log(sum);
}

Index position_of(const Batch& prompt, const AnswerWords& words) {
  const Index length = prompt.length_of(0);
  if (words.position < 0) return length - 1;
  require(words.position < length, "cannot use `position` ", words.position,
          ": the input has positions 0 to ", length - 1);
  return words.position;
}

Index target_of(const Task& task, const AnswerWords& words) {
  if (words.target.empty()) return 0;
  const std::vector<std::string> names = task.target_names();
  const auto found = std::ranges::find(names, words.target);
  if (found == names.end()) {
    in_context("cannot use `target`", [&] { throw unknown_name("target", words.target, names); });
  }
  return found - names.begin();
}

std::int32_t answer_of(const Task& task, const std::string& name, const std::string& word) {
  return in_context(text("cannot use `", name, "`"), [&] {
    if (task.shape().answers > 0) return numbered_answer(task, word);
    const std::vector<std::int32_t> tokens = task.encode(word);
    require(tokens.size() == 1, "expected one token, got ", tokens.size(), ": '", word, "'");
    return tokens[0];
  });
}

std::int32_t first_choice(const Transformer& model, const Batch& prompt, Index position,
                          Index target) {
  const NoGrad no_grad;
  const Tensor logits = model.forward(prompt);
  const Index outputs = model.config().outputs();
  const Index row = position * prompt.targets_per_position + target;
  const Scalar* x = logits.data() + row * outputs;
  return static_cast<std::int32_t>(std::max_element(x, x + outputs) - x);
}

NamedAnswer find_answer(const Transformer& model, const Task& task, const Batch& prompt,
                        const AnswerWords& words) {
  NamedAnswer asked;
  asked.position = position_of(prompt, words);
  asked.target = target_of(task, words);
  asked.is_chosen = words.answer.empty();
  asked.answer = asked.is_chosen ? first_choice(model, prompt, asked.position, asked.target)
                                 : answer_of(task, "answer", words.answer);
  if (!words.against.empty()) asked.against = answer_of(task, "against", words.against);
  require(asked.answer != asked.against, "cannot use `against` ", words.against,
          ": it is the same as `answer`");
  const std::string chosen = asked.is_chosen ? ", the first choice of the model" : "";
  asked.said = text(quantity_text(task, asked), chosen, " ", place_text(task, asked));
  return asked;
}

}  // namespace headlab
