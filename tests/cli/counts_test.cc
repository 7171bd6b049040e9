// A mean over nothing is no number: every table of every command that reads a run, on runs where
// something cannot be measured. A column that is a mean names the column with the number of its
// terms (Column::over); where that is 0, the cell must be blank.
// Read next: headlab/core/base/mean.h.
#include <set>

#include "cli/program.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

/// Sequences of seven letters with the relations `before` and `far`, and the targets `copy` and
/// `first`.
struct Held {
  int count = 20;
  bool far = true;    // whether a query has the relation `far`
  bool first = true;  // whether a query asks for the target `first`
};

std::string sequences(const Held& held) {
  constexpr int kLength = 7;
  const std::string letters = "abcdefg";
  std::string lines = Json::parse(R"({"header": {
      "vocabulary": ["a", "b", "c", "d", "e", "f", "g"], "length": 7,
      "relations": [{"name": "before", "positional": true}, {"name": "far", "positional": true}],
      "targets": ["copy", "first"]}})")
                          .dump() +
                      "\n";
  for (int i = 0; i < held.count; ++i) {
    Json tokens = Json::array();
    Json targets = Json::array();
    Json before = Json::object();
    for (int t = 0; t < kLength; ++t) {
      const auto letter =
          static_cast<std::size_t>(i * 5 + t * (i % 4 + 1) + t * t) % letters.size();
      tokens.push_back(std::string(1, letters[letter]));
      const bool asks_first = held.first && t == kLength - 1;
      targets.push_back(Json::Array{t > 0 ? tokens.items()[t - 1] : Json(),
                                    asks_first ? tokens.items()[0] : Json()});
      if (t > 0) before[std::to_string(t)] = Json::Array{t - 1};
    }
    Json truth = Json::object({{"before", before}});
    if (held.far) truth["far"] = Json::object({{std::to_string(kLength - 1), Json::Array{0}}});
    lines += Json::object({{"tokens", tokens}, {"targets", targets}, {"truth", truth}}).dump();
    lines += "\n";
  }
  return lines;
}

/// Commands on a run, RUN; a refusal with a sentence is no number. The JSON of `curve` describes a
/// table only if --table names it.
constexpr std::string_view kMeasuringCommands =
    "eval RUN|eval RUN --by position|eval RUN --by answer|heads RUN --all --examples 20|"
    "heads RUN --examples 20|history RUN|ablate RUN|ablate RUN --pairs|ablate RUN --truth-edges|"
    "rollout RUN|edges RUN|lens RUN|attribute RUN|patch RUN|circuits RUN|"
    "curve RUN --methods random --table points|curve RUN --methods random --table methods|"
    "curve RUN --methods random,exhaustive --table choices|"
    "curve RUN --methods random --table losses|pattern RUN|pattern RUN 0.0|cost|runs .";

/// A column that a reader takes for a mean or a share, but that names no count, and why it needs
/// none.
struct Countless {
  std::string_view command, column, reason;
};

constexpr Countless kCountless[] = {
    {"circuits", "matches", "over the tokens of the vocabulary, which has one at least"},
    {"circuits", "p_holm", "a share of random matrices, of which ten at least are drawn"},
    {"circuits", "copies", "over the same tokens; null where answers are no tokens"},
    {"cost", "share", "of operations, of which each part of attention has some"},
    {"runs", "accuracy", "copied from the log, which has null over nothing"},
};

class Counts : public Program {
 protected:
  /// Trains the run a on sequences of which these are held out, and returns its folder's name.
  void train(const Held& held, const Words& more) {
    write_file(folder.path() / "train.jsonl", sequences({.count = 60}));
    write_file(folder.path() / "held.jsonl", sequences(held));
    const Words words =
        tiny({"--task", "file:train=train.jsonl,held_out=held.jsonl,test=held.jsonl", "--out", "a",
              "--heads", "2", "--track-heads", "30"});
    done(with(words, more));
  }

  /// Returns the tables of a command; none if it is refused.
  std::vector<Table> tables_of(const std::string& line) {
    std::string words = line;
    if (const auto at = words.find("RUN"); at != words.npos) words.replace(at, 3, "a");
    const Outcome outcome = run(with(typed(words), {"--json", "--quiet"}));
    if (outcome.status != 0) {
      EXPECT_TRUE(outcome.json().find("error") != nullptr) << line;
      return {};
    }
    answered_.insert(line);
    const Json json = outcome.json();
    return json.find("tables") == nullptr ? std::vector<Table>() : result_of(json).tables;
  }

