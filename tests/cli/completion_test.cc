// Completions of values: rows of tables, and names from the run on the command line.
#include "cli/program.h"

namespace headlab::cli { namespace {

class Completions : public Program {
 protected:
  Words after(const std::string& line) const {
    Words words;
    const std::string out = done({"completion", "words", line}).out;
    for (const std::string_view word : split(out, '\n')) {
      if (!word.empty()) words.emplace_back(word);
    }
    return words;
  }
  void expect_offered(const std::string& line, const Words& expected) const {
    const Words found = after(line);
    for (const std::string& word : expected) {
      EXPECT_EQ(std::ranges::count(found, word), 1) << word << " after " << line;
    }
  }
};

TEST_F(Completions, OfferTopicsAndWords) {
  expect_offered("headlab explain ", {"five-tokens", "mistakes", "lift", "greedy"});
  EXPECT_EQ(after("headlab explain five"), Words{"five-tokens"});
}

TEST_F(Completions, OfferSettingsOfTasks) {
  expect_offered("headlab train --task copy:", {"copy:symbols="});
  const Words rest = after("headlab train --task relations:length=8,v");
  EXPECT_EQ(rest, Words{"relations:length=8,vocab="});
  EXPECT_EQ(after("headlab train --task relations:length=8,len"), Words{});
  EXPECT_EQ(after("headlab train --task nothing:"), Words{});
}

TEST_F(Completions, OfferLayoutsWidthsMeasuresAndTables) {
  expect_offered("headlab export a --to ", {"huggingface-gpt2", "npz"});
  expect_offered("headlab curve a --svg a.svg --width ", {"84mm", "174mm"});
  expect_offered("headlab compare a b --measure ", {"loss", "lift"});
  expect_offered("headlab heads a --table ", {"heads", "relations"});
}

TEST_F(Completions, OfferHeadsAndRelationsOfTheRun) {
  done(tiny({"--out", "a", "--heads", "3"}));
  EXPECT_EQ(after("headlab circuits a --head "), (Words{"0.0", "0.1", "0.2"}));
  expect_offered("headlab pattern a ", {"0.0", "0.2", "all"});
  expect_offered("headlab pattern a --head ", {"0.0", "0.2", "all"});
  expect_offered("headlab prune a --remove ", {"0.0", "0.2"});
  EXPECT_EQ(after("headlab ablate a --head 0.0,0.").size(), 3U);
  const std::string relation = Json::parse(done({"heads", "a", "--json"}).out)
                                   .at("relations")
                                   .items()[0]
                                   .at("name")
                                   .string();
  expect_offered("headlab pattern a 0.0 --relation ", {relation});
  done({"prune", "a", "--keep", "2", "--out", "b"});
  EXPECT_EQ(after("headlab circuits b --head ").size(), 2U) << "heads that are left";
  EXPECT_EQ(after("headlab circuits nowhere --head "), Words{});
  write_file(folder.path() / "a" / "config.json", "{");
  EXPECT_EQ(after("headlab circuits a --head "), Words{}) << "a damaged run is no error";
}

}}  // namespace headlab::cli
