// The table of tasks. Help, defaults, errors, tests and reports read it; a new task is a source
// file and its name in src/core/tasks/table.cc. A task is named by text,
// "relations:length=16,vocab=16", so that a flag, a config file and a report all mean the same.
// Read next: definition.h, how a task is written; src/core/tasks/relations.cc, the flagship.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// How many seeds train with the recommended settings; tests/tools/seeds/README.md says which ones
/// were counted.
struct Learned {
  double accuracy = 0;   // the held-out accuracy from which on a seed counts as trained
  int reached = 0;       // seeds that reach it
  int seeds = 0;         // seeds that were tried; 0: not counted
  const char* why = "";  // why less than 99% do, or why nothing is counted; or ""
};

/// null where no accuracy is asked.
Json to_json(const Learned& learned);

struct TaskEntry {
  const char* name = nullptr;
  const char* summary = nullptr;  // one line
  /// Settings of the recommended model and training, "layers=2 heads=1 lr=1e-3 steps=1000"; what
  /// they leave out has its default.
  const char* recommended = nullptr;
  Learned learned = {};
  /// The rest is filled in by task_entry (definition.h). Parameters are "length=16,vocab=16", or
  /// "".
  std::function<std::unique_ptr<Task>(std::string_view parameters)> make = {};
  /// Error for parameters that do not exist or are out of range; opens no file.
  std::function<void(std::string_view parameters)> check = {};
  /// Names, defaults and help; nothing may be set.
  std::function<Settings()> parameters = {};
  /// Recommended settings that depend on the data, on top of `recommended`; unless there is none.
  std::function<std::string(std::string_view parameters)> advice = {};
  /// In lines, how the data of the task are given; "" where it makes them.
  std::string form = {};
};

std::span<const TaskEntry> task_table();
/// The tasks of a program that uses this library, to be filled before the table is first read: they
/// stand after ours wherever tasks are listed or named.
std::vector<TaskEntry>& own_tasks();

/// Tasks of a larger library, listed right after the task named `after`.
struct TasksAfter {
  const char* after = nullptr;
  std::vector<TaskEntry> tasks;
};
using MoreTasks = std::vector<TasksAfter> (*)();
/// The function that returns them, to be set before the table is first read; nullptr if there is
/// none.
MoreTasks& more_tasks();

#ifdef HEADLAB_LAB
/// Sets more_tasks() to the tasks of the laboratory. The macro is defined for every target that
/// links headlab::headlab. Each of its files that includes this header then calls the function
/// before main: the call also makes the linker keep tasks that no other code refers to.
bool add_lab_tasks();
inline const bool lab_tasks_added = add_lab_tasks();
#endif

/// The entry for "NAME" or "NAME:parameters". Error that lists the known names and the nearest.
const TaskEntry& find_task(std::string_view spec);
/// The settings that it recommends, those of its data included, each once.
std::string recommended_settings(std::string_view spec);
/// Error for an unknown name or parameter, or a value out of its range; opens no data file.
void check_task(std::string_view spec);
/// Makes a task from "NAME:a=1,b=2". Errors: unknown name or parameter, impossible values.
std::unique_ptr<Task> make_task(std::string_view spec);

/// "NAME:a=1,b=2" with all parameters, those at their defaults too: a run that names its task so
/// means the same task after a default has changed.
std::string spec_text(std::string_view name, const Settings& parameters);

}  // namespace headlab
