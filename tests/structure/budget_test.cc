// The budget: how many lines of code each part of the project holds at most. A limit only falls:
// who cuts lowers it to what is counted then. To raise one is a decision, whose reason stands in
// its row and in the commit. Lines that are blank or only a comment do not count.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "structure/rules.h"

namespace headlab::structure { namespace {

struct Part {
  const char* name;
  std::size_t limit;
  const char* raised = "";  // why, and from what
};

constexpr Part kBudget[] = {
    {"base", 3331,
     "from 2434: findings as tables, which end most writers; checksums of findings and logs; locks "
     "that touch no other file; models from elsewhere in halves and in several files; .npz in and "
     "out; how all work is stopped; rows that a program adds to a table; figures of findings; "
     "structs that name their members"},
    {"kernels", 1683, "from 1636: RMSNorm, gates and rotary positions"},
    {"tensor", 646, "from 610: a backward is all or nothing; inputs of a sum share its gradient"},
    {"ops", 1103, "from 1335: RMSNorm, rotary positions, gated feed-forward networks"},
    {"nn", 419,
     "from 335: tables of the kinds of norms and positions; keys and values that generation keeps"},
    {"model", 1660,
     "from 847: captures and norms that heads/ made again before; blocks, windows; what generation "
     "keeps; the layouts in which others store models, in and out, and arrays; configs that are "
     "compared"},
    {"tasks", 2939,
     "from 2054: files have three parts; sequences from files, arrays and programs; tokens of "
     "other tools; repeated segments; arrays with words and a source; names of relations that "
     "would part those of columns; gaps between sorted symbols"},
    {"train", 1839,
     "from 1407: cells, which any number of processes make side by side; models that come in; "
     "a table of optimizers, to which a program adds; logs that say of which run they are; what "
     "cells take of the memory"},
    {"heads", 4891,
     "from 3922: columns of findings, whose texts left report; circuits of rotary positions, by "
     "distance; how relations are divided; large models; patterns to know as data; divisions over "
     "training, over runs, and at what cost"},
    {"prune", 1745, "from 1742: cells; methods are compared over runs"},
    {"lab", 1698,
     "from 1266: cells; arms are compared; the words of verdicts; a penalty is chosen on one split "
     "and judged on another"},
    {"bench", 828, "what its columns mean, from report; a token after a prefix"},
    {"report", 3353,
     "from 3374: maps of heads at earlier steps, and without scripts; how heads divide a relation, "
     "as bars; lists as tables of their own in CSV; plots as data, which the page draws"},
    {"cli", 3512,
     "from 3572: import, export, completion and the manual; sources, top-p and stops of sample; "
     "heads that are removed by name; flags that bench and start took in silence; in how many runs "
     "heads divide a relation"},
    {"headlab.h", 75},
    {"page .js", 5537,
     "from 5527: axes as the program draws them; maps of earlier steps; figures of findings; bars "
     "on both sides of zero"},
    {"page .css", 189},
    {"page .html", 173, "from 175: what is asked stands there without scripts"},
    {"page .json", 1},
    {"examples", 393, "from 337: one_page, the first file that a student reads"},
    {"tests", 29830,
     "from 26134: cells; all combinations of kinds; models from elsewhere; files and programs as "
     "tasks; what interrupts, and what is damaged; every nested key of what is written; what is "
     "chosen on one split and judged on another; pictures of the page beside the program's; power "
     "on models built by hand; circuits, patching and statistics read independently; the table of "
     "gradient checks, from ops; mutants judged test by test, and what they show"},
    {"CMakeLists.txt", 368, "from 349: parts with other flags; completion and the manual"},
};

constexpr std::size_t kSlack = 40;  // lines below a limit at which it has to be lowered

/// The row that a file counts for; empty for what is no code of the project.
std::string part_of(const std::filesystem::path& path) {
  const std::string text = path.generic_string(), extension = path.extension().string();
  if (text == "CMakeLists.txt") return text;
  if (text == "include/headlab/headlab.h") return "headlab.h";
  const bool cpp = extension == ".h" || extension == ".cc";
  if (text.starts_with("src/report/page/")) return "page " + extension;
  if (text.starts_with("tests/"))
    return cpp || extension == ".js" || extension == ".mjs" || extension == ".py" ||
                   extension == ".sh"
               ? "tests"
               : "";
  return !cpp ? "" : text.starts_with("examples/") ? "examples" : layer_of(text);
}

std::size_t lines_of_code(const std::filesystem::path& path) {
  const bool cpp = path.extension() == ".h" || path.extension() == ".cc";
  const bool hash = !cpp && path.extension() != ".js" && path.extension() != ".css";
  std::size_t count = 0;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    count += first != std::string::npos && line.compare(first, 2, "//") != 0 &&
             !(hash && line[first] == '#');
  }
  return count;
}

std::map<std::string, std::size_t> count_parts() {
  const std::filesystem::path project = HEADLAB_SOURCE_DIR;
  std::map<std::string, std::size_t> counts;
  counts["CMakeLists.txt"] = lines_of_code(project / "CMakeLists.txt");
  for (const char* root : {"src", "include", "examples", "tests"}) {
    if (!std::filesystem::exists(project / root)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(project / root)) {
      const std::string part = part_of(file.path().lexically_relative(project));
      if (file.is_regular_file() && !part.empty()) counts[part] += lines_of_code(file.path());
    }
  }
  return counts;
}

TEST(Budget, OnlyFalls) {
  const auto counts = count_parts();
  for (const auto& [name, limit, raised] : kBudget) {
    const auto found = counts.find(name);
    if (found == counts.end()) continue;
    const std::size_t lines = found->second;
    EXPECT_LE(lines, limit) << name << " holds more lines of code than it may: make room";
    EXPECT_GE(lines + kSlack, limit)
        << name << " has become smaller: lower its limit in tests/structure/budget_test.cc to "
        << lines;
  }
}

TEST(Budget, NamesEveryPart) {
  for (const auto& one : count_parts())
    EXPECT_TRUE(std::ranges::count(kBudget, one.first, &Part::name))
        << one.first << " (" << one.second << " lines) has no limit";
}

}  // namespace
}  // namespace headlab::structure
