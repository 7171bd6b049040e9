// The table of tasks. Each task is one file, which ends with a function that creates its row. The
// framework has two: in one positions decide which keys count, in the other content does. The
// laboratory and programs add their own rows. Read next: relations.cc, the main example.
#include "headlab/core/tasks/table.h"

#include <algorithm>
#include <iterator>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {

TaskEntry relations_task(), induction_task();

namespace {

/// Returns all rows in the order of lists and reports.
std::vector<TaskEntry> all_tasks() {
  std::vector<TaskEntry> rows = {relations_task(), induction_task()};
  if (more_tasks() != nullptr) std::ranges::move(more_tasks()(), std::back_inserter(rows));
  return with_own(std::move(rows), own_tasks());
}

}  // namespace

std::span<const TaskEntry> task_table() {
  static const std::vector<TaskEntry> all = all_tasks();
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

namespace {

/// Returns the row of the task that reads files with the extension of `path`; nullptr if there is
/// none.
const TaskEntry* reader_of(std::string_view path) {
  for (const TaskEntry& entry : task_table()) {
    for (const std::string& ending : entry.endings) {
      if (path.ends_with(ending)) return &entry;
    }
  }
  return nullptr;
}

/// Throws an Error that names the setting if parameters begin with a value alone, such as a path.
void require_names(std::string_view parameters, const TaskEntry& entry) {
  const std::string_view first = parameters.substr(0, parameters.find(','));
  const Settings settings = entry.parameters();
  if (first.empty() || first.find('=') != first.npos || settings.all().empty()) return;
  const Setting& setting = settings.all().front();
  throw Error(text("expected NAME=VALUE, got '", first, "'"),
              setting.takes_text
                  ? text("name the setting: ", entry.name, ":", setting.name, "=", parameters)
                  : text("settings of ", entry.name, ": ", join(settings.names(), ", ")));
}

}  // namespace

const TaskEntry& find_task(std::string_view spec) {
  if (const TaskEntry* reader = reader_of(spec); reader && spec.find(':') == spec.npos) {
    const std::string setting = reader->parameters().all().front().name;
    throw Error(text("unknown task '", spec, "': it is the name of a file"),
                text("name the task that reads it: --task ", reader->name, ":", setting, "=",
                     spec));
  }
  return named("task", spec.substr(0, spec.find(':')), task_table(), &TaskEntry::name);
}

namespace {

/// Calls action(parameters) for a spec; errors are prefixed with the task's name.
template <class Action>
auto with_parameters_of(std::string_view spec, const TaskEntry& entry, const Action& action) {
  const std::size_t colon = spec.find(':');
  return in_context(text("cannot make the task ", entry.name), [&] {
    const std::string_view parameters =
        colon == spec.npos ? std::string_view() : spec.substr(colon + 1);
    require_names(parameters, entry);
    return action(parameters);
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
  for (const Relation& relation : task->relations()) {
    if (relation.name.find_first_of(".,") != relation.name.npos) {
      throw Error(text("cannot make the task ", entry.name, ": the relation '", relation.name,
                       "' has a '.' or ',' in its name"),
                  "give it another name: these characters separate the names of columns");
    }
  }
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
