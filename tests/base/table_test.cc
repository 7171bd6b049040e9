// Findings as JSON and back: nested keys, heads, intervals, and what is refused.
#include "headlab/base/table.h"

#include "support/tensors.h"

namespace headlab { namespace {

Finding example() {
  return {.about = Json::object({{"examples", 32}}),
          .tables = {{"heads",
                      {kHeadColumn,
                       {"gold.change,low,high", "change", "nats", kSigned},
                       {"shares.0", "back1", "", 2},
                       {"from", "from", "", kPlain, "head"}},
                      {{Json::Array{0, 2}, Json::Array{.5, .25, .75}, .125, Json::Array{1, 0}},
                       {Json::Array{1, 0}, nullptr, nullptr, nullptr}},
                      "the heads",
                      "a note"}}};
}

TEST(Finding, IsJsonWithNestedKeysAndBack) {
  const Json json = example();
  EXPECT_EQ(json.at("examples"), Json(32));
  EXPECT_EQ(json.at("heads").items()[0].dump(),
            R"({"layer":0,"head":2,"gold":{"change":0.5,"low":0.25,"high":0.75},)"
            R"("shares":[0.125],"from":[1,0]})");
  EXPECT_EQ(json.at("tables").items()[0].at("columns").items()[1].at("meaning"), Json("nats"));
  EXPECT_EQ(Json(finding_of(json)), json);
}

TEST(Finding, KeepsARowOfItsOwnAmongItsMembers) {
  const Json json = Finding{.tables = {{"", {{"loss", "loss"}}, {{.5}}}}};
  EXPECT_EQ(json.at("loss"), Json(.5));
  EXPECT_EQ(finding_of(json).tables[0].rows[0][0], Json(.5));
}

TEST(Finding, NestsRowsOfTheSameFirstCell) {
  const Table pairs{.name = "pairs",
                    .columns = {{"name", "name"}, {"loss", "loss"}},
                    .rows = {{"a", 1}, {"a", 2}, {"b", 3}},
                    .inner = "of"};
  const Json json = Finding{.tables = {pairs}};
  EXPECT_EQ(json.at("pairs").dump(),
            R"([{"name":"a","of":[{"loss":1},{"loss":2}]},{"name":"b","of":[{"loss":3}]}])");
  EXPECT_EQ(Json(finding_of(json).tables[0].cells("loss")).dump(), "[1,2,3]");
}

TEST(Finding, ReadsWhatHasNoDescriptionByItsColumns) {
  const Json json = Json::parse(R"({"heads": [{"layer": 0, "head": 1}, {"layer": 1, "head": 0}]})");
  const Table table = table_of(json, {"heads", {kHeadColumn, {"loss", "loss"}}});
  EXPECT_EQ(table.cells("layer,head")[1].dump(), "[1,0]");
  EXPECT_TRUE(table.cells("loss")[0].is_null());
}

TEST(GridTable, HasNumbersInTheirOrderAndNamesInThatOfTheRows) {
  const Table table{"t",
                    {{"method", "method"}, {"kept", "heads"}, {"loss", "loss"}},
                    {{"greedy", 4, .4}, {"greedy", 2, .2}, {"all", 3, .3}, {"all", 1, nullptr}}};
  const Table sizes = grid_table(table, {"", "method", "kept", "loss"});
  EXPECT_EQ(texts_of(sizes.columns, &Column::title),
            (std::vector<std::string>{"heads", "2", "3", "4"}));
  EXPECT_EQ(Json(sizes.rows[0]).dump(), R"(["greedy",0.2,null,0.4])");
  const Table methods = grid_table(table, {"", "kept", "method", "loss"});
  EXPECT_EQ(methods.columns[1].title, "greedy");
}

TEST(Finding, RefusesAnotherShape) {
  const Json whole = example();
  for (const auto& [from, to, said] : std::vector<std::array<std::string, 3>>{
           {R"("heads":[)", R"("heads":[7,)", "table heads"},
           {R"("head":0,"gold")", R"("head":{},"gold")", "column layer,head"},
           {R"("shares":[0.125])", R"("shares":["x"],"other":[0.125])", ""},
           {R"("heads":[)", R"("hads":[)", "table heads"},
           {R"("key":"layer,head")", R"("key":7)", "a string"},
           {R"("columns":[)", R"("columns":[null,)", "object"}}) {
    std::string damaged = whole.dump();
    ASSERT_NE(damaged.find(from), damaged.npos) << from;
    damaged.replace(damaged.find(from), from.size(), to);
    if (said.empty())
      EXPECT_EQ(finding_of(Json::parse(damaged)).tables[0].rows[0][2], Json("x"));
    else
      expect_error([&] { finding_of(Json::parse(damaged)); }, {said});
  }
  expect_error([&] { to_json(Finding{.tables = {{"t", {kHeadColumn}, {{}}}}}); }, {"row of 0"});
}

TEST(Finding, IsReadFromOlderVersionsAndNotFromLaterOnes) {
  Json json = example();
  EXPECT_EQ(json.at("schema"), Json(kSchema));
  std::erase_if(json.members(), [](const Json::Member& one) { return one.first == "schema"; });
  EXPECT_EQ(finding_of(json).tables[0].rows.size(), 2u) << "of a version before there were schemas";
  json["schema"] = kSchema + 1;
  expect_error([&] { finding_of(json); }, {"later version", "schema 2"});
}

TEST(Finding, NamesItsTables) {
  Finding found = example();
  EXPECT_EQ(&found.table(""), &found.tables[0]);
  found.tables.push_back({"pairs"});
  EXPECT_EQ(&found.table("pairs"), &found.tables[1]);
  expect_error([&] { found.table(""); }, {"several tables"});
  expect_error([&] { found.table("pair"); }, {"did you mean 'pairs'"});
  expect_error([&] { found.tables[0].cells("lift"); }, {"unknown column 'lift'"});
}

}  // namespace
}  // namespace headlab
