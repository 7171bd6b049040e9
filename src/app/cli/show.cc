// `headlab show TASK`: describes a task before training: a held-out example with its targets and
// ground truth, the meaning of its settings, and its recommendation. Needs no run. Read next:
// core/tasks/task.h.
#include <algorithm>
#include <functional>
#include <ranges>

#include "app/cli/commands.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

std::string folded(const std::string& words) { return wrapped(words, "  ", stdout_width()); }

/// Returns the keys of all relations in words: "back1 4, same 2 6".
std::string keys_text(const std::vector<Relation>& relations, const Example& example, Index t) {
  std::vector<std::string> named;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const auto keys = example.truth[r].keys(0, t);
    const auto shown = texts_of(keys, [](std::int32_t key) { return std::to_string(key); });
    if (!shown.empty()) named.push_back(relations[r].name + " " + join(shown, " "));
  }
  return join(named, ", ");
}

/// Returns a row for each position of the first sequence: token, targets ("-" if there is none),
/// and the keys of each relation, in a column each or, for many relations, in one.
Table example_table(const Task& task, const Example& example) {
  const Batch& batch = example.batch;
  const std::vector<Relation> relations = task.relations();
  Fields<Index> fields;
  fields.add({"position", "position"}, std::identity());
  fields.add({"token", "token"}, [&](Index t) { return task.token_text(batch.token(0, t)); });
  const std::vector<std::string> targets = task.target_names();
  for (std::size_t k = 0; k < targets.size(); ++k) {
    fields.add(element_column("targets", k, "target " + targets[k]), [&, k](Index t) {
      const std::int32_t target = batch.targets[t * batch.targets_per_position + k];
      return target < 0 ? "-" : task.answer_text(target);
    });
  }
  const bool one = relations.size() > 4;  // more columns would not fit into a terminal
  if (one) {
    fields.add({"keys", "keys of relations"},
               [&](Index t) { return keys_text(relations, example, t); });
  }
  for (std::size_t r = 0; r < relations.size() && !one; ++r) {
    fields.add(element_column("keys", r, "keys of " + relations[r].name), [&, r](Index t) {
      const auto keys = example.truth[r].keys(0, t);
      return Json::Array(keys.begin(), keys.end());
    });
  }
  const Index length = batch.lengths.empty() ? batch.length : batch.lengths[0];
  return fields.table({"positions"}, std::views::iota(Index{0}, length));
}

std::string source_text(const Task& task, const Batch& batch) {
  const auto tokens = texts_of(key_tokens(batch, AttentionKind::encoder, 0),
                               [&](std::int32_t token) { return task.token_text(token); });
  return "source: " + join(tokens, " ") + "\n\n";
}

/// Runs `show FILE --check`: reports every fault of a file of lines.
Output check_file(const std::string& path) {
  constexpr std::size_t kShown = 20;
  const LinesCheck check = check_lines(read_file(path), path);
  const std::size_t faults = check.faults.size();
  std::string shown = text(path, "\nsequences: ", check.sequences, "\nfaults: ", faults, "\n");
  if (check.unasked > 0) {
    shown += text("queries with truth but no target: ", check.unasked,
                  "\n  (heads are scored on them; the loss does not ask for them)\n");
  }
  for (std::size_t i = 0; i < std::min(kShown, faults); ++i) shown += check.faults[i] + "\n";
  if (faults > kShown) shown += text("and ", faults - kShown, " more\n");
  return {.json = stamped({{"file", path},
                           {"sequences", check.sequences},
                           {"without_target", check.unasked},
                           {"faults", check.faults}}),
          .text = shown,
          .status = faults == 0 ? 0 : 1};
}

