// Analyses of a run that take held-out examples and nothing else. A row is a command, which keeps
// what it found beside the run, as the file `file`; lists, `explain` and the page have it as well.
// Read next: src/lab/heads/causes/analyses.cc, and src/RECIPES.md, which adds one.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/train/run.h"

namespace headlab {

struct Analysis {
  std::string name;     // of the command
  std::string file;     // beside the run
  std::string meaning;  // what it answers, for help and lists
  Index examples;       // that it takes unless it is told otherwise
  Finding (*find)(const Run& run, Index examples);
  Finding (*shape)();  // the finding of an empty report: its tables and their columns
};
const std::vector<Analysis>& analyses();

}  // namespace headlab
