// Columns and their cells: what a row's members become in a table, and where parts are missing.
#include "headlab/lab/results/fields.h"

#include "support/tensors.h"

namespace headlab { namespace {

struct Extent {
  double low = 0, high = 0;

  double width() const { return high - low; }
};

struct Sample {
  std::string name;
  Mean mean{};
  Interval interval{};
  std::optional<Extent> part{};
  std::optional<double> other{};
};

std::string rows_text(const Table& table) { return Json(table.rows).dump(); }

TEST(Fields, CellIsAMemberOrAFunctionOfTheRow) {
  Fields<Sample> fields;
  fields.add({"name", "name"}, &Sample::name);
  fields.add({"length", "length"}, [](const Sample& row) { return row.name.size(); });
  const std::vector<Sample> rows = {{"a"}, {"bcd"}};
  const Table table = fields.table({.name = "rows", .note = "a note"}, rows);
  EXPECT_EQ(table.name, "rows");
  EXPECT_EQ(table.note, "a note");
  EXPECT_EQ(texts_of(table.columns, &Column::key), (std::vector<std::string>{"name", "length"}));
  EXPECT_EQ(rows_text(table), R"([["a",1],["bcd",3]])");
}

TEST(Fields, IntervalIsThreeNumbersAndAMeanOverNothingIsNull) {
  Fields<Sample> fields;
  fields.add(interval_column("interval", "interval"), &Sample::interval);
  fields.add({"mean", "mean"}, &Sample::mean);
  fields.add({"other", "other"}, &Sample::other);
  const std::vector<Sample> rows = {{"a", Mean(3, 2), {2, 1, 4}, {}, 5.0}, {"b"}};
  EXPECT_EQ(rows_text(fields.table({.name = "rows"}, rows)),
            "[[[2,1,4],1.5,5],[[null,null,null],null,null]]");
}

TEST(Fields, PartAddsItsColumnsInOrderAndIsNullWhereItIsMissing) {
  Fields<Extent> part;
  part.add({"part.low", "low"}, &Extent::low);
  part.add({"part.width", "width"}, &Extent::width);
  Fields<Sample> fields;
  fields.add({"name", "name"}, &Sample::name);
  fields.add_part(part, &Sample::part);
  fields.add({"other", "other"}, &Sample::other);
  std::vector<Sample> rows = {{"a"}, {"b"}};
  rows[1].part = Extent{1, 4};
  const Table table = fields.table({.name = "rows"}, rows);
  EXPECT_EQ(texts_of(table.columns, &Column::key),
            (std::vector<std::string>{"name", "part.low", "part.width", "other"}));
  EXPECT_EQ(rows_text(table), R"([["a",null,null,null],["b",1,3,null]])");
  EXPECT_EQ(Json(Result{.tables = {table}}).at("rows").items()[1].at("part").dump(),
            R"({"low":1,"width":3})");
}

TEST(Fields, RowsMayBeIndices) {
  const std::vector<std::string> names = {"a", "b"};
  Fields<std::size_t> fields;
  fields.add({"name", "name"}, [&](std::size_t i) { return names[i]; });
  EXPECT_EQ(rows_text(fields.table({.name = "rows"}, indices(names.size()))), R"([["a"],["b"]])");
  EXPECT_EQ(rows_text(fields.table({.name = "rows"}, indices(0))), "[]");
}

}}  // namespace headlab
