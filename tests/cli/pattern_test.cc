// The commands `pattern` and `history`, and what `heads` answers to flags that moved there. Arrays
// are compared with the model in tests/heads/activation_arrays_test.cc. Read next: tables_test.cc.
#include "cli/program.h"

namespace headlab::cli { namespace {

class Patterns : public Program {
 protected:
  Patterns() { done(tiny({"--out", "a", "--track-heads", "10"})); }
};

TEST_F(Patterns, UnknownFlagWithTheNameOfACommandNamesTheCommand) {
  const std::map<std::string, std::string> commands = {{"heads a --pattern 0.2", "pattern RUN"},
                                                       {"heads a --pattern=0.2", "pattern RUN"},
                                                       {"train --history", "history RUN"},
                                                       {"prune a --page", "page RUN"}};
  for (const auto& [typed_line, command] : commands) {
    const Outcome outcome = run(typed(typed_line));
    EXPECT_EQ(outcome.status, 2) << typed_line;
    EXPECT_TRUE(holds(outcome.err, "it is a command\nhint: headlab " + command + "\n"))
        << outcome.err;
  }
  EXPECT_FALSE(holds(run({"heads", "a", "--grid"}).err, "it is a command"));
}

TEST_F(Patterns, ShowAllHeadsIfNoneIsNamed) {
  const std::string all = done({"pattern", "a", "all", "--json"}).out;
  EXPECT_EQ(
      done({"pattern", "a", "--input", "a b a", "--json"}).json().at("patterns").items().size(),
      4u);
  for (const char* head : {"head 0.0 ", "head 0.3 "})
    EXPECT_TRUE(holds(done({"pattern", "a", "--input", "a b a"}).out, head));
  EXPECT_TRUE(holds(all, "\"attention\""));
}

TEST_F(Patterns, TakeTheHeadByFlagToo) {
  const Json named = done({"pattern", "a", "0.1", "--json"}).json();
  const Json flagged = done({"pattern", "a", "--head", "0.1", "--json"}).json();
  EXPECT_EQ(named.at("pattern"), flagged.at("pattern"));
  EXPECT_EQ(named.at("options"), flagged.at("options"));
  EXPECT_EQ(named.at("options").at("head").string(), "0.1");
}

TEST_F(Patterns, GridShowsTheUsersInputWithOwnersOfHeldOutExamples) {
  const Outcome grid = done({"pattern", "a", "--grid", "--input", "a b a", "--examples", "16"});
  EXPECT_TRUE(holds(grid.out, "0.3")) << grid.out;
}

TEST_F(Patterns, WriteActivationsOfEveryLayer) {
  done({"pattern", "a", "--activations", "one.npz"});
  EXPECT_TRUE(holds(file("one.npz"), "blocks.0.attn.q.npy"));
  EXPECT_TRUE(holds(file("one.npz"), "'shape': (1, 8, 4, 4, )")) << "one example by default";
  done({"pattern", "a", "0.1", "--example", "2", "--examples", "3", "--activations", "n.npz"});
  const std::string bytes = file("n.npz");
  for (const char* name :
       {"tokens", "lengths", "blocks.0.attn.k", "blocks.0.attn.v", "blocks.0.attn.pattern",
        "blocks.0.attn.z", "blocks.0.attn.heads", "stream.0", "stream.1"})
    EXPECT_TRUE(holds(bytes, std::string(name) + ".npy")) << name;
  EXPECT_TRUE(holds(bytes, "'shape': (3, 4, 8, 8, )")) << "the pattern: examples, heads, T, S";
  expect_refused(run({"pattern", "a", "--activations", "a/model.safetensors"}), 2, {".npz"});
}

TEST_F(Patterns, HistoryNeedsTrackedHeads) {
  done(tiny({"--out", "b"}));
  const Outcome untracked = run({"history", "b"});
  EXPECT_EQ(untracked.status, 1);
  EXPECT_TRUE(holds(untracked.err, "--track-heads")) << untracked.err;
}

}  // namespace
}  // namespace headlab::cli
