// Words for a task and its relations, the same on the page, on the page without scripts and in the
// playground. Private to this layer.
// Read next: task_words.cc, the question of each task.
#pragma once

#include <string>
#include <string_view>

#include "headlab/core/tasks/task.h"

namespace headlab {

/// Returns the name of a relation or a target for a reader: "1 back" for "back1", "same class" for
/// "same" of the task `relations`, "next larger" for "next_larger". `task`: the name or the
/// specification of a task.
std::string spoken_name(const std::string& name, std::string_view task);
/// Returns the question of a task as a sentence: for the user's own sequences the description in
/// their header and the relations, for other tasks a sentence with a verb of their own.
std::string question_of(const Task& task);
/// Returns the relations of a task as JSON, each with its spoken name.
Json spoken_relations(const Task& task);

}  // namespace headlab
