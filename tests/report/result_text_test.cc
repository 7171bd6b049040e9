// Results as text, CSV and LaTeX, letter by letter.
#include "headlab/app/report/result_text.h"

#include <algorithm>
#include <set>

#include "app/report/results.h"
#include "headlab/app/report/page.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"
#include "support/columns_text.h"
#include "support/golden_text.h"
#include "support/tensors.h"

namespace headlab { namespace {

Table example() {
  return {"heads",
          {kHeadColumn,
           Column("change", "change", "nats")
               .of(CellKind::interval, {"change", "low", "high"})
               .shown_as(Form::signed_number),
           Column("share", "share").percent(1),
           Column("kept", "kept").of(CellKind::heads),
           {"sure", "p < .01"},
           Column("count", "count").shown_as(Form::grouped),
           {"word", "word"}},
          {{Json::Array{0, 2}, Json::Array{.5, .25, .75}, .125,
            Json::Array{Json::Array{0, 1}, Json::Array{1, 0}}, true, 12345, "=1+1"},
           {Json::Array{1, 0}, Json::Array{1. / 3, 0, .5}, nullptr, Json::Array{}, false, 7,
            "a, \"b\""}}};
}

TEST(Results, HaveTheColumnsOfTheGoldenFile) {
  std::string columns;
  for (const ResultEntry& entry : result_table()) {
    if (entry.shape != nullptr) {
      columns += columns_text(entry.shape());
    }
  }
  expect_golden("report/columns.txt", columns);
}

TEST(Results, TablesOfOneFileHaveTitlesOfTheirOwn) {
  for (const ResultEntry& entry : result_table()) {
    if (entry.shape == nullptr || entry.file.empty()) continue;
    std::set<std::string> titles;
    for (const Table& table : entry.shape().tables) {
      const std::string title = table.title.empty() ? table.name : table.title;
      EXPECT_TRUE(titles.insert(title).second) << entry.file << ": " << title;
    }
  }
}

TEST(Results, NameTheTablesOfTheirCommand) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(tables_of("ablate"),
            (Names{"heads", "set", "pairs", "relations", "against", "single_against"}));
  EXPECT_EQ(tables_of("attribute"), (Names{"parts", "single_examples"})) << "one is in no file";
  EXPECT_EQ(tables_of("eval"), (Names{"targets", "positions", "answers", "single_targets",
                                      "against", "single_against"}));
  EXPECT_EQ(tables_of("train"), Names());
}

TEST(Results, NestKeysOfRowsInTheirTable) {
  const auto entry = std::ranges::find(result_table(), "heads.json", &ResultEntry::file);
  const std::string keys = " " + keys_of(*entry);
  for (const char* part : {" heads(layer head", " scores.RELATION.mass_all", " untested",
                           " divisions(relation heads by", " kinds(name explained p)"}) {
    EXPECT_NE(keys.find(part), keys.npos) << part << " in" << keys;
  }
}

TEST(ResultText, ShowsEachCellByItsColumn) {
  EXPECT_EQ(text_of(example(), 100),
            "head  change                share  kept     p < .01   count  word\n"
            "----  --------------------  -----  -------  -------  ------  ------\n"
            " 0.2  +0.5 ± 0.25           12.5%  0.1 1.0  *        12,345  =1+1\n"
            " 1.0  +0.3333 (+0 to +0.5)      -  -                      7  a, \"b\"\n");
}

/// 0.009975 is 4 / 401, the smallest p of four relations and 400 permutations.
TEST(ResultText, ShowsThePAtItsFloorAsABoundAndItsNumberInCsv) {
  Table table{"t",
              {{"name", "name"}, Column("p", "p").shown_as(Form::p_value)},
              {{"floor", 4.0 / 401}, {"other", 4.0 / 402}, {"large", .25}, {"tiny", 1e-7}}};
  table.columns[1].floors = {4.0 / 401, .25};
  const Json json = to_json(Result{.tables = {table}});
  for (const Table& one : {table, result_of(Json(json)).table("t")}) {
    EXPECT_EQ(text_of(one, 80),
              "name         p\n-----  -------\nfloor   < 0.01\nother  0.00995\n"
              "large     0.25\ntiny    < 1e-6\n");
    EXPECT_TRUE(csv_of(one).starts_with("name,p\nfloor,0.00997506")) << csv_of(one);
  }
  EXPECT_EQ(json.at("t").items()[0].at("p"), Json(4.0 / 401));
}

TEST(ResultText, WideTablesAreSplitIntoBlocks) {
  const std::string shown = text_of(example(), 40);
  EXPECT_TRUE(shown.starts_with("head  change                share\n")) << shown;
  EXPECT_NE(shown.find("\nhead  kept     .01   count  word\n"), shown.npos) << shown;
  Table words{"words",
              {{"name", "name"}, {"meaning", "meaning"}},
              {{"lift", "one two three four"}}};
  EXPECT_EQ(text_of(words, 18),
            "name  meaning\n----  --------------------\nlift  one two three four\n");
  words.rows[0][1] = "one two three four five";
  EXPECT_EQ(text_of(words, 26),
            "name  meaning\n----  --------------------\nlift  one two three four\n      five\n");
}

/// Rows of pairs are named by two columns, and each block repeats both.
TEST(ResultText, RepeatsAllColumnsThatNameARowInEachBlock) {
  const Json::Array head = {0, 0}, other = {0, 2}, third = {1, 1};
  const Table pairs{"pairs",
                    {Column("first", "first").of(CellKind::head),
                     Column("second", "second").of(CellKind::head),
                     Column("joint", "both together").fixed(4),
                     Column("sum", "each by itself").fixed(4),
                     {"verdict", "verdict"}},
                    {{head, other, .25, .125, "redundant"}, {head, third, .5, .25, ""}}};
  EXPECT_EQ(text_of(pairs, 26),
            "                   both\n"
            "first  second  together\n"
            "-----  ------  --------\n"
            "  0.0     0.2    0.2500\n"
            "  0.0     1.1    0.5000\n"
            "\n"
            "                 each\n"
            "                   by\n"
            "first  second  itself\n"
            "-----  ------  ------\n"
            "  0.0     0.2  0.1250\n"
            "  0.0     1.1  0.2500\n"
            "\n"
            "first  second  verdict\n"
            "-----  ------  ---------\n"
            "  0.0     0.2  redundant\n"
            "  0.0     1.1\n");
}

TEST(ResultText, RepeatsNoColumnOfMeasuredNumbers) {
  const Table table{"t",
                    {{"name", "name"},
                     Column("x", "first number").fixed(4),
                     Column("y", "second number").fixed(4)},
                    {{"same", .5, 1.5}, {"same", .25, 2.5}}};
  EXPECT_NE(text_of(table, 16).find("\n      second\nname  number\n"), std::string::npos);
}

TEST(ResultText, FoldsTitlesBeforeItBreaksATable) {
  const Table table{"t",
                    {{"a", "one long title"}, {"b", "another title"}, {"c", "third"}},
                    {{1, 22, "x"}}};
  EXPECT_EQ(text_of(table, 40), text_of(table, 80)) << "it fits";
  EXPECT_EQ(text_of(table, 24),
            "  one\n"
            " long  another\n"
            "title    title  third\n"
            "-----  -------  -----\n"
            "    1       22  x\n");
}

TEST(ResultText, ShowsMarksLinesAndListsOfWords) {
  using Row = Json::Array;
  const Table table{"t",
                    {Column("lift", "lift").of(CellKind::marked, {"lift", "owns"}).fixed(2),
                     Column("lifts", "over training").of(CellKind::sparkline),
                     {"labels", "labels"},
                     {"never", "never", "this is not shown"}},
                    {{Row{.97, true}, Row{0, .5, 1}, Row{"a", "b"}, nullptr},
                     {Row{.5, false}, Row{-3, nullptr, 7}, Row{}, nullptr}}};
  EXPECT_EQ(text_of(table),
            " lift  over training  labels\n"
            "-----  -------------  ------\n"
            "0.97*  ▁▅█            a, b\n"
            "0.50   ▁ █            -\n");
  EXPECT_EQ(csv_of(table), "lift,owns,never\n0.97,true,\n0.5,false,\n");
  const std::vector<Table> lists = with_lists({table});
  ASSERT_EQ(lists.size(), 3u);
  EXPECT_EQ(csv_of(lists[1]),
            "lift,owns,lifts,never\n0.97,true,0,\n0.97,true,0.5,\n0.97,true,1,\n0.5,false,-3,\n"
            "0.5,false,,\n0.5,false,7,\n");
  EXPECT_EQ(lists[2].name, "t.labels");
  EXPECT_EQ(csv_of(lists[2]), "lift,owns,labels,never\n0.97,true,a,\n0.97,true,b,\n");
  Table many{"t", {Column("x", "x").of(CellKind::sparkline)}, {Row(1, Row(1000, .5))}};
  many.rows[0][0].items().front() = 0, many.rows[0][0].items().back() = 1;
  const std::string line = text_of(many).substr(text_of(many).find("▁"));
  EXPECT_EQ(display_width(line), 41u) << "40 blocks and a newline";
  EXPECT_TRUE(line.ends_with("█\n")) << line;
}

TEST(ResultText, ExplainsColumns) {
  Result found{.tables = {example()},
               .figures = {{"map", "a map", {{1, .5}, {0}}}, {"no", "no map", {{0}}}}};
  found.tables[0].title = "the heads";
  found.tables[0].note = "a note";
  const std::string shown = text_of(found);
  EXPECT_TRUE(shown.starts_with("the heads\n\nhead  change")) << shown;
  EXPECT_NE(shown.find("\n\nchange: nats\na note\n\na map; 1.00 is 1\n\n"), shown.npos) << shown;
  EXPECT_EQ(shown.find("no map"), shown.npos) << shown;
}

TEST(ResultText, ShowsTheRowsThatStandOut) {
  Table table{"t", {{"n", "n"}}, {{1}, {-3}, {nullptr}, {2}}};
  table.most = 2;
  table.by = "n";
  EXPECT_EQ(text_of(table), " n\n--\n-3\n 2\n");
}

TEST(ResultText, IsTidyAsCsvWhereWordsStayAsTheyAre) {
  EXPECT_EQ(csv_of(example()),
            "layer,head,change,change_low,change_high,share,sure,count,word\n"
            "0,2,0.5,0.25,0.75,0.125,true,12345,=1+1\n"
            "1,0,0.3333333333333333,0,0.5,,false,7,\"a, \"\"b\"\"\"\n");
  const std::string kept = csv_of(with_lists({example()}).at(1));
  EXPECT_NE(kept.find(",share,kept_layer,kept_head,sure,"), kept.npos) << kept;
  EXPECT_NE(kept.find("\n0,2,0.5,0.25,0.75,0.125,1,0,true,"), kept.npos) << kept;
  const Table means{
      "t",
      {Column("loss", "loss").of(CellKind::half_width, {"loss.mean", "loss.half_width"}),
       element_column("shares", 0, "back1"),
       element_column("shares", 1, "two words"),
       Column("from", "from").of(CellKind::head),
       Column("best", "best").of(CellKind::head, {"best.layer", "best.head"}),
       {"best.top1", "top1"}},
      {{Json::Array{2, .5}, .1, .2, Json::Array{0, 10}, Json::Array{1, 2}, .5},
       {Json::Array{2, nullptr}, nullptr, nullptr, nullptr, nullptr, nullptr}}};
  EXPECT_EQ(csv_of(means),
            "loss,loss_low,loss_high,back1,two_words,from_layer,from_head,best_layer,best_head,"
            "best_top1\n2,1.5,2.5,0.1,0.2,0,10,1,2,0.5\n2,,,,,,,,,\n");
}

TEST(ResultText, IsATabularForLatex) {
  const std::string latex = latex_of(example());
  EXPECT_TRUE(latex.starts_with("\\begin{tabular}{lrrllrl}\n\\toprule\nhead & change")) << latex;
  EXPECT_NE(latex.find("0.2 & +0.5 $\\pm$ 0.25 & 12.5\\% &"), latex.npos) << latex;
}

TEST(ResultText, WordsAreNeverNumbersInLatex) {
  const Table table{"t",
                    {{"word", "1e5"}, {"words", "words"}, {"x", "x"}},
                    {{"1e5", Json::Array{"-1", "2e9"}, 1e-6},
                     {"7e99999999999", Json::Array{"-"}, -2},
                     {"-", Json::Array{"007"}, nullptr}}};
  EXPECT_EQ(latex_of(table),
            "\\begin{tabular}{llr}\n"
            "\\toprule\n"
            "1e5 & words & x \\\\\n"
            "\\midrule\n"
            "1e5 & -1, 2e9 & $1\\times10^{-6}$ \\\\\n"
            "7e99999999999 & - & $-2$ \\\\\n"
            "- & 007 & -- \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n");
}

TEST(ResultText, EscapesLatexCommands) {
  const Table table{"t",
                    {{"word", "a<b|c>d"},
                     Column("p", "p").shown_as(Form::p_value),
                     Column("change", "x_1").of(CellKind::interval, {"change", "low", "high"})},
                    {{"<s> u|v \"z\" #1 50% $x_{i}^2$ ~ \\n & a--b -0.5", 0.0,
                      Json::Array{-.5, -1, 0}},
                     {"[a]", 0.25, Json::Array{-2e-7, -3e-7, 2e-7}},
                     {"back-3", nullptr, Json::Array{.5, .25, .75}}}};
  EXPECT_EQ(latex_of(table),
            "\\begin{tabular}{lrr}\n"
            "\\toprule\n"
            "a\\textless{}b\\textbar{}c\\textgreater{}d & p & x\\_1 \\\\\n"
            "\\midrule\n"
            "\\textless{}s\\textgreater{} u\\textbar{}v \\symbol{34}z\\symbol{34} \\#1 50\\% "
            "\\$x\\_\\{i\\}\\^{}2\\$ \\~{} \\textbackslash{}n \\& a-{}-b -0.5 & "
            "\\textless{} $1\\times10^{-6}$ & $-0.5$ $\\pm$ 0.5 \\\\\n"
            "{}[a] & 0.25 & $-2\\times10^{-7}$ ($-3\\times10^{-7}$ to $2\\times10^{-7}$) \\\\\n"
            "back-3 & -- & 0.5 $\\pm$ 0.25 \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n");
}

}  // namespace
}  // namespace headlab
