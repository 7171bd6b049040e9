// The flag --task of analyses: another length or other data than those of the run. Parameters that
// it does not name are those of the run's own task.
// Read next: lab/runs/task_fit.h.
#include "app/cli/commands.h"

namespace headlab::cli {

void TaskFlag::add_to(Flags& settings) {
  settings.naming(ValueKind::task, "task", spec,
                  "other length or data, same words: relations:length=32", {.placeholder = "SPEC"});
  settings.mark_display({"task"});  // results name the whole task, and only if it is another one
}

Run TaskFlag::open(const std::string& name) const {
  if (!spec.empty()) {
    as_usage([&] { check_task(spec); });
  }
  Run run = open_run(name);
  if (!spec.empty()) use_task(run, spec);
  return run;
}

}  // namespace headlab::cli
