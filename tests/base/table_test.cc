// Results as JSON and back: nested keys, heads, intervals, and what is refused.
#include "headlab/lab/results/table.h"

#include "support/tensors.h"

namespace headlab { namespace {

Result example() {
  return {.about = Json::object({{"examples", 32}}),
          .tables = {{"heads",
                      {kHeadColumn,
                       Column("truth", "change", "nats")
                           .of(CellKind::interval, {"truth.change", "truth.low", "truth.high"})
                           .shown_as(Form::signed_number),
                       element_column("shares", 0, "back1").fixed(2),
                       Column("from", "from").of(CellKind::head)},
                      {{Json::Array{0, 2}, Json::Array{.5, .25, .75}, .125, Json::Array{1, 0}},
                       {Json::Array{1, 0}, nullptr, nullptr, nullptr}},
                      "the heads",
                      "a note"}}};
}

TEST(Result, IsJsonWithNestedKeysAndBack) {
  const Json json = example();
  EXPECT_EQ(json.at("examples"), Json(32));
  EXPECT_EQ(json.at("heads").items()[0].dump(),
            R"({"layer":0,"head":2,"truth":{"change":0.5,"low":0.25,"high":0.75},)"
            R"("shares":[0.125],"from":[1,0]})");
  EXPECT_EQ(json.at("tables").items()[0].at("columns").items()[1].at("meaning"), Json("nats"));
  EXPECT_EQ(Json(result_of(json)), json);
}

TEST(Result, KeepsARowOfItsOwnAmongItsMembers) {
  const Json json = Result{.tables = {{"", {{"loss", "loss"}}, {{.5}}}}};
  EXPECT_EQ(json.at("loss"), Json(.5));
  EXPECT_EQ(result_of(json).tables[0].rows[0][0], Json(.5));
}

TEST(Result, NestsRowsOfTheSameFirstCell) {
  const Table pairs{.name = "pairs",
                    .columns = {{"name", "name"}, {"loss", "loss"}},
                    .rows = {{"a", 1}, {"a", 2}, {"b", 3}},
                    .inner = "of"};
  const Json json = Result{.tables = {pairs}};
  EXPECT_EQ(json.at("pairs").dump(),
            R"([{"name":"a","of":[{"loss":1},{"loss":2}]},{"name":"b","of":[{"loss":3}]}])");
  EXPECT_EQ(Json(result_of(json).tables[0].cells("loss")).dump(), "[1,2,3]");
}

TEST(Result, ReadsWhatHasNoDescriptionByItsColumns) {
  const Json json = Json::parse(R"({"heads": [{"layer": 0, "head": 1}, {"layer": 1, "head": 0}]})");
  const Table table = table_of(json, {"heads", {kHeadColumn, {"loss", "loss"}}});
  EXPECT_EQ(table.cells("head")[1].dump(), "[1,0]");
  EXPECT_TRUE(table.cells("loss")[0].is_null());
}

TEST(Result, RefusesAKeyOfItsFactsThatATableHasToo) {
  Result result = example();
  result.about["heads"] = Json::Array{1, 2};
  expect_error([&] { to_json(result); }, {"table heads", "the key heads"});
  result = {.about = Json::object({{"loss", .25}}), .tables = {{"", {{"loss", "loss"}}, {{.5}}}}};
  expect_error([&] { to_json(result); }, {"the key loss"});
  result.about["loss"] = .5;
  EXPECT_EQ(to_json(result).at("loss"), Json(.5)) << "both say the same";
}

TEST(Result, KeepsTheRowsOfItsFactsIfATableShowsAPartOfThem) {
  const Json rows = Json::Array{Json::object({{"loss", .5}, {"more", 1}})};
  Result result{.about = Json::object({{"points", rows}}),
                .tables = {{.name = "points",
                            .columns = {{"loss", "loss"}},
                            .rows = {{.5}},
                            .rows_in_about = true}}};
  EXPECT_EQ(to_json(result).at("points"), rows);
  result.about = Json::object();
  EXPECT_EQ(to_json(result).at("points").dump(), R"([{"loss":0.5}])") << "no facts have them";
}

TEST(Result, PartWithoutAnyValueIsNull) {
  const Table table{.name = "rows",
                    .columns = {{"best.loss", "loss"}, {"best.at.step", "step"}, {"other.x", "x"}},
                    .rows = {{nullptr, nullptr, nullptr}, {nullptr, 7, 1}},
                    .optional_parts = {"best"}};
  const Json json = Result{.tables = {table}};
  EXPECT_EQ(json.at("rows").dump(),
            R"([{"best":null,"other":{"x":null}},{"best":{"loss":null,"at":{"step":7}},)"
            R"("other":{"x":1}}])");
  EXPECT_EQ(table_of(json, table).rows, table.rows);
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

TEST(Result, RefusesAnotherShape) {
  const Json whole = example();
  for (const auto& [from, to, said] : std::vector<std::array<std::string, 3>>{
           {R"("heads":[)", R"("heads":[7,)", "table heads"},
           {R"("head":0,"truth")", R"("head":{},"truth")", "column head"},
           {R"("shares":[0.125])", R"("shares":["x"],"other":[0.125])", ""},
           {R"("heads":[)", R"("hads":[)", "table heads"},
           {R"("key":"head")", R"("key":7)", "a string"},
           {R"("columns":[)", R"("columns":[null,)", "object"}}) {
    std::string damaged = whole.dump();
    ASSERT_NE(damaged.find(from), damaged.npos) << from;
    damaged.replace(damaged.find(from), from.size(), to);
    if (said.empty())
      EXPECT_EQ(result_of(Json::parse(damaged)).tables[0].rows[0][2], Json("x"));
    else
      expect_error([&] { result_of(Json::parse(damaged)); }, {said});
  }
  expect_error([&] { to_json(Result{.tables = {{"t", {kHeadColumn}, {{}}}}}); }, {"a row has 0"});
}

TEST(Result, RefusesAnotherSchema) {
  Json json = example();
  EXPECT_EQ(json.at("schema"), Json(3));
  for (const Json& other : {Json(1), Json(2), Json(4), Json("3")}) {
    json["schema"] = other;
    expect_error([&] { result_of(json); }, {"another development version", "schema " + other.dump(),
                                            "reads schema 3", "repeat the command that made it"});
  }
  std::erase_if(json.members(), [](const Json::Member& one) { return one.first == "schema"; });
  expect_error([&] { result_of(json); }, {"no schema", "repeat the command that made it"});
}

TEST(Columns, NameTheirCellAndTheirFormInJson) {
  const Json json = Column("p", "p").shown_as(Form::p_value);
  EXPECT_EQ(json.dump(), R"({"key":"p","paths":["p"],"title":"p","meaning":"","cell":"plain",)"
                         R"("form":"p_value","digits":0,"legend":true})");
  for (const auto& [name, wrong] : {std::pair("cell", "box"), {"form", "loud"}}) {
    Json damaged = json;
    damaged[name] = wrong;
    expect_error([&] { column_of(damaged); }, {std::string("unknown ") + name, wrong});
  }
  Json pathless = json;
  pathless["paths"] = Json::array();
  expect_error([&] { column_of(pathless); }, {"column p", "paths"});
}

TEST(Columns, RoundTripThroughJson) {
  const Result found = example();
  for (const Column& column : found.tables[0].columns) {
    EXPECT_EQ(Json(column_of(column)), Json(column)) << column.key;
  }
}

TEST(Table, FindsColumnsByTheirKeys) {
  Table table = example().tables[0];
  EXPECT_EQ(table.index_of("truth"), 1U);
  table.column("truth").form = Form::hidden;
  EXPECT_TRUE(table.columns[1].is_hidden());
  expect_error([&] { table.column("trutz"); }, {"unknown column 'trutz'", "did you mean 'truth'"});
}

TEST(Result, NamesItsTables) {
  Result found = example();
  EXPECT_EQ(&found.table(""), &found.tables[0]);
  found.tables.push_back({"pairs"});
  EXPECT_EQ(&found.table("pairs"), &found.tables[1]);
  expect_error([&] { found.table(""); }, {"several tables"});
  expect_error([&] { found.table("pair"); }, {"did you mean 'pairs'"});
  expect_error([&] { found.tables[0].cells("lift"); }, {"unknown column 'lift'"});
}

}  // namespace
}  // namespace headlab
