// Conversion of command line words to settings. A word that begins with -- is always a flag, so a
// forgotten value is an error and does not consume the next flag. Whether the next word is the
// value of a flag is known only after the settings are declared: a switch leaves it to the
// positionals. Read next: core/base/settings.h, which defines the values of each setting.

#include <glob.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "app/cli/commands.h"
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Flags that change only how results are shown.
constexpr std::array<std::string_view, 8> kNoNumbers = {"--jobs",  "--json", "--force", "--threads",
                                                        "--quiet", "--csv",  "--latex", "--table"};

/// Flags that choose and format a table; commands without tables do not have them.
constexpr std::array<const char*, 3> kTableFlags = {"csv", "latex", "table"};

/// Returns NAME of NAME.2, the table of the second of several heads.
std::string without_number(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool is_numbered = last != name.npos && last + 1 < name.size() && name[last] == '.';
  return is_numbered ? name.substr(0, last) : name;
}

/// Returns whether `name` is one of these tables or a part of one: a column of lists makes the
/// table NAME.COLUMN, and each of several heads NAME.LAYER.HEAD or NAME.NUMBER.
bool names_table(const std::string& name, const std::vector<std::string>& tables) {
  return std::ranges::any_of(tables, [&](const std::string& table) {
    const bool is_part = name.starts_with(table + ".");
    return is_part || without_number(name) == without_number(table);
  });
}

/// Returns whether the text is "true", "false", or a list of these.
bool says_boolean(const std::string& value) {
  return std::ranges::all_of(split(value, ','), [](std::string_view part) {
    return part == "true" || part == "false";
  });
}

}  // namespace

Invocation::Invocation(const Command& command, std::span<const std::string> words)
    : command_(command) {
  const auto end_of_flags = std::ranges::find(words, "--");
  const std::span<const std::string> flags(words.begin(), end_of_flags);
  common_.help =
      std::ranges::any_of(flags, [](const auto& word) { return word == "--help" || word == "-h"; });
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& word = flags[i];
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--")) {
      arguments_.push_back({.flag = "", .value = word, .apart = true});
    } else if (equals != word.npos) {
      arguments_.push_back({word.substr(0, equals), word.substr(equals + 1), true});
    } else if (i + 1 < flags.size() && !flags[i + 1].starts_with("--")) {
      arguments_.push_back({word, flags[++i]});
    } else {
      arguments_.push_back({word, std::nullopt});
    }
  }
  for (std::size_t i = flags.size() + 1; i < words.size(); ++i) {
    arguments_.push_back({.flag = "", .value = words[i], .apart = true, .is_word = true});
  }
}

bool Invocation::given(std::string_view setting) const {
  return std::ranges::find(arguments_, flag_of(setting), &Argument::flag) != arguments_.end();
}

std::string Invocation::value(std::string_view setting) const {
  std::string value;
  for (const Argument& argument : arguments_) {
    if (argument.flag == flag_of(setting)) value = argument.value.value_or(value);
  }
  return value;
}

std::vector<std::string> Invocation::tasks_named() const {
  std::vector<std::string> tasks;
  for (const Argument& argument : arguments_) {
    if (argument.flag != "--task" || !argument.value) continue;
    tasks.push_back(*argument.value);
    for (const std::string& one : sweep_values(*argument.value)) tasks.push_back(one);
  }
  return tasks;
}

void Invocation::read(const Flags& own, const Flags& more, const std::string& more_help) {
  settings_ = own;
  settings_.append(more);
  const bool shows_tables = has_tables(command_);
  if (!shows_tables) refuse_table_flags();
  settings_.append(common_.settings(shows_tables, settings_.takes_several_threads));
  if (common_.help) throw help(more_help);
  check_words();
  std::set<std::string> seen;
  for (Argument& argument : arguments_) {
    if (!argument.flag.empty()) {
      const Setting& setting = setting_for(argument);
      const bool says = argument.value && says_boolean(*argument.value);
      if (!seen.insert(setting.name).second) {
        throw UsageError(text("cannot use ", flag_of(setting.name), ": it is given twice"),
                         "leave one of them out");
      }
      argument.apart = is_switch(setting) && !argument.joined && !says;
      const Json preset = setting.get();
      set(setting, argument);
      argument.changes = is_switch(setting) || setting.get() != preset;
    }
    if (argument.apart && argument.value) add_positional(*argument.value, argument.is_word);
  }
  check_positionals();
  check_rules();
  check_table_name();
  const std::vector<std::int64_t>& threads = common_.threads;
  const bool several = threads.size() > 1;
  if (several && !settings_.takes_several_threads) {
    throw UsageError(text("cannot use --threads ", value_text(Json(threads)), ": `headlab ",
                          command_.name, "` runs with one number of threads"),
                     "give one number");
  }
  if (!several && threads[0] > 0) set_thread_count(static_cast<int>(threads[0]));
  set_quiet(common_.quiet);
}

