// Tasks of the laboratory: sequences as lines of JSON, permission for the program that the task
// `command` starts, and how reliably a task is learned. The tasks themselves are rows of
// task_table(). Read next: src/lab/data/lab_tasks.cc, the rows; table.h.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/tasks/table.h"

namespace headlab {

/// Returns the clause "100 of 100 seeds (0.963 to 1.000) reach ...", with the 95% interval of the
/// share (Wilson); "" if nothing is known.
std::string learned_text(const Learned& learned);

/// Returns the description in the header of the user's own sequences (tasks `file` and `command`);
/// "" if there is none.
std::string description_of(const Task& task);

/// Allows the task `command` to start this program, because the user has named it.
void allow_command(const std::string& command);
/// Allows tasks, for its lifetime, to start the programs that these specs ("command:PROGRAM") name,
/// in addition to those already allowed; other specs allow nothing.
class AllowedCommands {
 public:
  explicit AllowedCommands(const std::vector<std::string>& specs);
  ~AllowedCommands();
  AllowedCommands(const AllowedCommands&) = delete;
  AllowedCommands& operator=(const AllowedCommands&) = delete;

 private:
  std::set<std::string> before_;
};
/// Returns the program that a task has started because HEADLAB_COMMAND names it; "" if none.
std::string& command_of_environment();

/// Returns `count` held-out sequences of a task as lines of JSON after a header: the format that
/// the task `file` reads.
std::string lines_of(const Task& task, std::int64_t count, Key key);
/// Result of checking such lines: each fault with its position, and the number of sequences.
struct LinesCheck {
  std::int64_t sequences = 0, unasked = 0;  // queries with ground truth but without a target
  std::vector<std::string> faults;
};
LinesCheck check_lines(std::string_view lines, const std::string& source);

/// Places of held-out examples in the file of a task `file`.
struct FilePlaces {
  bool are_lines = false;  // lines of a text, from 1; else sequences of arrays (.npz), from 0
  std::vector<std::int32_t> of_examples{};
};
/// Returns the places of held-out examples [first, first + count) of a split; none for other tasks.
FilePlaces places_in_file(const Task& task, Split split, std::int64_t first, std::int64_t count);

/// Tokens and answers that the lines of a task `file` name for causal analyses of held-out
/// examples.
struct FilePrompts {
  /// Answers that are compared with targets, [examples, T, K] as Batch::targets; -1 if there is
  /// none. Empty if no line of the part names one.
  std::vector<std::int32_t> against{};
  /// Corrupted tokens by example, as many as it has, or none. Empty if no line of the part has any.
  std::vector<std::vector<std::int32_t>> corrupted{};
};
/// Returns them for the first `count` held-out examples of a split; none for other tasks.
FilePrompts prompts_in_file(const Task& task, Split split, std::int64_t count);

}  // namespace headlab
