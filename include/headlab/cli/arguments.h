// The command line: flags are settings (base/settings.h), so that `--d-model 64`, `--d-model=64`, a
// config file and a recommended setting all mean the same and fail with the same words. The words
// are taken apart once, when an Invocation is made; `read` gives them their meaning. Read next:
// src/app/cli/commands.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/settings.h"
#include "headlab/base/text.h"
#include "headlab/cli/command.h"

namespace headlab::cli {

/// A wrong command line: the program ends with status 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Runs `action`; an Error that it throws means that the command line is wrong (status 2).
template <class Action>
auto as_usage(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw UsageError(error.what(), error.hint());
  }
}

/// A condition on the rest of a command line.
struct Condition {
  enum class Kind {
    flag,               // a flag is given and does not switch off
    value,              // a setting has one of some values
    first_argument,     // the first argument is a certain word
    several_arguments,  // there is more than one argument
  };
  Kind kind = Kind::flag;
  std::string flag{};                 // the setting of a flag or a value, such as "d_ff"
  std::vector<std::string> values{};  // values of the setting, or the word; "" is the default
};
Condition flag_given(std::string flag);
Condition has_value(std::string flag, std::vector<std::string> values);
Condition first_argument(std::string word);
Condition several_arguments();
/// The condition as a user meets it: "--optimizer sgd", "--grid", "several runs".
std::string text_of(const Condition& condition);

/// When a flag changes the result.
struct FlagRules {
  std::vector<Condition> needs{};     // one of these, if there are any
  std::vector<Condition> excludes{};  // none of these
};

/// The settings of a command as flags: their groups in help, and the rules that say when a flag
/// changes the result. Rules for flags that are not there are passed over.
struct Flags : Settings {
  Flags() = default;
  Flags(Settings settings) : Settings(std::move(settings)) {}

  /// Settings that are added after this belong to the group `title` of help.
  void group(const std::string& title) { group_at(title, names().size()); }
  /// The same from a setting on that is there already.
  void group_at(const std::string& title, std::string_view first_setting);
  /// Each of these flags changes the result only if one of the conditions is met.
  void needs(const std::vector<std::string>& flags, const std::vector<Condition>& conditions);
  /// Each of these flags changes nothing, and is refused, if one of the conditions is met.
  void excludes(const std::vector<std::string>& flags, const std::vector<Condition>& conditions);
  /// Adds other flags with their groups and rules.
  void append(const Flags& others);

  struct Group {
    std::string title;
    std::size_t first;  // the index of its first setting
  };
  std::vector<Group> groups{};
  std::map<std::string, FlagRules> rules{};  // by setting
  /// Flags of earlier versions: understood, so that the command can say what replaces them, and
  /// shown nowhere.
  Settings retired{};
  /// Flags that have another name now, by the old one.
  std::map<std::string, std::string> renamed{};

 private:
  void group_at(const std::string& title, std::size_t first);
};

/// d_model as --d-model.
std::string flag_of(std::string_view setting);
/// Whether a flag is one that every command has, or every command with tables.
bool is_common(std::string_view setting);
/// The flags in their groups, a line for each where 80 columns hold it; common flags are left out.
std::string flags_help(const Flags& flags);
/// Lines for some settings, at most 80 columns wide.
std::string settings_help(const std::vector<Setting>& settings, const Flags& flags);

/// The flags that every command has. Those of tables (csv, latex, table) belong to commands that
/// show tables.
struct CommonFlags {
  bool json = false;
  bool csv = false;
  bool latex = false;
  bool quiet = false;
  bool help = false;
  std::int64_t threads = 0;  // 0: all processors
  std::string table{};

  Flags settings(bool shows_tables);
};

/// Thrown by `read` where --help or -h is among the words: then nothing else matters.
struct HelpWanted {
  std::string text;
  std::vector<Setting> flags{};  // their names, placeholders and help: what they set is gone
};

/// One call of a command: what was given, in which order, and what it means.
class Invocation {
 public:
  /// `words` are those after the command's name; `command` must outlive the call.
  Invocation(const Command& command, std::span<const std::string> words);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  // What can be asked before `read`, because a setting's defaults may depend on it:
  bool wants_help() const { return common_.help; }
  /// Whether the flag of a setting is there.
  bool given(std::string_view setting) const;
  /// The last value of a setting's flag, "" if it has none.
  std::string value(std::string_view setting) const;
  /// The tasks that the line names by --task: its value, and each task in it if it is a list.
  std::vector<std::string> tasks_named() const;

  /// Sets `own`, `more` and those that every command has (--json, --csv ... --help) from the flags;
  /// help lists them in this order. `--name value`, `--name=value`; a value that begins with
  /// -- needs the second form; a boolean is set by `--name` and cleared by `--no-name`, or takes
  /// true or false. UsageError: an unknown flag (nearest match named), a missing or impossible
  /// value, a flag that changes nothing beside the others, the wrong number of positionals.
  /// `more_help` ends the help. To be called once.
  void read(const Flags& own, const Flags& more = {}, const std::string& more_help = "");

  // What is known after `read`:
  bool json() const { return common_.json; }
  /// Whether --csv, --latex or --table asks for a table alone.
  bool wants_table() const { return common_.csv || common_.latex || !common_.table.empty(); }
  /// The table that --table names, or the first, as --csv or --latex asks for it. UsageError if
  /// there is none.
  std::string table_text(const std::vector<Table>& tables) const;
  /// UsageError if --table names none of these.
  void check_table(const std::vector<Table>& tables) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  /// --out FILE, which commands have that keep what they found.
  Flags out_setting();
  /// All settings, those of every command included.
  const Settings& settings() const { return settings_; }
  /// The command line that makes the printed numbers again: the words as they were given, without
  /// those that change no number (--json, --threads, --force, --quiet, --csv, --latex)
  /// and without the flag of `left_out`.
  std::string again(std::string_view left_out = "") const;
  /// The flags alone, each after a space, without those of the settings `left_out`.
  std::string flags_again(const std::vector<std::string>& left_out) const;
  /// The names of retired flags that the command understands.
  std::vector<std::string> retired_names() const { return settings_.retired.names(); }

  const Command& command() const { return command_; }
  /// "for example: headlab ...", the hint of errors.
  std::string example() const;
  /// What the library says of settings, said of flags: `batch` becomes --batch.
  std::string in_flags(const std::string& message) const;

 private:
  /// A flag with what follows it, or a word that is no flag.
  struct Argument {
    std::string flag;  // "--keep", or "" for a word
    std::optional<std::string> value;
    bool joined = false;   // by =
    bool apart = false;    // the value is a positional: a word by itself, or one after a switch
    bool changes = false;  // it is a switch, or gives another value than the preset
  };
  void refuse_table_flags() const;
  void check_table_name() const;
  void rename(Argument& argument) const;
  const Setting& setting_for(const Argument& argument) const;
  void set(const Setting& setting, const Argument& argument) const;
  void add_positional(const std::string& word);
  void check_positionals() const;
  bool meets(const Condition& condition, bool always) const;
  void check_rules() const;
  std::string help(const std::string& more) const;
  UsageError unknown_flag(const std::string& flag) const;

  const Command& command_;
  std::vector<Argument> arguments_;
  std::vector<std::string> positionals_;
  Flags settings_;
  std::string out_;
  CommonFlags common_;
};

/// A row of a list: its name, and from `column` on what it means, in lines of at most 80 columns.
std::string beside(const std::string& name, std::size_t column, const std::string& meaning);
/// A value as it is given on a command line: a text without quotes.
std::string value_text(const Json& value);

}  // namespace headlab::cli
