// The table of tasks. Help, defaults, errors, tests and reports read it; a new task is a source
// file and its name in src/core/tasks/table.cc. A task is named by text,
// "relations:length=16,vocab=16", in flags, config files and reports alike. Read next:
// definition.h, how to write a task; src/core/tasks/relations.cc, the main example.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/base/settings.h"
#include "headlab/core/tasks/task.h"

namespace headlab {

/// Number of seeds that learn the task with the recommended settings; tests/tools/seeds/README.md
/// states which seeds were counted.
struct Learned {
  double accuracy = 0;   // held-out accuracy at which a seed counts as trained
  int reached = 0;       // seeds that reach it
  int seeds = 0;         // seeds that were tried; 0: not counted
  const char* why = "";  // reason if less than 99% do or nothing is counted; or ""
};

/// Converts to JSON; null if no accuracy is required.
Json to_json(const Learned& learned);

struct TaskEntry {
  const char* name = nullptr;
  const char* summary = nullptr;  // one line
  /// Recommended settings of model and training, "layers=2 heads=1 lr=1e-3 steps=1000"; other
  /// settings keep their defaults.
  const char* recommended = nullptr;
  Learned learned = {};
  /// Creates the task. task_entry (definition.h) fills in this and the following members.
  /// Parameters are "length=16,vocab=16", or "".
  std::function<std::unique_ptr<Task>(std::string_view parameters)> make = {};
  /// Throws an Error if parameters do not exist or are out of range; opens no file.
  std::function<void(std::string_view parameters)> check = {};
  /// Returns names, defaults and help of the parameters; do not set them.
  std::function<Settings()> parameters = {};
  /// Returns recommended settings that depend on the data, which extend `recommended`; empty if
  /// there are none.
  std::function<std::string(std::string_view parameters)> advice = {};
  /// Format of the task's data, in lines; "" if the task generates its data.
  std::string form = {};
  /// Extensions of files that the first parameter names, such as ".jsonl"; empty if there is none.
  std::vector<std::string> endings = {};
};

std::span<const TaskEntry> task_table();
/// Returns the tasks of a program that uses this library. Add to them before the table is first
/// read; they follow ours in every listing.
std::vector<TaskEntry>& own_tasks();

/// Function of a larger library that returns its tasks, which follow those of the framework.
using MoreTasks = std::vector<TaskEntry> (*)();
/// Returns the function that supplies them, nullptr if there is none. Set it before the table is
/// first read.
MoreTasks& more_tasks();

#ifdef HEADLAB_LAB
/// Sets more_tasks() to the tasks of the laboratory. The macro is defined for every target that
/// links headlab::headlab. Each of its files that includes this header then calls the function
/// before main: the call also makes the linker keep tasks that no other code refers to.
bool add_lab_tasks();
inline const bool lab_tasks_added = add_lab_tasks();
#endif

/// Returns the entry for "NAME" or "NAME:parameters". Errors list the known names and the nearest
/// one.
const TaskEntry& find_task(std::string_view spec);
/// Returns the recommended settings of a task, including those of its data, each once.
std::string recommended_settings(std::string_view spec);
/// Throws an Error for an unknown name or parameter, or a value out of its range; opens no data
/// file.
void check_task(std::string_view spec);
/// Creates a task from "NAME:a=1,b=2". Errors: unknown name or parameter, impossible values.
std::unique_ptr<Task> make_task(std::string_view spec);

/// Returns "NAME:a=1,b=2" with all parameters, including those at their defaults: a stored spec
/// keeps its meaning if a default changes.
std::string spec_text(std::string_view name, const Settings& parameters);

}  // namespace headlab
