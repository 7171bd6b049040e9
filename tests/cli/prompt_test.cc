// Own prompts with named answers: patching, attribution and the lens measure the same quantity.
#include <cmath>

#include "cli/program.h"
#include "lab/results/npy.h"

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

/// Writes `count` lines of four letters that ask at the end for the first one; with `named` they
/// name the letter after it, and the same line with that letter.
std::string letter_lines(int count, bool named) {
  const std::string letters = "abcdefgh";
  std::string lines =
      R"({"header":{"vocabulary":["a","b","c","d","e","f","g","h"],"length":4,"relations":[{"name":"first"}]}})"
      "\n";
  for (int i = 0; i < count; ++i) {
    Json tokens = Json::array();
    for (int t = 0; t < 4; ++t) tokens.push_back(std::string(1, letters[(i * (3 + t) + t) % 8]));
    const std::string first = tokens.items()[0].string();
    const std::string other(1, letters[(first[0] - 'a' + 1) % 8]);
    Json line = Json::object({{"tokens", tokens}});
    line["targets"] = Json::Array{Json(), Json(), Json(), first};
    line["truth"] = Json::object({{"first", Json::object({{"3", Json::Array{0}}})}});
    if (named) {
      line["against"] = Json::Array{Json(), Json(), Json(), other};
      Json::Array corrupted = tokens.items();
      corrupted[0] = other;
      line["corrupted"] = corrupted;
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

/// Returns the mean logit of the first letter less that of the letter after it, from the logits
/// [N, 4, 1, 8] that eval writes.
double mean_of_logits(const FloatArray& logits, const std::vector<std::int64_t>& first) {
  double sum = 0;
  for (std::size_t n = 0; n < first.size(); ++n) {
    const float* x = logits.values.data() + (n * 4 + 3) * 8;
    sum += double(x[first[n]]) - double(x[(first[n] + 1) % 8]);
  }
  return sum / double(first.size());
}

class FilePrompt : public Prompt {
 protected:
  /// Trains a run `r` on lines without names, and writes mine.jsonl, whose lines name answers.
  void train_on_letters(int steps) {
    write_file(folder.path() / "train.jsonl", letter_lines(40, false));
    write_file(folder.path() / "mine.jsonl", letter_lines(32, true));
    done(
        typed(text("train --task file:train=train.jsonl,held_out=train.jsonl,test=train.jsonl "
                   "--layers 1 --heads 2 --d-model 16 --batch 8 --out r --steps ",
                   steps)));
  }
};

TEST_F(FilePrompt, LinesOfAFileAreMeasuredAlikeByAllCommands) {
  train_on_letters(20);
  const auto on_mine = [&](const std::string& command) {
    return done(with(typed(command), {"--task", "file:held_out=mine.jsonl"}));
  };
  const Json eval = on_mine("eval r --logits x.npy --json").json();
  std::vector<std::int64_t> first;
  for (int i = 0; i < 32; ++i) first.push_back(i * 3 % 8);
  const double mean = mean_of_logits(read_npy_floats(file("x.npy")), first);
  const auto change = [](const Json& row, const char* key) {
    return row.at(key).at("change").number();
  };
  EXPECT_NEAR(change(eval.at("against").items()[0], "difference"), mean, 1e-5);
  const Json lens = on_mine("lens r --json").json();
  EXPECT_NEAR(change(lens.at("against").items().back(), "difference"), mean, 1e-5);
  EXPECT_NEAR(on_mine("attribute r --json").json().at("logits").items()[0].number(), mean, 1e-4);
  EXPECT_NEAR(on_mine("patch r --json").json().at("clean").number(), mean, 1e-5);
  const Json edges = on_mine("ablate r --truth-edges --json").json();
  EXPECT_NEAR(change(edges.at("against").items()[0], "difference"), mean, 1e-5);
}

TEST_F(FilePrompt, LinesOfAFileHaveRows) {
  train_on_letters(2);
  const std::pair<std::string, std::size_t> tables[] = {
      {"eval r --table single_against", 32},
      {"lens r --table single_against", 2 * 32},
      {"patch r --examples 9 --table single_pairs", 2 * 9},
      {"ablate r --truth-edges --table single_against", 2 * 32}};
  for (const auto& [command, rows] : tables) {
    const Words words = with(typed(command), {"--task", "file:held_out=mine.jsonl", "--json"});
    const Json found = done(words).json();
    const Json& table =
        found.at(command.find("pairs") == command.npos ? "single_against" : "single_pairs");
    EXPECT_GE(table.items().size(), rows) << command;
    EXPECT_EQ(table.items()[0].at("line"), Json(2)) << command;
    EXPECT_EQ(table.items()[1].at("line"), Json(3)) << command;
  }
  expect_refused(run(typed("eval r --table single_against")), 1,
                 {"no held-out line has the key 'against'"});
  expect_refused(run(typed("ablate r --table single_against")), 2, {"single_against"});
}

TEST_F(FilePrompt, BadLinesNameTheFileTheLineAndTheWord) {
  train_on_letters(2);
  std::string lines = letter_lines(3, true);
  lines.replace(lines.rfind("\"against\":[null,null,null,\"") + 27, 1, "z");
  write_file(folder.path() / "mine.jsonl", lines);
  for (const std::string command : {"eval", "lens", "attribute", "patch"}) {
    expect_refused(run({command, "r", "--task", "file:held_out=mine.jsonl"}), 1,
                   {"mine.jsonl:4", "against: 'z' is not in the vocabulary"});
  }
}

}}  // namespace headlab::cli