/// Throws a UsageError for a flag of tables if the command has none.
void Invocation::refuse_table_flags() const {
  for (const char* flag : kTableFlags) {
    if (given(flag)) {
      throw UsageError(text("cannot use ", flag_of(flag), ": `headlab ", command_.name,
                            "` has no table"),
                       text("leave ", flag_of(flag), " out"));
    }
  }
}

/// Throws a UsageError, before any work, for a table that no result of the command has.
void Invocation::check_table_name() const {
  const std::vector<std::string> known =
      common_.table.empty() ? std::vector<std::string>() : table_names(command_);
  if (known.empty() || names_table(common_.table, known)) return;
  as_usage([&] { throw unknown_name("table", common_.table, known); });
}

/// Returns the setting of a flag; `--no-tied` means `tied`.
const Setting& Invocation::setting_for(const Argument& argument) const {
  std::string name = argument.flag.substr(2);
  std::ranges::replace(name, '-', '_');
  if (const Setting* setting = settings_.find(name)) return *setting;
  const Setting* cleared = name.starts_with("no_") ? settings_.find(name.substr(3)) : nullptr;
  if (cleared == nullptr || !is_switch(*cleared) || argument.joined) {
    throw unknown_flag(argument.flag);
  }
  return *cleared;
}

void Invocation::set(const Setting& setting, const Argument& argument) const {
  const std::string help = text("headlab ", command_.name, " --help");
  std::string value;
  if (argument.apart) {
    value = argument.flag == flag_of(setting.name) ? "true" : "false";
  } else if (argument.value) {
    value = *argument.value;
  } else {
    throw UsageError(text(argument.flag, " needs a value: ", value_form(setting)), help);
  }
  if (value.empty()) {  // most likely an unset variable
    throw UsageError(text(argument.flag, " needs a value, and got an empty one"), help);
  }
  const ValueKind kind = settings_.kind_of(setting);
  const bool names_file = kind == ValueKind::file || kind == ValueKind::folder;
  if (names_file && value == "-") {
    throw UsageError(text("cannot use ", argument.flag, " -: a file named - is refused"),
                     "use /dev/stdout, or ./- for a file of this name");
  }
  refuse_range(setting, argument, value);
  try {
    settings_.set_text(setting.name, value);
  } catch (const Error& error) {
    throw UsageError(text(argument.flag, " ", value, ": ", error.what()),
                     error.hint().empty() ? help : error.hint());
  }
}

