// Parts of a page that the program writes and the page only shows: the cells of results, and the
// conclusions on the families of a sweep. Read next: src/app/report/page_parts.h.
#include "app/report/page_parts.h"

#include <gtest/gtest.h>

#include "headlab/core/base/text.h"

namespace headlab { namespace {

/// Results show the same cells with scripts as on a terminal.
TEST(ShownCells, HoldTheTextTheNumberAndTheInterval) {
  Table table{.name = "rows"};
  table.columns = {kHeadColumn, interval_column("rise", "rise").shown_as(Form::signed_number),
                   Column("mass", "mass").fixed(2).of(CellKind::marked, {"mass", "role"}),
                   Column("redundant", "redundant")};
  table.rows = {{Json::Array{0, 2}, Json::Array{0.5, 0.125, 1.5}, Json::Array{0.125, "also"}, true},
                {Json::Array{1, 0}, Json::Array{0.5, 0.25, 0.75}, Json::Array{0.5, ""}, false},
                {Json::Array{1, 1}, Json(), Json(), Json()}};
  const Json cells = shown_cells(Json::object({{"any", to_json(Result{.tables = {table}})}}));
  const Json::Array& rows = cells.at("any").items()[0].items();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].dump(),
            R"j([["0.2"],["+0.5 (+0.125 to +1.5)",0.5,0.125,1.5],["0.12°",0.125],["*",1]])j");
  EXPECT_EQ(rows[1].dump(), R"([["1.0"],["+0.5 ± 0.25",0.5,0.25,0.75],["0.50",0.5],["",0]])");
  EXPECT_EQ(rows[2].dump(), R"([["1.1"],["-"],["-"],["-"]])");
}

/// Returns a group of two seeds.
SweepGroup group_of(const std::string& name, double loss, const std::string& family) {
  SweepGroup group;
  group.name = name;
  group.family = family;
  group.seeds = {1, 2};
  group.loss.mean = loss;
  return group;
}

/// Returns the conclusion and the reason on each family, and the group that opens it.
std::vector<std::string> concluded(const SweepReport& report) {
  std::vector<std::string> said;
  const Json families = families_facts(report);
  for (const Json& family : families.items()) {
    said.push_back(text(family.at("conclusion").string(), " | ", family.at("reason").string(),
                        " | ", family.at("opening").integer()));
  }
  return said;
}

TEST(SweepPage, ConcludesOnEachFamilyOrOnOtherSettings) {
  using Said = std::vector<std::string>;
  SweepReport report;
  report.groups = {group_of("layers=1", 3, "layers=1"), group_of("layers=2", 1, "layers=2")};
  EXPECT_EQ(concluded(report), Said{"2 groups; layers=2 has the lowest mean loss. |  | 1"});
  report.settings = {
      {.setting = "layers", .family = "all", .conclusion = "2 are better.", .reason = "3 times."},
      {.setting = "norm", .family = "all", .conclusion = "No norm is better.", .reason = "Equal."}};
  EXPECT_EQ(concluded(report), Said{"2 are better. No norm is better. | 3 times. Equal. | 1"});
  report.groups.pop_back();
  report.settings.clear();
  EXPECT_EQ(concluded(report), Said{"One group of 2 seeds. |  | 0"});
  report.groups = {group_of("heads=2", 3, "a"), group_of("heads=4", 1, "a")};
  report.settings = {
      {.setting = "layers", .family = "all", .conclusion = "2 are better.", .reason = "3 times."}};
  report.comparisons = {
      {.family = "a", .one = 0, .best = 1, .conclusion = "4 are enough.", .reason = "Fewer lose."}};
  EXPECT_EQ(concluded(report), Said{"4 are enough. | Fewer lose. | 1"});
  report.comparisons[0].enough = 0;
  report.groups.push_back(group_of("other", 2, "b"));
  EXPECT_EQ(concluded(report),
            (Said{"a: 4 are enough. | Fewer lose. | 0", "b: One group of 2 seeds. |  | 2"}));
}

/// A sweep over 1 and 2 heads with one comparison: more heads do not help, and 1 head is used.
TEST(SweepPage, ShowsConclusionUsedHeadsAndTableWithoutAnyScript) {
  SweepReport report;
  report.groups.resize(2);
  report.groups[0].name = "heads=1";
  report.groups[1].name = "heads=2";
  for (SweepGroup& group : report.groups) group.loss = {.mean = 0.25, .low = 0.125, .high = 0.375};
  report.comparisons = {{.family = "all",
                         .one = 0,
                         .best = 1,
                         .enough = 0,
                         .conclusion = "More heads do not help.",
                         .reason = "The accuracy is equal."}};
  const std::string html = static_html(PageSweep{.facts = result_of(report)});
  EXPECT_NE(html.find("<p id=\"sweep-conclusion\">More heads do not help. The accuracy is equal. "
                      "Used: heads=1. </p>"),
            html.npos)
      << html;
  EXPECT_NE(html.find("<div id=\"sweep-table\"><table><caption>Means over seeds"), html.npos);
  EXPECT_NE(html.find("<tr><th scope=\"row\">heads=1</th>"), html.npos);
  EXPECT_NE(html.find("0.25 ± 0.13"), html.npos) << html;
  report.comparisons[0].enough = {};
  EXPECT_NE(static_html(PageSweep{.facts = result_of(report)}).find("Used: not decided."),
            html.npos);
}

}  // namespace
}  // namespace headlab
