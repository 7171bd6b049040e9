// Parts of a page that the program writes and the page only shows: the cells of results, and the
// conclusions on the families of a sweep. Read next: src/app/report/page_parts.h.
#include "app/report/page_parts.h"

#include <gtest/gtest.h>

#include <map>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"

namespace headlab { namespace {

/// Results show the same cells with scripts as on a terminal.
TEST(ShownTables, HoldTheTextTheNumberAndTheInterval) {
  Table table{.name = "rows"};
  table.columns = {kHeadColumn, interval_column("rise", "rise").shown_as(Form::signed_number),
                   Column("mass", "mass").fixed(2).of(CellKind::marked, {"mass", "role"}),
                   Column("redundant", "redundant")};
  table.rows = {{Json::Array{0, 2}, Json::Array{0.5, 0.125, 1.5}, Json::Array{0.125, "also"}, true},
                {Json::Array{1, 0}, Json::Array{0.5, 0.25, 0.75}, Json::Array{0.5, ""}, false},
                {Json::Array{1, 1}, Json(), Json(), Json()}};
  const Json reports = Json::object({{"any", to_json(Result{.tables = {table}})}});
  const Json tables = shown_tables(reports, *make_task("relations"));
  const Json::Array& rows = tables.at("any").items()[0].at("rows").items();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].dump(),
            R"j([["0.2"],["+0.5 (+0.125 to +1.5)",0.5,0.125,1.5],["0.12°",0.125],["*",1]])j");
  EXPECT_EQ(rows[1].dump(), R"([["1.0"],["+0.5 ± 0.25",0.5,0.25,0.75],["0.50",0.5],["",0]])");
  EXPECT_EQ(rows[2].dump(), R"([["1.1"],["-"],["-"],["-"]])");
}

TEST(ShownTables, NameRelationsAndTargetsForAReader) {
  Table table{.name = "relations", .title = "same"};
  table.columns = {Column("name", "relation"), Column("scores.back1.mass", "back1 mass"),
                   Column("owned.relations", "owned"), Column("logits", "back3"),
                   Column("verdict", "verdict")};
  table.rows = {{"same", 0.5, "back1, same", 2, "back1"}};
  const Json reports = Json::object({{"any", to_json(Result{.tables = {table}})}});
  const Json tables = shown_tables(reports, *make_task("relations"));
  const Json& shown = tables.at("any").items()[0];
  EXPECT_EQ(shown.at("title").string(), "same class");
  EXPECT_EQ(shown.at("columns").dump(), R"(["relation","1 back mass","owned","3 back","verdict"])");
  EXPECT_EQ(shown.at("rows").dump(),
            R"([[["same class"],["0.5",0.5],["1 back, same class"],["2",2],["back1"]]])");
}

/// Returns the facts of a sweep: a group of models for each number of heads.
Json sweep_of(const std::map<Index, std::vector<double>>& diversities) {
  Json groups = Json::array();
  for (const auto& [heads, seeds] : diversities) {
    const double mean = seeds[0];
    groups.push_back(Json::object(
        {{"name", text("heads=", heads)},
         {"model", Json::object({{"heads", heads}})},
         {"diversities", seeds},
         {"diversity",
          Json::object({{"mean", mean}, {"low", mean - 0.05}, {"high", mean + 0.05}})}}));
  }
  return Json::object({{"groups", groups}});
}

TEST(Diversity, HasIntervalsOverTheSeedsOfASweep) {
  Json sweep = sweep_of({{4, {0.3, 0.33, 0.27}}, {2, {0.1, 0.12, 0.08}}});
  for (const char* heads : {"2+1", ""}) {  // layers that differ, and no layers
    sweep["groups"].push_back(Json::object({{"name", "other"},
                                            {"model", Json::object({{"heads", heads}})},
                                            {"diversities", Json::array()},
                                            {"diversity", Json::object({{"mean", 0.9}})}}));
  }
  const Json drawn = diversity_facts(Json::object({{"sweep", sweep}, {"runs", Json::array()}}));
  EXPECT_EQ(drawn.at("sentence").string(),
            "Diversity for each number of heads: 2: 0.100 (0.050 to 0.150), 4: 0.300 (0.250 to "
            "0.350) (95 % intervals over 3 seeds, Student’s t); largest with 4.");
  const Json& plot = drawn.at("plots").items()[0];
  EXPECT_EQ(plot.at("series").items()[0].at("points").dump(),
            "[[2,0.1,0.05,0.15000000000000002],[4,0.3,0.25,0.35]]");
  EXPECT_EQ(plot.at("series").items()[1].at("points").items().size(), 6u) << "a dot for each seed";
}

TEST(Diversity, ComparesScoredRunsOfSeveralHeads) {
  const auto run = [](const Json& distances) {
    const Json heads = Json::object({{"distances", distances}});
    return Json::object({{"reports", Json::object({{"heads", heads}})}});
  };
  const auto row = [](double a, double b, double c) { return Json(Json::Array{a, b, c}); };
  const Json three = Json::Array{row(0, 0.2, 0.4), row(0.2, 0, 0.3), row(0.4, 0.3, 0)};
  const Json one = Json::Array{Json::Array{0}};
  const Json unscored = Json::object({{"reports", Json::object({})}});
  const auto facts = [](Json::Array runs) { return Json::object({{"runs", std::move(runs)}}); };
  EXPECT_TRUE(diversity_facts(facts({run(one), unscored})).is_null());
  EXPECT_EQ(diversity_facts(facts({run(three), run(one), unscored})).at("sentence").string(),
            "Diversity for each number of heads: 3: 0.300 (one model each, so there is no "
            "interval: a sweep has several seeds); largest with 3.");
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