  /// Expects that no mean over nothing is a number; returns how many cells had nothing to average.
  std::size_t check(const std::string& where, const Table& table) {
    std::size_t blank = 0;
    for (const Column& column : table.columns) {
      if (column.over.empty()) continue;
      const std::vector<Json> counts = table.cells(column.over);
      const std::vector<Json> cells = table.cells(column.key);
      for (std::size_t row = 0; row < cells.size(); ++row) {
        const bool measured = counts[row].is_number() && counts[row].number() > 0;
        if (measured) continue;
        ++blank;
        const Json& cell = cells[row];
        const bool is_marked = column.cell == CellKind::marked && cell.is_array();
        EXPECT_TRUE(is_blank(is_marked ? cell.items()[0] : cell))
            << where << ", table '" << table.name << "', column " << column.key << ", row " << row
            << ": " << cell.dump() << " over " << counts[row].dump();
      }
    }
    return blank;
  }

  /// Walks all tables on the run a; returns how many cells had nothing to average.
  std::size_t walk() {
    std::size_t blank = 0;
    for (const std::string_view line : split(kMeasuringCommands, '|')) {
      for (const Table& table : tables_of(std::string(line))) {
        blank += check(std::string(line), table);
        expect_counts(std::string(line), table);
      }
    }
    return blank;
  }

  /// Expects that a column of means names its count, unless it is listed above.
  void expect_counts(const std::string& where, const Table& table) {
    const std::string command = where.substr(0, where.find(' '));
    for (const Column& column : table.columns) {
      const std::string& meaning = column.meaning;
      const bool says_mean = meaning.starts_with("mean ") || meaning.starts_with("share of ");
      if (!column.is_interval() && !says_mean) continue;
      const auto listed = std::ranges::find_if(kCountless, [&](const Countless& one) {
        return one.command == command && one.column == column.key;
      });
      if (listed != std::end(kCountless)) {
        EXPECT_TRUE(column.over.empty()) << where << ": " << column.key << " has a count now";
        countless_.insert(listed->reason);
        continue;
      }
      EXPECT_FALSE(column.over.empty())
          << where << ", table '" << table.name << "', column " << column.key << " has no count";
    }
  }

  std::set<std::string> answered_;        // commands that were not refused
  std::set<std::string_view> countless_;  // reasons of kCountless that were needed
};

TEST_F(Counts, MeansOverNothingAreBlankWithOneHeldOutSequence) {
  train({.count = 1}, {});
  EXPECT_GT(walk(), 0u);
}

TEST_F(Counts, MeansOverNothingAreBlankForARelationWithoutQueries) {
  train({.far = false}, {});
  EXPECT_GT(walk(), 0u);
  for (const std::string_view line : split(kMeasuringCommands, '|')) {
    EXPECT_TRUE(answered_.contains(std::string(line))) << line;
  }
  for (const Countless& one : kCountless) {
    EXPECT_TRUE(countless_.contains(one.reason)) << one.column << " needs no reason";
  }
}

TEST_F(Counts, MeansOverNothingAreBlankForATargetWithoutAnswers) {
  train({.first = false}, {});
  EXPECT_GT(walk(), 0u);
  const std::vector<Json> log = read_log(folder.path() / "a" / "metrics.jsonl");
  const Json& first = log.back().at("targets").items()[1];
  EXPECT_EQ(first.at("count"), Json(0));
  EXPECT_TRUE(first.at("loss").is_null());
  EXPECT_TRUE(first.at("accuracy").is_null());
}

TEST_F(Counts, ReadersOfALogAcceptNumbersThatWereNotMeasured) {
  train({.first = false}, {"--patience", "5", "--eval-every", "10"});
  const fs::path metrics = folder.path() / "a" / "metrics.jsonl";
  std::string lines;
  for (Json line : read_log(metrics)) {
    for (const char* key : {"loss", "accuracy", "train_loss", "train_accuracy"}) {
      if (line.at("step") == Json(20)) line[key] = Json();
    }
    lines += sealed(std::move(line)).dump() + "\n";
  }
  write_file(metrics, lines);
  done({"train", "--resume", "a", "--steps", "40"});
  EXPECT_EQ(std::ssize(read_log(metrics)), 4);
  for (const char* line : {"runs .", "runs . --svg losses.svg", "eval a", "eval a --best",
                           "history a", "page a --out page.html"}) {
    const Outcome outcome = done(typed(line));
    EXPECT_FALSE(holds(outcome.out, "nan")) << outcome.out;
  }
}

TEST_F(Counts, MeansOverNothingAreBlankInAModelWithoutHeads) {
  train({}, {"--layers", "0"});
  walk();
  EXPECT_TRUE(answered_.contains("eval RUN"));
}

}}  // namespace headlab::cli
