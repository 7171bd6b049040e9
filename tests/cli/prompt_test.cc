// Own prompts with named answers: patching, attribution and the lens measure the same quantity.
#include <cmath>

#include "cli/program.h"

namespace headlab::cli { namespace {

using Prompt = Program;

const std::string kRelations = "relations:length=8,vocab=6,classes=3,relations=1+same";

/// The tiny run of these tests.
Words small_run() {
  return tiny({"--task", kRelations, "--heads", "2", "--layers", "2", "--out", "r"});
}

/// A command on the run with a prompt, and further words.
Words asked(const std::string& command, const Words& more) {
  Words words = {command, "r", "--input", "a b c d"};
  if (command == "patch") words = with(words, {"--corrupted", "b b c d"});
  return with(words, more);
}

/// The value of the quantity in the JSON of a command.
double value_in(const std::string& command, const Json& json) {
  if (command == "patch") return json.at("clean").number();
  if (command == "attribute") return json.at("logits").items()[0].number();
  return json.at("prompt").items().back().at("value").number();
}

TEST_F(Prompt, AllThreeCommandsMeasureTheSameQuantity) {
  done(small_run());
  for (const Words& words : {Words{"--answer", "c", "--against", "e"}, Words{"--answer", "c"},
                             Words{"--answer", "a", "--position", "2", "--target", "same"}}) {
    const double lens = value_in("lens", done(asked("lens", with(words, {"--json"}))).json());
    for (const std::string command : {"attribute", "patch"}) {
      const Json json = done(asked(command, with(words, {"--json"}))).json();
      EXPECT_NEAR(value_in(command, json), lens, 1e-4) << command;
    }
  }
}

TEST_F(Prompt, FirstLineNamesTheQuantity) {
  done(small_run());
  for (const std::string command : {"lens", "attribute", "patch"}) {
    const std::string named = done(asked(command, {"--answer", "c", "--against", "e"})).out;
    expect_parts(named.substr(0, named.find('\n')),
                 {"the quantity is the logit of 'c' less that of 'e' at position 3, target back1"});
  }
  const std::string chosen = done(asked("lens", {})).out;
  expect_parts(chosen.substr(0, chosen.find('\n')), {"the first choice of the model"});
  EXPECT_FALSE(fs::exists(folder.path() / "r/lens.json")) << "only with --out";
  done(asked("lens", {"--out", "mine.json"}));
  EXPECT_TRUE(kept("mine.json").find("quantity")->is_string());
}

TEST_F(Prompt, BadInputNamesTheFlagAndTheWord) {
  done(small_run());
  for (const std::string command : {"lens", "attribute", "patch"}) {
    expect_refused(run(asked(command, {"--answer", "z"})), 1, {"--answer", "'z'"});
    expect_refused(run(asked(command, {"--answer", "a b"})), 1, {"--answer", "got 2: 'a b'"});
    expect_refused(run(asked(command, {"--answer", "a", "--against", "a"})), 1,
                   {"--against a", "the same as --answer"});
    expect_refused(run(asked(command, {"--answer", "a", "--position", "4"})), 1,
                   {"--position 4", "positions 0 to 3"});
    expect_refused(run(asked(command, {"--target", "back9", "--answer", "a"})), 1,
                   {"--target", "'back9'"});
    expect_refused(run({command, "r", "--answer", "a"}), 2, {"--answer", "--input"});
    expect_refused(run(asked(command, {"--against", "a"})), 2, {"--against", "--answer"});
    expect_refused(run(asked(command, {"--examples", "9"})), 2, {"--examples", "--input"});
    Words unknown = asked(command, {});
    unknown[3] = "a b z";
    expect_refused(run(unknown), 1, {"--input", "'z'"});
  }
}

}}  // namespace headlab::cli
