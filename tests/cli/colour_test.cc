// Colours: only on a terminal that has them, only around words, and none with NO_COLOR.
#include "app/cli/colour.h"

#include "cli/program.h"

namespace headlab::cli { namespace {

/// The text without escape sequences of colours.
std::string plain(std::string shown) {
  for (std::size_t at; (at = shown.find("\033[")) != shown.npos;) {
    shown.erase(at, shown.find('m', at) - at + 1);
  }
  return shown;
}

TEST(Colour, MarksConclusionsOfATable) {
  const std::string table =
      "relation  head  verdict\n"
      "--------  ----  -----------------\n"
      "back1      0.1  owner\n"
      "sämé       0.2  worse than chance\n"
      "owner      0.3  -\n"
      "back3      0.4  owner (*)\n"
      "\n"
      "owner of nothing\n";
  const std::string shown = coloured(table);
  EXPECT_EQ(plain(shown), table);
  EXPECT_NE(shown.find("0.1  \033[32mowner\033[0m\n"), shown.npos) << shown;
  EXPECT_NE(shown.find("0.2  \033[31mworse than chance\033[0m\n"), shown.npos) << shown;
  EXPECT_NE(shown.find("\nowner      0.3  -\n"), shown.npos) << "only the column of conclusions";
  EXPECT_NE(shown.find("\nowner of nothing\n"), shown.npos) << "only tables";
  EXPECT_NE(shown.find("0.4  \033[32mowner (*)\033[0m\n"), shown.npos) << "one colour, not two";
}

TEST(Colour, MarksGroundTruthAndLabels) {
  EXPECT_EQ(coloured("█■ □"), "█\033[32m■\033[0m \033[31m□\033[0m");
  EXPECT_EQ(coloured("error: no\nhint: yes"), "\033[31merror:\033[0m no\n\033[36mhint:\033[0m yes");
  EXPECT_EQ(coloured("an error: no"), "an error: no");
  EXPECT_EQ(coloured(""), "");
}

class Terminals : public Program {
 protected:
  Outcome failed(const Words& environment, bool terminal = true) const {
    return Process({"eval", "nowhere"},
                   {.folder = folder.path(), .terminal = terminal, .environment = environment})
        .finish();
  }
};

TEST_F(Terminals, HaveColoursUnlessTheUserRefuses) {
  const std::string label = "\033[31merror:\033[0m ";
  EXPECT_TRUE(failed({"TERM=xterm-256color", "NO_COLOR"}).out.starts_with(label));
  EXPECT_TRUE(failed({"TERM=xterm-256color", "NO_COLOR="}).out.starts_with(label));
  EXPECT_TRUE(failed({"TERM=xterm-256color", "NO_COLOR=1"}).out.starts_with("error: "));
  EXPECT_TRUE(failed({"TERM=dumb", "NO_COLOR"}).out.starts_with("error: "));
  EXPECT_TRUE(failed({"TERM=xterm-256color", "NO_COLOR"}, false).err.starts_with("error: "));
}

TEST_F(Terminals, ShowConclusionsInColour) {
  done(tiny({"--out", "a"}));
  const Words words = {"heads", "a", "--examples", "64"};
  const Outcome shown = run(words, {.terminal = true, .environment = {"TERM=xterm", "NO_COLOR"}});
  EXPECT_NE(shown.out.find("\033[2mcommand:\033[0m"), shown.out.npos) << shown.out;
  EXPECT_EQ(done(words).out.find('\033'), std::string::npos) << "not in a pipe";
}

}}  // namespace headlab::cli
