// The tasks over which tests walk.
#pragma once

#include <string_view>
#include <vector>

#include "headlab/tasks/table.h"

namespace headlab {

/// The tasks that can be made without parameters: all but the one that needs a program.
inline std::vector<TaskEntry> complete_tasks() {
  std::vector<TaskEntry> all(task_table().begin(), task_table().end());
  std::erase_if(all,
                [](const TaskEntry& entry) { return std::string_view(entry.name) == "command"; });
  return all;
}

}  // namespace headlab
