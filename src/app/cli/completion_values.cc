// Completions of values: tasks and their settings, methods, layouts, topics and words of `explain`,
// runs, and names from the files of the run on the command line (heads, relations). A value that
// cannot be found has no completion; nothing is an error. Read next: completion.cc.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "app/cli/completion.h"
#include "app/report/results.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// Returns folders of runs that begin with `begun`: in the folder that it names, and one level
/// below.
Words runs_after(const std::string& begun) {
  const fs::path above = fs::path(begun).parent_path();
  Words found;
  std::error_code failed, ignored;
  for (fs::recursive_directory_iterator at(above.empty() ? "." : above, failed), end;
       !failed && at != end; at.increment(failed)) {
    const fs::path path = above.empty() ? at->path().lexically_relative(".") : at->path();
    const std::string name = path.string();
    const bool fits = name.starts_with(begun);
    const bool is_plain = harmless(name) == name;  // a name with newlines would be several answers
    if (fits && is_plain && fs::exists(path / "config.json", ignored)) {
      found.push_back(name.starts_with('-') ? "./" + name : name);  // else it looks like a flag
    }
    if (!fits || at.depth() == 1) at.disable_recursion_pending();
  }
  std::ranges::sort(found);
  return found;
}

/// Returns the tasks, or after `TASK:` the settings of this task, as whole values: after
/// "copy:length=8," these are "copy:length=8,vocab=" and so on.
Words tasks_after(const std::string& begun) {
  const std::size_t colon = begun.find(':');
  if (colon == begun.npos) return texts_of(task_table(), &TaskEntry::name);
  const auto task = std::ranges::find(task_table(), begun.substr(0, colon), &TaskEntry::name);
  if (task == task_table().end() || !task->parameters) return {};
  const std::size_t comma = begun.rfind(',');
  const std::string kept =
      begun.substr(0, (comma == begun.npos || comma < colon ? colon : comma) + 1);
  const std::string given = "," + kept.substr(colon + 1);
  Words found;
  for (const std::string& name : task->parameters().names()) {
    const bool is_given = given.find("," + name + "=") != given.npos;
    if (!is_given) found.push_back(kept + name + "=");
  }
  return found;
}

/// Returns the topics of `explain`, and the words of the glossary, scores and methods.
Words topics() {
  Words found = explain_topics();
  for (const GlossaryTerm& term : glossary()) {
    for (const std::string& name : term.names) {
      const bool is_one_word = name.find(' ') == name.npos;
      if (is_one_word) found.push_back(name);
    }
  }
  for (const ScoreEntry& score : score_table()) found.emplace_back(score.name);
  for (const PruneMethod& method : prune_table()) found.emplace_back(method.name);
  return found;
}

/// Returns the first word of a command line that is the folder of a run; "" if there is none.
std::string run_on(const Words& before) {
  for (std::size_t i = 1; i < before.size(); ++i) {
    const fs::path path = named_run(before[i]).path;
    std::error_code ignored;
    if (!before[i].starts_with('-') && fs::exists(path / "config.json", ignored)) {
      return path.string();
    }
  }
  return "";
}

/// Returns the original indices of the heads that an attention layer has.
std::vector<std::int32_t> heads_left(const TransformerConfig& config, const AttentionSlot& place) {
  for (const auto& [name, heads] : config.attention) {
    if (name == place.name) return heads;
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(config.heads_of(place.layer)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Returns the heads of the run on the command line: "0.0", "0.1" ...
Words heads_of_run(const Words& before) {
  const std::string run = run_on(before);
  if (run.empty()) return {};
  const RunConfig config = read_config(run);
  Words found;
  Index attention_layer = 0;
  for (const AttentionSlot& place : config.model.attention_slots()) {
    for (const std::int32_t head : heads_left(config.model, place)) {
      found.push_back(text(attention_layer, ".", head));
    }
    ++attention_layer;
  }
  return found;
}

/// Returns the relations of the task of the run on the command line.
Words relations_of_run(const Words& before) {
  const std::string run = run_on(before);
  if (run.empty()) return {};
  const std::unique_ptr<Task> task = make_task(read_config(run).task);
  return texts_of(task->relations(), &Relation::name);
}

/// Returns the names of one kind, none if they cannot be found: a damaged run has no heads to
/// offer.
Words names_of(ValueKind kind, const Words& before, const std::string& begun) try {
  switch (kind) {
    case ValueKind::folder:
    case ValueKind::run:
      return runs_after(begun);
    case ValueKind::task:
      return tasks_after(begun);
    case ValueKind::method:
      return texts_of(prune_table(), &PruneMethod::name);
    case ValueKind::measure:
      return texts_of(measures(), &Measure::name);
    case ValueKind::layout:
      return texts_of(exports(), &LayoutName::name);
    case ValueKind::relation:
      return relations_of_run(before);
    case ValueKind::table:
      return table_names(find_command(before[0]));
    case ValueKind::heads:
      return heads_of_run(before);
    case ValueKind::topic:
      return topics();
    case ValueKind::other:
    case ValueKind::on_off:
    case ValueKind::file:
      break;
  }
  return {};
} catch (const Error&) {
  return {};
}

}  // namespace

Words values_of_flag(const Setting& flag, ValueKind kind, const Words& before,
                     const std::string& begun) {
  Words all = flag.choices;
  std::ranges::copy(names_of(kind, before, begun), std::back_inserter(all));
  return all;
}

Words values_of_argument(const Positional& argument, const Words& before,
                         const std::string& begun) {
  Words all = argument.choices;
  for (const Placeholder& name : argument.names) {
    std::ranges::copy(names_of(name.kind, before, begun), std::back_inserter(all));
  }
  return all;
}

}  // namespace headlab::cli