/// Adds a word that is no flag as an argument. If it does not follow `--`, it may not look like
/// `-x`. A pattern such as sweeps/x/seed=? adds the matching paths.
void Invocation::add_positional(const std::string& word, bool follows_end) {
  if (!follows_end && word.size() > 1 && word[0] == '-') throw unknown_flag(word);
  std::error_code ignored;
  glob_t found{};
  if (word.find_first_of("*?[") != word.npos && !std::filesystem::exists(word, ignored) &&
      glob(word.c_str(), 0, nullptr, &found) == 0) {
    positionals_.insert(positionals_.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  } else {
    positionals_.push_back(word);
  }
  globfree(&found);
}

void Invocation::check_positionals() const {
  std::size_t count = 0;
  for (const Positional& wanted : command_.positionals) {
    if (wanted.times == Positional::Times::repeated) return;
    const bool is_missing = count == positionals_.size() || positionals_[count].empty();
    if (wanted.times == Positional::Times::once && is_missing) {
      throw UsageError("missing argument " + argument_form(wanted), example());
    }
    ++count;
  }
  if (positionals_.size() <= count) return;
  const std::string& word = positionals_[count];
  const std::string flag = flag_meant_by(word);
  std::string hint = example();
  if (flag == "task") {
    hint = text("did you mean --task ", word, "?");
  } else if (!flag.empty()) {
    hint = again_with_flag(flag, count);
  }
  throw UsageError(text("unexpected argument '", word, "'"), hint);
}

/// Returns whether a condition is met. `always`: if a setting holds a list, whether each of its
/// values meets it.
bool Invocation::meets(const Condition& condition, bool always) const {
  switch (condition.kind) {
    case Condition::Kind::several_arguments:
      return positionals_.size() > 1;
    case Condition::Kind::first_argument:
      return !positionals_.empty() && positionals_[0] == condition.values[0];
    case Condition::Kind::flag: {
      const Setting* setting = settings_.find(condition.flag);
      return setting != nullptr && given(condition.flag) && setting->get() != Json(false);
    }
    case Condition::Kind::value:
      break;
  }
  const Setting* setting = settings_.find(condition.flag);
  if (setting == nullptr) return false;
  const std::string given_values = value_text(setting->get());
  const std::vector<std::string_view> values = split(given_values, ',');
  const auto is_wanted = [&](std::string_view value) {
    return std::ranges::count(condition.values, value) > 0;
  };
  return always ? std::ranges::all_of(values, is_wanted) : std::ranges::any_of(values, is_wanted);
}

/// Throws a UsageError for the first flag that changes nothing in combination with the others.
void Invocation::check_rules() const {
  for (const Argument& argument : arguments_) {
    if (!argument.changes) continue;
    const auto found = settings_.rules.find(setting_for(argument).name);
    if (found == settings_.rules.end()) continue;
    const FlagRules& rules = found->second;
    for (const Condition& condition : rules.excludes) {
      if (meets(condition, true)) {
        throw UsageError(text(argument.flag, " cannot be combined with ", text_of(condition)),
                         "leave one of them out");
      }
    }
    const bool is_met = std::ranges::any_of(rules.needs, [&](const Condition& condition) {
      return meets(condition, false);
    });
    if (!rules.needs.empty() && !is_met) {
      throw UsageError(text("cannot use ", argument.flag, ": it needs ",
                            join(texts_of(rules.needs, text_of), ", ")),
                       text("add it, or leave ", argument.flag, " out"));
    }
  }
}

Flags Invocation::out_setting(bool if_asked) {
  stores_if_asked_ = if_asked;
  Flags s;
  s.group("output");
  s.naming(ValueKind::file, "out", out_,
           if_asked ? "file for the result" : "file for the result (default: in the run)");
  s.mark_display({"out"});
  return s;
}

std::string Invocation::flags_again(const std::vector<std::string>& left_out) const {
  std::string line;
  for (const Argument& argument : arguments_) {
    const bool is_left_out = std::ranges::any_of(left_out, [&](const std::string& name) {
      return argument.flag == flag_of(name);
    });
    if (argument.flag.empty() || is_left_out) continue;
    if (argument.joined) {
      line += " " + shell_word(argument.flag + "=" + *argument.value);
      continue;
    }
    line += " " + shell_word(argument.flag);
    if (argument.value && !argument.apart) line += " " + shell_word(*argument.value);
  }
  return line;
}

std::string Invocation::again(std::string_view left_out) const {
  return line_of(arguments_, left_out);
}

std::string Invocation::again_with(const std::string& word, const std::string& other) const {
  std::vector<Argument> changed = arguments_;
  for (Argument& argument : changed) {
    if (argument.value == word) argument.value = other;
  }
  return line_of(changed, "");
}

std::string Invocation::line_of(const std::vector<Argument>& arguments,
                                std::string_view left_out) const {
  std::string line = text(program_call(), " ", command_.name);
  bool flags_end = false;
  for (const auto& [flag, value, joined, apart, changes, is_word] : arguments) {
    if (is_word && !flags_end && value->starts_with('-')) {
      line += " --";
      flags_end = true;
    }
    const bool is_kept = flag == "--threads" && settings_.takes_several_threads;
    const bool dropped = (std::ranges::find(kNoNumbers, flag) != kNoNumbers.end() && !is_kept) ||
                         (!left_out.empty() && flag == flag_of(left_out));
    if (!flag.empty() && !dropped) line += " " + shell_word(joined ? flag + "=" + *value : flag);
    if (value && !joined && (apart || !dropped)) line += " " + shell_word(*value);
  }
  return line;
}

void Invocation::check_table(const std::vector<Table>& tables) const {
  if (!common_.table.empty()) {
    as_usage([&] { return &Result{.tables = with_lists(tables)}.table(common_.table); });
  }
}

std::string Invocation::table_text(const std::vector<Table>& tables) const {
  return as_usage([&] {
    const Result all{.tables = with_lists(tables)};
    if (tables.empty()) throw Error("cannot write a table: this result has none");
    const Table& table = common_.table.empty() ? tables[0] : all.table(common_.table);
    if (common_.table.empty() && all.tables.size() > 1) {
      note(text("note: this is the first table; --table names another: ",
                join(texts_of(all.tables, &Table::name), ", ")));
    }
    if (common_.csv) return csv_of(table);
    if (common_.latex) return latex_of(table);
    return text_of(table, stdout_width());
  });
}

Json Invocation::json_of(const Output& output) const {
  if (common_.table.empty()) return output.json;
  const Result all{.tables = with_lists(output.tables)};
  Json json = as_usage(
      [&] { return to_json(Result{.about = stamped({}), .tables = {all.table(common_.table)}}); });
  json["command"] = output.json.at("command");
  return json;
}

std::string Invocation::example() const { return command_.example; }

}  // namespace headlab::cli
