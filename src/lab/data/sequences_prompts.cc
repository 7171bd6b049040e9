// Reads what a line names in addition to its targets, for causal analyses: `corrupted` tokens,
// which patching compares with the clean ones, and for a target another answer, `against`, whose
// logit is subtracted. A line whose `corrupted` or `against` says nothing new is refused, because
// every effect on it would be 0.
// Read next: lab/heads/causes/file_prompts.h.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "lab/data/sequences.h"

namespace headlab {

std::vector<std::int32_t> LineReader::corrupted_of(const Json& words,
                                                   std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> corrupted = tokens_of(words, "corrupted");
  in_context("corrupted", [&] {
    require(header_.architecture != Architecture::encoder_decoder,
            "an encoder-decoder reads two inputs, not one");
    require(header_.hidden == 0, "it cannot be combined with 'hidden' of the header");
    require(corrupted.size() == tokens.size(), "expected ", tokens.size(),
            " tokens, as in 'tokens', got ", corrupted.size());
    require(!std::ranges::equal(corrupted, tokens), "these are the same tokens as in 'tokens'");
  });
  return corrupted;
}

std::vector<std::int32_t> LineReader::against_of(const Json& answers,
                                                 std::span<const std::int32_t> targets,
                                                 Index length) {
  const std::vector<std::int32_t> against =
      targets_of(answers, "against", header_.targets.size(), length);
  const std::vector<std::string>& words = headlab::answers_of(header_);
  in_context("against", [&] {
    std::size_t i = 0;  // of `targets`, which are in the same order
    for (std::size_t a = 0; a < against.size(); a += 3) {
      const std::pair place(against[a], against[a + 1]);
      while (i < targets.size() && std::pair(targets[i], targets[i + 1]) < place) i += 3;
      const bool has_target = i < targets.size() && std::pair(targets[i], targets[i + 1]) == place;
      const std::string& word = words[static_cast<std::size_t>(against[a + 2])];
      require(has_target, "'", word, "' at position ", place.first,
              " is compared with no target: 'targets' has none there");
      require(targets[i + 2] != against[a + 2], "'", word, "' at position ", place.first,
              " is the same as the target there");
    }
  });
  return against;
}

void LineReader::read_prompt(const Json& line, Sequences& one) {
  std::vector<std::int32_t> corrupted;
  std::vector<std::int32_t> against;
  if (const Json* words = line.find("corrupted")) {
    corrupted = corrupted_of(*words, one.tokens[0]);
  }
  if (const Json* answers = line.find("against")) {
    against = against_of(*answers, one.targets[0], std::ssize(one.tokens[0]));
  }
  one.corrupted.add(corrupted);
  one.against.add(against);
}

std::string form_of_prompts() {
  return R"(a line of a file may also name other answers and tokens for causal analyses:
  {"tokens": ["a", "b", "c"], "targets": [null, null, "a"],
   "corrupted": ["b", "b", "c"], "against": [null, null, "b"]}
`against` has another answer for a target: `eval`, `lens`, `attribute`, `patch`
and `ablate --truth-edges` then measure the logit of the target less that of the
other answer. `corrupted` has as many tokens as `tokens`: `patch` then compares
the two; without `against` it measures the log-probability of the targets. In a
.npz they have the shapes of targets and tokens, and -1 where there is none. A
trained model reads such a file with --task file:held_out=FILE
)";
}

}  // namespace headlab
