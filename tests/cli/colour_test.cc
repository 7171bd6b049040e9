// Colours: only on a terminal that has them, only around words, and none with NO_COLOR.
#include "app/cli/colour.h"

#include "cli/program.h"
#include "headlab/app/report/result_text.h"
#include "headlab/lab/results/fields.h"

namespace headlab::cli { namespace {

/// The text without escape sequences of colours.
std::string plain(std::string shown) {
  for (std::size_t at; (at = shown.find("\033[")) != shown.npos;) {
    shown.erase(at, shown.find('m', at) - at + 1);
  }
  return shown;
}

/// A row of a table with a name in an ordinary column and a conclusion.
struct Row {
  std::string name;
  Toned conclusion;
};

Table table_of(const std::vector<Row>& rows) {
  Fields<Row> fields;
  fields.add({"name", "relation"}, &Row::name);
  fields.add({"conclusion", "conclusion"}, &Row::conclusion);
  return fields.table({"rows"}, rows);
}

TEST(Colour, FollowsTheToneOfACellAndNotItsWords) {
  const Table table = table_of({{"back1", {"any words", Tone::good}},
                                {"sämé", {"more words", Tone::bad}},
                                {"owner", {"owner", Tone::none}},
                                {"no head", {"■ (*)", Tone::open}}});
  const std::string shown = coloured(toned_text_of(table));
  EXPECT_EQ(shown,
            "relation  conclusion\n"
            "--------  ----------\n"
            "back1     \033[32many words\033[0m\n"
            "sämé      \033[31mmore words\033[0m\n"
            "owner     owner\n"
            "no head   \033[33m■ (*)\033[0m\n");
  EXPECT_EQ(plain(shown), text_of(table));
}

TEST(Colour, CoversEveryLineOfAFoldedCell) {
  const Table table = table_of({{"a", {"a conclusion of more words than a line", Tone::bad}}});
  const TonedText text = toned_text_of(Result{.tables = {table}}, {.width = 30});
  const std::string shown = coloured(text);
  EXPECT_NE(shown.find("\033[31ma conclusion of more\033[0m\n"), shown.npos) << shown;
  EXPECT_NE(shown.find("  \033[31mwords than a line\033[0m\n"), shown.npos) << shown;
  EXPECT_EQ(plain(shown), text.words());
}

TEST(Colour, KeepsTheToneOfARowThatIsSorted) {
  Table table = table_of({{"a", {"1", Tone::good}}, {"b", {"2", Tone::bad}}});
  std::ranges::reverse(table.rows);
  const std::string shown = coloured(toned_text_of(table));
  EXPECT_NE(shown.find("b         \033[31m2"), shown.npos) << shown;
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
  EXPECT_NE(shown.out.find("  \033[31m"), shown.out.npos) << "no head, or worse: " << shown.out;
  EXPECT_EQ(done(words).out.find('\033'), std::string::npos) << "not in a pipe";
}

}}  // namespace headlab::cli
