// The table of tasks. Each is written in one file, which ends in a function that makes its row: a
// new task is that file, and its function declared and called here. The laboratory and programs add
// rows of their own.
// Read next: relations.cc, the flagship; duplicate.cc, a short one.
#include "headlab/tasks/table.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/text.h"

namespace headlab {

TaskEntry relations_task(), induction_task(), copy_task(), sort_task(), reverse_task(),
    reverse_cross_task(), recall_task(), duplicate_task(), brackets_task(), histogram_task(),
    memoryless_task(), random_task(), text_task();

namespace {

std::vector<TaskEntry> core_tasks() {
  return {// in the order of lists and reports
          relations_task(), induction_task(),     copy_task(),       sort_task(),
          reverse_task(),   reverse_cross_task(), recall_task(),     duplicate_task(),
          brackets_task(),  histogram_task(),     memoryless_task(), random_task(),
          text_task()};
}

/// The rows with those of more_tasks() among them.
std::vector<TaskEntry> with_more(std::vector<TaskEntry> rows) {
  if (more_tasks() == nullptr) return rows;
  for (const TasksAfter& more : more_tasks()()) {
    const auto before = std::ranges::find(rows, std::string_view(more.after), &TaskEntry::name);
    require(before != rows.end(), "there is no task ", more.after, " to list others after");
    rows.insert(before + 1, more.tasks.begin(), more.tasks.end());
  }
  return rows;
}

}  // namespace

std::span<const TaskEntry> task_table() {
  static const std::vector<TaskEntry> all = with_own(with_more(core_tasks()), own_tasks());
  return all;
}

MoreTasks& more_tasks() {
  static MoreTasks more = nullptr;
  return more;
}

std::vector<TaskEntry>& own_tasks() {
  static std::vector<TaskEntry> own;
  return own;
}

Json to_json(const Learned& learned) {
  if (learned.accuracy == 0) return Json();
  return Json::object({{"accuracy", learned.accuracy},
                       {"reached", learned.reached},
                       {"seeds", learned.seeds},
                       {"why", learned.why}});
}

const TaskEntry& find_task(std::string_view spec) {
  return named("task", spec.substr(0, spec.find(':')), task_table(), &TaskEntry::name);
}

namespace {

/// Calls action(parameters) for a spec; errors begin with the task's name.
template <class Action>
auto with_parameters_of(std::string_view spec, const TaskEntry& entry, const Action& action) {
  const std::size_t colon = spec.find(':');
  return in_context(text("task ", entry.name), [&] {
    return action(colon == spec.npos ? std::string_view() : spec.substr(colon + 1));
  });
}

}  // namespace

void check_task(std::string_view spec) {
  const TaskEntry& entry = find_task(spec);
  with_parameters_of(spec, entry, entry.check);
}

std::unique_ptr<Task> make_task(std::string_view spec) {
  const TaskEntry& entry = find_task(spec);
  std::unique_ptr<Task> task = with_parameters_of(spec, entry, entry.make);
  for (const Relation& relation : task->relations())
    if (relation.name.find_first_of(".,") != relation.name.npos)
      throw Error(text("the relation '", relation.name, "' has a '.' or ',' in its name"),
                  "give it another: these part the names of columns");
  return task;
}

std::string recommended_settings(std::string_view spec) {
  const TaskEntry& entry = find_task(spec);
  if (!entry.advice) return entry.recommended;
  const std::string all =
      text(entry.recommended, " ", with_parameters_of(spec, entry, entry.advice));
  std::vector<std::string> last;  // of each name
  for (const std::string_view setting : split(all, ' ')) {
    const std::string_view name = setting.substr(0, setting.find('=') + 1);
    if (name.empty()) continue;
    std::erase_if(last, [&](const std::string& before) { return before.starts_with(name); });
    last.emplace_back(setting);
  }
  return join(last, " ");
}

std::string spec_text(std::string_view name, const Settings& parameters) {
  std::vector<std::string> assignments;
  for (const Setting& setting : parameters.all()) {
    const Json value = setting.get();
    const std::string shown = value.is_string() ? value.string() : value.dump();
    if (!shown.empty()) assignments.push_back(text(setting.name, "=", shown));
  }
  return text(name, ":", join(assignments, ","));
}

}  // namespace headlab
