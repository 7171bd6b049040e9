// Table of the analyses that need a run and a number of held-out examples and nothing else. Each
// row is a command, which stores its result as `file` in the run's folder. Lists, `explain` and the
// page read the table. Read next: src/lab/heads/causes/analyses.cc; src/RECIPES.md, which adds a
// row.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

struct Analysis {
  std::string name;     // name of the command
  std::string file;     // file in the run's folder
  std::string meaning;  // the question it answers, for help and lists
  Index examples;       // default number of held-out examples
  Result (*find)(const Run& run, Index examples);
  Result (*shape)();  // result of an empty report: its tables and their columns
  /// A large table that is computed only if --table names it, and that is in no file.
  Table (*find_single)(const Run& run, Index examples) = nullptr;
  Result (*single_shape)() = nullptr;  // that table without rows
  /// The analysis of one prompt; null if it needs held-out examples.
  Result (*of_prompt)(const Run& run, const Batch& prompt, const NamedAnswer& asked) = nullptr;
  bool takes_task = true;  // whether it is defined on another task than the run's own
};
const std::vector<Analysis>& analyses();

}  // namespace headlab
