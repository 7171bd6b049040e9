// Refusals of words that mean something else: a flag of another command or program, a value without
// its flag, a range in place of a list. Each names the command line that was meant.
// Read next: advice.h; arguments.cc, which reads the words.
#include <algorithm>
#include <optional>

#include "app/cli/advice.h"
#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Flags of other programs or commands, and what to do instead in a command with this setting.
struct FlagElsewhere {
  std::vector<std::string> flags;
  std::string setting, instead;
};
const std::vector<FlagElsewhere> kElsewhere = {
    {{"--epochs"}, "steps", "did you mean '--steps'?"},
    {{"--batch-size"}, "batch", "did you mean '--batch'?"},
    {{"--learning-rate"}, "lr", "did you mean '--lr'?"},
    {{"--output", "-o"}, "out", "did you mean '--out'?"},
    {{"--shard"}, "jobs", "the same command, given to several processes, shares the work"},
    {{"--prune", "--keep", "--finetune", "--from-scratch", "--gate-steps"},
     "collect",
     "the runs of a sweep are pruned by `headlab curve SWEEP/GROUP`"}};

}  // namespace

/// Throws a UsageError for a range such as 1-8 as the value of a flag that takes a list.
void Invocation::refuse_range(const Setting& setting, const Argument& argument,
                              const std::string& value) const {
  const bool takes_list = setting.separator != 0;
  if (!takes_list || !has_range(value)) return;
  const std::string list = without_ranges(value);
  const std::string numbers = list.empty() ? "1,2,3" : list;
  const bool takes_layers = setting.separator == '+';
  const bool is_swept = takes_layers && command_.name == std::string_view("train");
  const std::string sweep = is_swept ? program_call() + " sweep " : "";
  throw UsageError(text("cannot use ", argument.flag, " ", value, ": ranges are not read"),
                   text(is_swept ? "" : "list the numbers: ", sweep, argument.flag, " ", numbers));
}

/// Returns the setting whose value a superfluous word is likely to be; "" if there is none.
std::string Invocation::flag_meant_by(const std::string& word) const {
  const auto has = [&](const char* name) {
    return settings_.find(name) != nullptr && !given(name);
  };
  const bool is_number = word.find_first_not_of("0123456789") == word.npos;
  const bool is_head = !is_number && word.find_first_not_of("0123456789.,") == word.npos;
  const bool is_task = std::ranges::count(texts_of(task_table(), &TaskEntry::name), word) > 0;
  if (is_task && has("task")) return "task";
  for (const char* name : {"head", "without", "remove"}) {
    if (is_head && has(name)) return name;
  }
  if (is_number && has("keep")) return "keep";
  for (const char* name : {"prompt", "input"}) {
    if (has(name)) return name;
  }
  const bool writes_folder =
      has("out") && settings_.kind_of(*settings_.find("out")) != ValueKind::file;
  return writes_folder && !positionals_.empty() && !command_.positionals.empty() ? "out" : "";
}

/// Returns the command line with the words after the first `count` as the value of a flag.
std::string Invocation::again_with_flag(const std::string& setting, std::size_t count) const {
  std::vector<Argument> kept;
  std::vector<std::string> rest;
  std::size_t words = 0;
  for (Argument argument : arguments_) {
    const bool is_word = argument.apart && argument.value;
    if (is_word && words++ >= count) {
      rest.push_back(*argument.value);
      argument.value.reset();
    }
    if (argument.value || !argument.flag.empty()) kept.push_back(argument);
  }
  return text(line_of(kept, ""), " ", flag_of(setting), " ", shell_word(join(rest, " ")));
}

/// Returns the error about a flag that has the name of a command; nothing for other flags.
static std::optional<UsageError> flag_that_is_a_command(const std::string& flag) {
  const std::string name = flag.substr(std::min(flag.size(), flag.find_first_not_of('-')));
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found == commands().end()) return std::nullopt;
  return UsageError(text("unknown flag '", flag, "': it is a command"), call_of(*found));
}

/// Returns the error about a flag of another command; nothing for other flags.
static std::optional<UsageError> flag_of_another(const std::string& flag,
                                                 const std::string& value) {
  if (!flag.starts_with("--")) return std::nullopt;
  std::string setting = flag.substr(2);
  std::ranges::replace(setting, '-', '_');
  const Command* other = command_with_flag(setting);
  if (other == nullptr) return std::nullopt;
  const std::string given = value.empty() ? "" : " " + shell_word(value);
  return UsageError(text("unknown flag '", flag, "': it belongs to `headlab ", other->name, "`"),
                    text(call_of(*other), " ", flag, given));
}

UsageError Invocation::unknown_flag(const std::string& flag) const {
  if (const std::optional<UsageError> moved = flag_that_is_a_command(flag)) return *moved;
  for (const FlagElsewhere& row : kElsewhere) {
    const bool is_named = std::ranges::count(row.flags, flag) > 0;
    if (is_named && settings_.find(row.setting) != nullptr) {
      return UsageError(text("unknown flag '", flag, "'; ", row.instead), example());
    }
  }
  const std::string setting = flag.starts_with("--") ? flag.substr(2) : "";
  if (const std::optional<UsageError> other = flag_of_another(flag, value(setting))) return *other;
  const std::vector<std::string> known = texts_of(settings_.names(), flag_of);
  const bool has_near = !nearest_name(flag, known).empty();
  return UsageError(unknown_name("flag", flag, known).what(),
                    has_near ? example() : text("headlab ", command_.name, " --help"));
}

}  // namespace headlab::cli
