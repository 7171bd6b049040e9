// `explain` and `cost` as they are used: what they print, as text and as JSON, and how they refuse
// what cannot be.
#include <set>

#include "app/report/results.h"
#include "cli/program.h"
#include "headlab/app/cli/command.h"
#include "headlab/core/model/config.h"

namespace headlab::cli { namespace {

using Learning = Program;

TEST_F(Learning, ListsItsTopicsAndEachIsThere) {
  done(tiny({"--out", "a"}));
  const Json json = done({"explain", "--json"}).json();
  for (const Json& topic : json.at("topics").items()) {
    const std::string name = topic.at("name").string();
    Words words = {"explain", name};
    if (topic.at("takes").string() == "RUN") words.push_back("a");
    EXPECT_TRUE(holds(done(words).out, "command: headlab explain " + name)) << name;
    EXPECT_NE(done(with(words, {"--json"})).json().find("command"), nullptr) << name;
  }
}

/// Words with single blanks between them.
std::string unwrapped(const std::string& lines) {
  std::istringstream words(lines);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST_F(Learning, HelpNamesEveryKindAndListAndExplainDescribeIt) {
  const std::string help = unwrapped(done({"train", "--help", "all"}).out);
  const std::string list = unwrapped(done({"list", "kinds"}).out);
  const auto said = [&](const auto& kinds) {
    for (const auto& kind : kinds) {
      EXPECT_TRUE(holds(help, kind.name)) << kind.name;
      EXPECT_TRUE(holds(list, text(kind.name, " ", kind.summary))) << kind.name;
      const std::string explained = unwrapped(done({"explain", kind.name}).out);
      EXPECT_TRUE(holds(explained, text(": ", kind.summary))) << explained;
    }
  };
  said(kNorms);
  said(kActivations);
  said(kPositions);
  said(attention_functions());
  said(kBlocks);
}

TEST_F(Learning, ComputesTheFiveTokensStepByStep) {
  const std::string sat = done({"explain", "five-tokens", "--query", "sat"}).out;
  EXPECT_EQ(sat.substr(0, sat.find("command: ")), [&] {
    const std::string by_number = done({"explain", "five-tokens", "--query", "2"}).out;
    return by_number.substr(0, by_number.find("command: "));
  }());
  const Json json = done({"explain", "five-tokens", "--json"}).json();
  EXPECT_NEAR(json.at("heads").items()[0].at("weights").items()[2].items()[2].number(), .3673,
              .5e-4);
  EXPECT_TRUE(holds(done({"explain", "five-tokens", "--heads", "4"}).out, "9 of 20 rows"));
}

TEST_F(Learning, ExplainsAWordByTheGlossaryAndNotByTheCaptionOfAPicture) {
  const std::string mask = done({"explain", "mask"}).out;
  EXPECT_TRUE(mask.starts_with("mask: The keys that a query cannot attend to. Their scores are"))
      << mask;
}

TEST_F(Learning, GlossaryHasEachNameOnceAndSeesCommands) {
  std::set<std::string> names;
  for (const GlossaryTerm& term : glossary()) {
    for (const std::string& name : term.names) EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(term.meaning.ends_with('.') || term.meaning.ends_with(')')) << term.meaning;
    if (term.see.empty()) continue;
    const std::string command(split(term.see, ' ')[0]);
    EXPECT_TRUE(std::ranges::any_of(commands(), [&](const Command& one) {
      return one.name == command;
    })) << term.see;
  }
  EXPECT_GT(names.size(), 100u);
  EXPECT_TRUE(names.contains("attention head") && names.contains("rms norm"));
  EXPECT_TRUE(holds(done({"explain", "overfitting"}).out, "  see: headlab eval runs/full\n"));
}

TEST_F(Learning, ExplainsSeveralWordsAtOnce) {
  const std::string both = done({"explain", "lift", "nats"}).out;
  EXPECT_EQ(both, done({"explain", "lift"}).out + done({"explain", "nats"}).out);
  EXPECT_EQ(done({"explain", "lift nats"}).out, both) << "in quotation marks";
  const Json json = done({"explain", "lift", "top1", "--json"}).json();
  ASSERT_EQ(json.at("words").items().size(), 2u);
  EXPECT_EQ(json.at("words").items()[1].at("word"), Json("top1"));
  EXPECT_EQ(done({"explain", "lift", "--json"}).json().at("word"), Json("lift"));
  expect_refused(run({"explain", "lift", "nonsense", "nats"}), 2, {"'nonsense'"});
  expect_refused(run({"explain", "lift", "mistakes"}), 2, {"mistakes", "topic of its own"});
}

TEST_F(Learning, ComputesARunsOwnNumbers) {
  done(tiny({"--out", "a"}));
  const Words words = {"explain", "attention", "a", "--head", "0.1", "--query", "3"};
  const std::string text = done(words).out;
  expect_parts(text, {"head 0.1, query 3", "masked"});
  const Json json = done(with(words, {"--json"})).json();
  EXPECT_LT(json.at("largest_difference").number(), 1e-5);
  const Json pattern = done({"pattern", "a", "0.1", "--json"}).json();
  for (std::size_t s = 0; s < 4; ++s)
    EXPECT_NEAR(json.at("steps").at("weights").items()[3].items()[s].number(),
                pattern.at("pattern").items()[3].items()[s].number(), 1e-5);
}

TEST_F(Learning, TakesNumbersOfYourOwn) {
  write_file(folder / "own.json",
             R"({"tokens": ["a", "b"], "heads": 1, "q": [[1], [0]], "k": [[1], [2]],
                        "v": [[3], [5]]})");
  const Json json = done({"explain", "attention", "--file", "own.json", "--json"}).json();
  EXPECT_EQ(json.at("heads").items()[0].at("weights").items()[1].items()[0].number(), .5);
  EXPECT_EQ(json.at("concatenated").items()[1].items()[0].number(), 4);
  for (
      const char* wrong :
      {R"({"tokens": []})", R"({"tokens": ["a"], "heads": 0, "q": [[1]], "k": [[1]], "v": [[1]]})",
       R"({"tokens": ["a"], "q": [[1], [2]], "k": [[1]], "v": [[1]]})",
       R"({"tokens": ["a"], "q": [[1, 2]], "k": [[1]], "v": [[1]]})",
       R"({"tokens": ["a", "b"], "q": [[1, 2], [1]], "k": [[1, 1], [1, 1]], "v": [[1, 1], [1, 1]]})",
       R"({"tokens": ["a"], "q": [[]], "k": [[]], "v": [[]]})", "no JSON"}) {
    write_file(folder / "own.json", wrong);
    EXPECT_EQ(run({"explain", "attention", "--file", "own.json"}).status, 1) << wrong;
  }
}

/// The words that a newcomer types first. The first line of an answer is a definition, which names
/// no column, flag or run.
TEST_F(Learning, DefinesWordsOfANewcomer) {
  for (const char* line : {"attention",
                           "head",
                           "attention head",
                           "query",
                           "key",
                           "value",
                           "multi-head",
                           "Multi-Head",
                           "residual",
                           "residual stream",
                           "logit",
                           "logits",
                           "embedding",
                           "embeddings",
                           "transformer",
                           "causal mask",
                           "mask",
                           "layer norm",
                           "LayerNorm",
                           "epoch",
                           "W_Q",
                           "W_K",
                           "W_V",
                           "W_O",
                           "softmax",
                           "token",
                           "position",
                           "feed-forward",
                           "MLP",
                           "dropout",
                           "loss",
                           "gradient",
                           "learning rate",
                           "optimizer",
                           "seed",
                           "batch",
                           "accuracy",
                           "encoder",
                           "decoder",
                           "task",
                           "step",
                           "run",
                           "checkpoint",
                           "overfitting",
                           "perplexity",
                           "vocabulary",
                           "interval"}) {
    const std::string said = done(with({"explain"}, typed(line))).out;
    const std::string first = said.substr(0, said.find(": "));
    EXPECT_EQ(first.find(", a "), std::string::npos) << line << "\n" << said;
    EXPECT_GT(said.size(), first.size() + 20) << line;
  }
  EXPECT_EQ(done({"explain", "Layer-Norm"}).out, done({"explain", "layer norm"}).out);
}

TEST_F(Learning, RefusesUnknownNamesAndSettings) {
  done(tiny({"--out", "a"}));
  for (const char* line :
       {"explain five-tokens --query dog", "explain five-tokens --query 5",
        "explain five-tokens --heads 3", "explain five-tokens --head 0.0", "explain five-tokens a",
        "explain attention --head 0.1", "explain mistakes --query 1", "explain five-token",
        "explain attention a --head 0.9", "explain attention a --query 999",
        "explain attention a --query -1", "explain attention a --heads 2",
        "explain attention --file own.json --example 1", "explain lift --query 1",
        "cost --heads 8 --d-model 4", "cost --heads 8 --kv-heads 3", "cost --length 100000000",
        "cost --layers 10000 --length 16777216 --batch 100000", "cost --model a --heads 2"}) {
    const Outcome outcome = run(typed(line));
    EXPECT_EQ(outcome.status, 2) << line << "\n" << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "hint: ")) << line << "\n" << outcome.err;
  }
  EXPECT_TRUE(holds(run({"explain", "five-tokens", "--heads", "3"}).err, "PyTorch"));
}

TEST_F(Learning, CountsCosts) {
  const std::string text =
      done({"cost", "--d-model", "512", "--heads", "8", "--length", "1024"}).out;
  EXPECT_TRUE(holds(text, "1,050,624")) << text;
  const Json json = done({"cost", "--heads", "7", "--json"}).json();
  EXPECT_TRUE(holds(json.at("division").string(), "PyTorch"));
  EXPECT_EQ(
      done({"cost", "--heads", "7", "--d-head", "64", "--json"}).json().at("division").string(), "")
      << "the width is given, and nothing is left over";
  for (const char* key : {"parameters", "operations", "memory", "complexity"})
    EXPECT_FALSE(json.at(key).items().empty()) << key;
  done(tiny({"--out", "a"}));
  EXPECT_FALSE(
      done({"cost", "--model", "a", "--json"}).json().at("attention_layers").items().empty());
}

}  // namespace
}  // namespace headlab::cli
