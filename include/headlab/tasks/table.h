// The table of tasks. Help, defaults, errors, tests and reports read it; a new task is a class and
// a row in src/tasks/table.cc. A task is named by text, "relations:length=16,vocab=16", so that a
// flag, a config file and a report all mean the same. Read next: relations.h, the flagship.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headlab/tasks/task.h"

namespace headlab {

struct TaskEntry {
  const char* name;
  const char* summary;      // one line
  const char* recommended;  // settings of the recommended model and training: "layers=2 heads=1
                            // lr=1e-3 steps=1000"
  std::unique_ptr<Task> (*make)(std::string_view parameters);  // "length=16,vocab=16", or ""
  void (*check)(std::string_view parameters);  // Error if they cannot be; opens no file
  Settings (
      *parameters)();  // names and defaults, for help; only Setting::name, help and get may be used
};

std::span<const TaskEntry> task_table();

/// The entry for "NAME" or "NAME:parameters". Error that lists the known names and the nearest.
const TaskEntry& find_task(std::string_view spec);
/// Error for an unknown name or parameter, or a value out of its range; opens no data file.
void check_task(std::string_view spec);
/// Makes a task from "NAME:a=1,b=2". Errors: unknown name or parameter, impossible values.
std::unique_ptr<Task> make_task(std::string_view spec);

}  // namespace headlab
