// Table of the tasks of the laboratory, which follow those of the framework in every list. A task
// is one file that ends in a function that makes its row; the function is declared and called here.
// Read next: headlab/core/tasks/table.h, how the rows get into the table; duplicate.cc, a
// short task; file.cc.
#include "headlab/lab/data/lab_tasks.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/statistics.h"
#include "lab/data/sequences.h"

namespace headlab {

TaskEntry copy_task(), sort_task(), reverse_task(), reverse_cross_task(), recall_task(),
    duplicate_task(), brackets_task(), grid_task(), patches_task(), assign_task(), histogram_task(),
    memoryless_task(), random_task(), english_task(), text_task(), tokens_task(), repeated_task(),
    file_task(), command_task();

namespace {

std::vector<TaskEntry> lab_tasks() {
  std::vector<TaskEntry> rows;  // in the order of lists and reports
  rows.push_back(copy_task());
  rows.push_back(sort_task());
  rows.push_back(reverse_task());
  rows.push_back(reverse_cross_task());
  rows.push_back(recall_task());
  rows.push_back(duplicate_task());
  rows.push_back(brackets_task());
  rows.push_back(grid_task());
  rows.push_back(patches_task());
  rows.push_back(assign_task());
  rows.push_back(histogram_task());
  rows.push_back(memoryless_task());
  rows.push_back(random_task());
  rows.push_back(english_task());
  rows.push_back(text_task());
  rows.push_back(tokens_task());
  rows.push_back(repeated_task());
  rows.push_back(file_task());
  rows.push_back(command_task());
  return rows;
}

}  // namespace

bool add_lab_tasks() {
  more_tasks() = lab_tasks;
  return true;
}

std::string description_of(const Task& task) {
  const Header* in_file = header_in_file(task);
  const Header* header = in_file != nullptr ? in_file : header_of_command(task);
  return header == nullptr ? "" : header->description;
}

std::string learned_text(const Learned& learned) {
  if (learned.seeds == 0) return learned.why;
  std::vector<double> trained(static_cast<std::size_t>(learned.seeds), 0.0);
  std::fill_n(trained.begin(), learned.reached, 1.0);
  const Interval share = share_interval(trained);
  const std::string counted =
      text(learned.reached, " of ", learned.seeds, " seeds (", fixed(share.low, 3), " to ",
           fixed(share.high, 3), ") reach an accuracy of ", number_text(learned.accuracy));
  return *learned.why == '\0' ? counted : counted + ": " + learned.why;
}

}  // namespace headlab
