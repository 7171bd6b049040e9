// Names of tables: a table has the name of a key of its command's JSON only if its rows are there,
// so that a reader of the JSON finds the rows that --table shows. Read next: tables_test.cc.
#include <set>

#include "cli/program.h"
#include "headlab/lab/results/table.h"

namespace headlab::cli { namespace {

/// Commands with tables, on the runs a and b and the sweep s. All other commands have none.
constexpr std::string_view kCommandsWithTables =
    "eval a|eval a --by position|eval a --by answer|heads a --all --examples 16|"
    "heads a b --examples 16|history a|ablate a --examples 30|ablate a --pairs --examples 30|"
    "ablate a --head 0.1,0.2 --examples 30|ablate a --truth-edges --examples 30|rollout a|edges a|"
    "lens a|attribute a --examples 16|patch a --examples 16|circuits a --draws 10|transfer c "
    "--examples 16|"
    "curve a --methods random --examples 16|curve a b --methods random --examples 16|"
    "prune a --keep 2 --method random --out p --force --measure|compare s|"
    "sweep --task relations:length=8 --d-model 16 --batch 8 --steps 30 --warmup 5 "
    "--eval-examples 32 --seeds 2 --heads 2,4 --out s|cost|bench --steps 2|pattern a 0.1|pattern "
    "a|explain five-tokens|"
    "explain five-tokens --query 1|explain attention a|explain mistakes|show relations|list tasks|"
    "list kinds|list scores|list verdicts|list methods|list columns|list files|runs .|"
    "page a --out p.html";

class TableNames : public Program {
 protected:
  Words offered(const std::string& line) const {
    Words words;
    const std::string out = done({"completion", "words", line}).out;
    for (const std::string_view word : split(out, '\n')) {
      if (!word.empty()) words.emplace_back(word);
    }
    return words;
  }

  /// Returns the names for --table; those in the JSON too, which may be parts of a name.
  std::set<std::string> names_of(const std::string& line, const Json& all) const {
    const Words listed = offered("headlab " + line.substr(0, line.find(' ')) + " a --table ");
    std::set<std::string> names(listed.begin(), listed.end());
    if (const Json* tables = all.find("tables")) {
      for (const Json& table : tables->items()) names.insert(table.at("name").string());
    }
    names.erase("");
    return names;
  }

  /// Returns whether the JSON has a value at this path of names and indices.
  static bool has(const Json& all, const std::string& path) {
    const Json* at = &all;
    for (const std::string_view part : split(path, '.')) {
      const bool is_index = at->is_array() && part.find_first_not_of("0123456789") == part.npos;
      const std::size_t index = is_index ? std::stoul(std::string(part)) : 0;
      const Json* next = at->is_object() ? at->find(part) : nullptr;
      if (is_index && index < at->items().size()) next = &at->items()[index];
      if (next == nullptr) return false;
      at = next;
    }
    return true;
  }

  /// Expects that, if the JSON has the name as a key, the rows of the table are there: those with
  /// the same first cells, because times in others are measured again.
  void check(const std::string& line, const Json& all, const std::string& name) {
    const Outcome asked = run(with(typed(line), {"--json", "--quiet", "--table", name}));
    if (asked.status != 0) return;  // a result of this kind does not have the table
    const Table table = result_of(asked.json()).tables.at(0);
    compared_.insert(name);
    if (!has(all, name)) return;
    try {
      const Table there = table_of(all, table);
      const std::string& key = table.columns[0].key;
      EXPECT_EQ(Json(there.cells(key)), Json(table.cells(key))) << line << ": " << name;
    } catch (const std::exception& error) {
      ADD_FAILURE() << line << ": the key " << name << " is no table: " << error.what();
    }
  }

  std::set<std::string> compared_;
};

TEST_F(TableNames, AreKeysOfTheJsonOnlyIfTheRowsAreThere) {
  done(tiny({"--out", "a", "--track-heads", "10"}));
  done(tiny({"--out", "b", "--seed", "1"}));
  done(typed("train --from a --steps 1 --out c"));
  Words grid = tiny({"--heads", "2,4", "--seeds", "2", "--out", "s"});
  grid[0] = "sweep";
  done(grid);
  std::set<std::string> walked;
  for (const std::string_view command : split(kCommandsWithTables, '|')) {
    const std::string line(command);
    const Json all = done(with(typed(line), {"--json", "--quiet"})).json();
    walked.insert(line.substr(0, line.find(' ')));
    for (const std::string& name : names_of(line, all)) check(line, all, name);
  }
  for (const std::string& command : offered("headlab ")) {
    const bool has_tables = !offered("headlab " + command + " --table").empty();
    EXPECT_TRUE(!has_tables || walked.contains(command)) << command << " is not walked";
  }
  for (const char* name : {"attention_weights", "attention_weights.0.3", "single_targets",
                           "single_examples", "average_weights", "losses", "verdicts"}) {
    EXPECT_TRUE(compared_.contains(name)) << name;
  }
}

TEST_F(TableNames, WeightsOfPatternsAreReadBackFromJson) {
  done(tiny({"--out", "a"}));
  const Json one = done(typed("pattern a 0.1 --json")).json();
  const Table table = result_of(Json(one)).table("attention_weights");
  ASSERT_EQ(table.rows.size(), 8u);
  for (std::size_t q = 0; q < table.rows.size(); ++q) {
    for (std::size_t k = 0; k <= q; ++k) {
      const Json& shown = one.at("pattern").items()[q].items()[k];
      EXPECT_EQ(table.rows[q][k + 1], shown) << q << " " << k;
    }
  }
  EXPECT_EQ(one.at("weights").string().size(), 16u) << "the hash of the weights";
}

}}  // namespace headlab::cli
