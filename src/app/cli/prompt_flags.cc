// The flags of one prompt with named answers, which patching, attribution and the lens share, and
// the tokens of a user's own input.
// Read next: lab/heads/causes/named_answer.h.
#include "app/cli/advice.h"
#include "app/cli/commands.h"

namespace headlab::cli {

void PromptFlags::add_to(Flags& settings) {
  settings.group("your own input");
  settings.string("input", input, "tokens, or the characters of a text: --input 'a b c'");
  settings.string("answer", words.answer, "answer to measure; if empty the first choice", "TOKEN");
  settings.string("against", words.against, "answer whose logit is subtracted", "TOKEN");
  settings.integer("position", words.position, -1, 1 << 24,
                   "position of the answer, from 0; -1: the last");
  settings.string("target", words.target, "target that is meant; if empty the first", "NAME");
  settings.needs({"answer", "position", "target"}, {flag_given("input")});
  settings.needs({"against"}, {flag_given("answer")});
  settings.excludes({"examples"}, {flag_given("input")});
}

Example typed_example(const Run& run, const std::string& flag, const std::string& words) {
  require(!run.model.config().has_source(), "cannot use ", flag,
          ": an encoder-decoder reads two inputs, not one");
  const std::vector<std::int32_t> tokens = typed_tokens(*run.task, flag, words);
  require(!tokens.empty(), "cannot use ", flag, ": it has no token");
  return run.task->example_of(tokens);
}

}  // namespace headlab::cli
