// Completions of values: tasks and their settings, methods, layouts, topics and words of `explain`,
// runs, and names from the files of the run on the command line (heads, relations). A value that
// cannot be found has no completion; nothing is an error. Read next: completion.cc.
#include <algorithm>
#include <cctype>
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

/// Returns the completions of one kind of value: a placeholder, or a literal word.
Words values_of_kind(const std::string& kind, const Words& before, const std::string& begun) {
  if (kind == "TASK") return tasks_after(begun);
  if (kind == "METHOD") return texts_of(prune_table(), &PruneMethod::name);
  if (kind == "MEASURE") return texts_of(measures(), &Measure::name);
  if (kind == "LAYOUT") return texts_of(exports(), &LayoutName::name);
  if (kind == "RELATION") return relations_of_run(before);
  if (kind == "TABLE") return table_names(find_command(before[0]));
  if (kind == "HEADS" || kind == "LAYER.HEAD") return heads_of_run(before);
  if (kind == "TOPIC") return topics();
  if (kind == "RUN" || kind == "ARM" || kind == "DIR") return runs_after(begun);
  const bool is_word = !kind.empty() && (std::islower(static_cast<unsigned char>(kind[0])) != 0 ||
                                         std::isdigit(static_cast<unsigned char>(kind[0])) != 0);
  return is_word ? Words{kind} : Words{};
}

}  // namespace

std::string kind_of_value(const Setting& flag) {
  constexpr std::pair<std::string_view, const char*> kKinds[] = {
      {"task", "TASK"},   {"method", "METHOD"},     {"methods", "METHOD"},
      {"to", "LAYOUT"},   {"relation", "RELATION"}, {"table", "TABLE"},
      {"heads", "HEADS"}, {"head", "HEADS"},        {"measure", "MEASURE"}};
  const auto found =
      std::ranges::find(kKinds, flag.name, &std::pair<std::string_view, const char*>::first);
  if (found == std::end(kKinds)) return flag.placeholder;
  const bool is_number = found->second == std::string_view("HEADS") &&
                         flag.placeholder.find("HEAD") == std::string::npos;
  return is_number ? flag.placeholder : found->second;
}

Words values_of(std::string_view kinds, const Words& before, const std::string& begun) {
  Words all;
  for (std::string_view kind : split(kinds.substr(0, kinds.find("[,")), '|')) {
    while (kind.starts_with('[')) kind.remove_prefix(1);
    while (kind.ends_with(']')) kind.remove_suffix(1);
    try {
      const Words values = values_of_kind(std::string(kind), before, begun);
      all.insert(all.end(), values.begin(), values.end());
    } catch (const Error&) {
      continue;  // a damaged run has no heads to offer
    }
  }
  return all;
}

}  // namespace headlab::cli