/// Runs `show TASK --write FILE --count N`: writes sequences for the task `file`.
Output write_file_of(Invocation& call, const Task& task, const std::string& path, Index count) {
  write_out(call, path, lines_of(task, count, Key{0}.fold("show")));
  const std::string train = "headlab train --task " + shell_word("file:train=" + path);
  return {.json = stamped({{"file", path}, {"sequences", count}, {"command", call.again()}}),
          .text = text("wrote ", count, " sequences with their truth to ", path,
                       "\nto train: ", train, " --out runs/mine\n")};
}

/// Returns the example and the description of the task.
std::string shown_text(const std::string& spec, const Task& task, const Example& example,
                       const Table& table) {
  const TaskEntry& entry = find_task(spec);
  std::string shown = text(entry.name, ": ", entry.summary, "\n\n");
  if (task.shape().architecture == Architecture::encoder_decoder) {
    shown += source_text(task, example.batch);
  }
  shown += text_of(table, stdout_width()) + "\n";
  for (const Relation& relation : task.relations()) {
    shown += folded(text("relation ", relation.name, ": ", relation.description));
  }
  shown += "\n" + task_help(spec);
  if (task.needed_heads() > 0) {
    shown += text("it needs ", task.needed_heads(), task.needed_heads() == 1 ? " head" : " heads",
                  ": with fewer the loss stays high\n");
  }
  if (const std::string data = task.about_data(); !data.empty()) shown += folded("data: " + data);
  if (const std::string said = learned_text(entry.learned); !said.empty()) shown += folded(said);
  shown += as_typed(
      text("to train: headlab train --task ", shell_word(spec), " --out runs/", entry.name, "\n"));
  return shown;
}

}  // namespace

Result show_shape() {
  const std::unique_ptr<Task> task = make_task("relations");
  Table table = example_table(*task, held_out_examples(*task, 1));
  table.rows.clear();
  return {.tables = {table}};
}

Output show(Invocation& call) {
  bool check = false;
  std::string write;
  Index count = 1000;
  Flags settings;
  settings.boolean("check", check, "list all errors in a FILE of JSON lines");
  settings.naming(ValueKind::file, "write", write, "write sequences of the task as JSON lines");
  settings.integer("count", count, 1, 1 << 24, "sequences to write");
  call.read(settings);
  std::string spec = call.positionals()[0];
  const AllowedCommands allowed({spec});
  if (check) return check_file(spec);
  if (spec == "command" || spec == "tokens") {  // without data there is no example
    return {.json = stamped({{"task", spec}, {"form", find_task(spec).form}}),
            .text = task_help(spec)};
  }
  if (std::filesystem::is_regular_file(spec)) spec = "file:train=" + spec;
  as_usage([&] { check_task(spec); });
  const TaskEntry& entry = find_task(spec);
  const std::unique_ptr<Task> task = make_task(spec);
  if (!write.empty()) return write_file_of(call, *task, write, count);
  const Example example = held_out_examples(*task, 1);
  const Table table = example_table(*task, example);
  const Json about = stamped({{"task", task->spec()},
                              {"summary", entry.summary},
                              {"targets", task->target_names()},
                              {"relations", task->relations()},
                              {"needed_heads", task->needed_heads()},
                              {"recommended", recommended_settings(spec)},
                              {"learned", to_json(entry.learned)},
                              {"command", call.again()}});
  return {.json = Result{.about = about, .tables = {table}},
          .text = shown_text(spec, *task, example, table),
          .quotes_data = true,
          .tables = {table}};
}

std::string task_help(const std::string& spec) {
  const TaskEntry& task = find_task(spec);
  const Settings settings = task.parameters();
  std::string help =
      settings.all().empty() ? "" : text("--task ", task.name, ":NAME=VALUE,... sets\n");
  for (const Setting& setting : settings.all()) {
    help += beside(text("  ", setting.name, "=", value_form(setting)), 30,
                   text(setting.help, " [", value_text(setting.get()), "]"));
  }
  return help + task.form + folded("it recommends " + recommended_settings(spec));
}

}  // namespace headlab::cli
