// Names of folders that are not UTF-8, that control a terminal or that turn the direction of text:
// no output repeats their bytes, JSON is valid, and work that could not be stored does not begin.
// Read next: surroundings_test.cc.
#include "cli/program.h"
#include "headlab/core/base/json.h"

namespace headlab::cli { namespace {

class Names : public Program {
 protected:
  /// A run `a` that was renamed, and a run `b`.
  void rename_a(const std::string& name) {
    done(tiny({"--out", "a"}));
    done(tiny({"--out", "b"}));
    fs::rename(folder.path() / "a", folder.path() / name);
  }
  static void expect_utf8(const Outcome& outcome) {
    std::size_t position = 0;
    EXPECT_TRUE(valid_utf8(outcome.out, position)) << outcome.out;
    EXPECT_TRUE(valid_utf8(outcome.err, position)) << outcome.err;
  }
};

TEST_F(Names, NewFoldersThatAreNotUtf8AreRefusedBeforeAnyWork) {
  done(tiny({"--out", "a"}));
  const auto before = contents(folder.path());
  for (const std::string name : {"r\xff", "r\xC3",
                                 "r\x9b"
                                 "31m",
                                 "r\xED\xA0\x80"}) {
    for (const Words& words :
         {tiny({"--out", name}), Words{"prune", "a", "--keep", "1", "--out", name},
          Words{"page", "a", "--out", name}, Words{"heads", "a", "--out", name},
          Words{"sweep", "--task", "copy", "--heads", "1", "--out", name}}) {
      const Outcome outcome = run(words);
      expect_refused(outcome, 2, {"'r\\x", "is not UTF-8", "hint: "});
      expect_utf8(outcome);
    }
  }
  EXPECT_EQ(contents(folder.path()), before);
}

TEST_F(Names, RenamedRunIsShownQuotedAndMeasuredWithoutJson) {
  rename_a("r\xff");
  const Outcome shown = run({"eval", "r\xff", "--examples", "8"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  expect_utf8(shown);
  EXPECT_TRUE(holds(shown.out, "command: headlab eval $'r\\xFF'")) << shown.out;
  EXPECT_EQ(run({"pattern", "r\xff", "0.0"}).status, 0);
  const auto before = contents(folder.path());
  for (const Words& words :
       {Words{"eval", "r\xff", "--json"}, Words{"heads", "r\xff"}, Words{"ablate", "r\xff"},
        Words{"curve", "r\xff"}, Words{"circuits", "r\xff"}, Words{"page", "r\xff"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2);
    expect_parts(outcome.err, {"r\\xFF", "is not UTF-8"});
    expect_utf8(outcome);
  }
  EXPECT_EQ(contents(folder.path()), before);
  const Json failure = run({"eval", "r\xff", "--json"}).json();
  EXPECT_TRUE(holds(failure.at("error").string(), "is not UTF-8"));
}

TEST_F(Names, RunsListsTheOthersAndNamesWhatItLeavesOut) {
  rename_a("r\xff");
  const Outcome text = run({"runs", "."});
  expect_utf8(text);
  expect_parts(text.out, {"b", "r\\xFF"});
  const Outcome listed = run({"runs", ".", "--json"});
  EXPECT_EQ(listed.status, 1);
  EXPECT_EQ(listed.json().at("runs").items().size(), 1u);
  EXPECT_EQ(listed.json().at("unread"), Json(1));
  expect_parts(listed.err, {"r\\xFF is left out", "not UTF-8"});
}

TEST_F(Names, MissingRunIsNamedInValidJson) {
  const Outcome outcome = run({"eval", "nowhere\xff", "--json"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_FALSE(holds(outcome.err, "out of memory"));
  EXPECT_TRUE(outcome.json().find("error") != nullptr);
}

TEST_F(Names, SignsThatSteerATerminalAreEscapedInTextAndInJson) {
  for (const auto& [name, in_text, in_json] :
       std::vector<std::array<std::string, 3>>{{"r\u202eevil", "r\\xE2\\x80\\xAEevil",
                                                "r\\u202Eevil"},
                                               {"r\u0085", "r\\xC2\\x85", "r\\u0085"}}) {
    done(tiny({"--out", name}));
    const std::string sign = name.substr(1, name.size() - (name.ends_with("evil") ? 5 : 1));
    const Outcome text = run({"eval", name, "--examples", "8"});
    EXPECT_TRUE(holds(text.out, in_text)) << text.out;
    EXPECT_FALSE(holds(text.out + text.err, sign));
    const Outcome json = run({"runs", name, "--json"});
    EXPECT_TRUE(holds(json.out, in_json)) << json.out;
    EXPECT_FALSE(holds(json.out, sign));
    EXPECT_EQ(json.json().at("runs").items()[0].at("run"), Json(name));
  }
}

}  // namespace
}  // namespace headlab::cli
