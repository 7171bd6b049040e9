// Command line parsing. Flags are settings (core/base/settings.h), so `--d-model 64`,
// `--d-model=64`, a config file and a recommended setting have the same meaning and the same error
// messages. An Invocation splits the words when it is created; `read` interprets them. Read next:
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

#include "headlab/app/cli/command.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/settings.h"
#include "headlab/core/base/text.h"

namespace headlab::cli {

/// Error in the command line: the program ends with status 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Runs `action`; an Error that it throws becomes a UsageError (status 2).
template <class Action>
auto as_usage(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw UsageError(error.what(), error.hint());
  }
}

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
/// Returns the condition as shown to a user: "--optimizer sgd", "--grid", "several runs".
std::string text_of(const Condition& condition);

/// Conditions under which a flag changes the result.
struct FlagRules {
  std::vector<Condition> needs{};     // one of these, if there are any
  std::vector<Condition> excludes{};  // none of these
};

/// How help writes the value of a flag, and what completion offers besides things of its kind.
struct ValueForm {
  std::string placeholder{};  // in capitals; "": that of its kind, none if only choices are read
  std::vector<std::string> choices{};  // words that are typed as they are
  bool several = false;                // whether the value is a list, separated by commas
};

/// Settings of a command as flags: their groups in help, and the rules that decide when a flag
/// changes the result. Rules for flags that do not exist are ignored.
struct Flags : Settings {
  /// Whether --threads may be several numbers, each for a measurement of its own.
  bool takes_several_threads = false;
  Flags() = default;
  Flags(Settings settings) : Settings(std::move(settings)) {}

  /// Starts the group `title` of help for settings added after this call.
  void group(const std::string& title) { group_at(title, names().size()); }
  /// Starts the group `title` at a setting that already exists.
  void group_at(const std::string& title, std::string_view first_setting);
  /// Adds a text that names something of this kind.
  void naming(ValueKind kind, const std::string& setting, std::string& value, std::string help,
              ValueForm form = {});
  /// Declares that each of these flags changes the result only if one of the conditions is met.
  void needs(const std::vector<std::string>& flags, const std::vector<Condition>& conditions);
  /// Declares that each of these flags changes nothing, and is refused, if one of the conditions is
  /// met.
  void excludes(const std::vector<std::string>& flags, const std::vector<Condition>& conditions);
  void append(const Flags& others);

  /// A flag of the short help, with a line that says when to change it.
  struct Usual {
    std::string setting;
    std::string when;
  };
  /// The flags that --help shows; --help all shows every flag. Empty: --help shows all.
  std::vector<Usual> usual{};

  struct Group {
    std::string title;
    std::size_t first;  // the index of its first setting
  };
  std::vector<Group> groups{};
  std::map<std::string, FlagRules> rules{};  // by setting
  std::map<std::string, ValueKind> kinds{};  // by setting; of others see kind_of
  ValueKind kind_of(const Setting& setting) const;

 private:
  void group_at(const std::string& title, std::size_t first);
};

/// Returns the flag of a setting: --d-model for d_model.
std::string flag_of(std::string_view setting);
/// Returns the value of a setting as help writes it: "N", "pre|post", "LAYER.HEAD[,...]".
std::string value_form(const Setting& setting);
/// Returns an argument as help writes it: "RUN", "[all|LAYER.HEAD]", "[RUN ...]".
std::string argument_form(const Positional& argument);
/// Returns whether a flag is common to every command, or to every command with tables.
bool is_common(std::string_view setting);
/// Returns all flags in their groups, a line for each if it fits in 80 columns; common flags are
/// left out.
std::string flags_help(const Flags& flags);
/// Returns the usual flags in their groups, each with the line that says when to change it.
std::string usual_flags_help(const Flags& flags);
/// A flag as help shows it ("--d-model N"), and its meaning with the default.
struct FlagHelp {
  std::string flag, meaning;
};
/// Flags with the title of their group; "" if there is only one group.
struct FlagGroupHelp {
  std::string title;
  std::vector<FlagHelp> flags{};
};
std::vector<FlagGroupHelp> flag_groups(const Flags& flags);
std::vector<FlagHelp> flags_of(const std::vector<Setting>& settings, const Flags& flags);
/// Returns lines for some settings, at most 80 columns wide.
std::string settings_help(const std::vector<Setting>& settings, const Flags& flags);

/// Flags that every command has. Only commands that show tables have the flags csv, latex and
/// table.
struct CommonFlags {
  bool json = false;
  bool csv = false;
  bool latex = false;
  bool quiet = false;
  bool help = false;
  std::vector<std::int64_t> threads{0};  // 0: all processors
  std::string table{};

  Flags settings(bool shows_tables, bool several_threads);
};

/// Exception thrown by `read` if --help or -h is among the words; nothing else matters then.
struct HelpWanted {
  std::string text;
  std::vector<Setting>
      flags{};  // names, placeholders and help only: the variables that they set no longer exist
  std::map<std::string, ValueKind> kinds{};  // of these flags, by setting
  std::vector<FlagGroupHelp> groups{};       // the flags in groups, without the common ones
};

/// One call of a command: its words, their order, and their meaning.
class Invocation {
 public:
  /// Splits `words`, those after the command's name; `command` must outlive the call.
  Invocation(const Command& command, std::span<const std::string> words);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  // Available before `read`, because defaults of settings may depend on it:
  bool wants_help() const { return common_.help; }
  /// Returns whether all flags are to be explained: `--help all`.
  bool wants_full_help() const { return common_.help && value("help") == "all"; }
  bool given(std::string_view setting) const;
  /// Returns the last value of a setting's flag, "" if it has none.
  std::string value(std::string_view setting) const;
  /// Returns the tasks named by --task: its value, and each task in it if it is a list.
  std::vector<std::string> tasks_named() const;

  /// Sets `own`, `more` and the common flags (--json, --csv ... --help) from the words; help lists
  /// them in this order. Accepts `--name value` and `--name=value`; a value that begins with --
  /// needs the second form. A boolean is set by `--name` and cleared by `--no-name`, or takes true
  /// or false. UsageError: an unknown flag (with the nearest match), a missing or impossible value,
  /// a flag that changes nothing in this combination, the wrong number of positionals. `more_help`
  /// ends the help. Call it once.
  void read(const Flags& own, const Flags& more = {}, const std::string& more_help = "");

  // Available after `read`:
  bool json() const { return common_.json; }
  /// Returns the JSON to print: the whole result, or with --table that table alone.
  Json json_of(const Output& output) const;
  /// Returns whether --csv, --latex or --table asks for a table alone.
  bool wants_table() const { return common_.csv || common_.latex || !common_.table.empty(); }
  /// Returns the table that --table names, or the first, in the format of --csv or --latex.
  /// UsageError if there is none.
  std::string table_text(const std::vector<Table>& tables) const;
  /// Throws a UsageError if --table names none of these.
  void check_table(const std::vector<Table>& tables) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  /// Returns the numbers given by --threads; 0: all processors.
  const std::vector<std::int64_t>& threads() const { return common_.threads; }
  /// Returns the setting --out FILE of commands that store their result. if_asked: only there, and
  /// not in the run without it.
  Flags out_setting(bool if_asked = false);
  /// Returns all settings, including the common ones.
  const Settings& settings() const { return settings_; }
  /// Returns the command line that reproduces the printed numbers: the words as given, without
  /// those that change no number (--json, --threads, --force, --quiet, --csv, --latex) and without
  /// the flag of `left_out`.
  std::string again(std::string_view left_out = "") const;
  /// Returns the same command line with `other` in place of a word or value.
  std::string again_with(const std::string& word, const std::string& other) const;
  /// Returns the flags alone, each after a space, without those of the settings `left_out`.
  std::string flags_again(const std::vector<std::string>& left_out) const;

  const Command& command() const { return command_; }
  /// Whether results are stored in the folders of their runs. A page that cannot write a run clears
  /// it, and shows what the command found.
  bool keeps_results = true;
  /// Returns "headlab ...", a command line of this kind: the hint of errors.
  std::string example() const;
  /// Returns a message of the library with settings replaced by flags: `batch` becomes --batch.
  std::string in_flags(const std::string& message) const;

 private:
  /// Flag with its value, or a word that is no flag.
  struct Argument {
    std::string flag;  // "--keep", or "" for a word
    std::optional<std::string> value;
    bool joined = false;   // whether the value follows =
    bool apart = false;    // the value is a positional: a word by itself, or one after a switch
    bool changes = false;  // it is a switch, or gives another value than the preset
    bool is_word = false;  // it follows `--`, after which no word is a flag
  };
  void refuse_table_flags() const;
  void check_table_name() const;
  void check_words() const;
  const Setting& setting_for(const Argument& argument) const;
  void set(const Setting& setting, const Argument& argument) const;
  void refuse_range(const Setting& setting, const Argument& argument,
                    const std::string& value) const;
  void add_positional(const std::string& word, bool follows_end);
  void check_positionals() const;
  std::string flag_meant_by(const std::string& word) const;
  std::string again_with_flag(const std::string& setting, std::size_t count) const;
  std::string line_of(const std::vector<Argument>& arguments, std::string_view left_out) const;
  bool meets(const Condition& condition, bool always) const;
  void check_rules() const;
  HelpWanted help(const std::string& more) const;
  UsageError unknown_flag(const std::string& flag) const;

  const Command& command_;
  std::vector<Argument> arguments_;
  std::vector<std::string> positionals_;
  Flags settings_;
  std::string out_;
  bool stores_if_asked_ = false;
  CommonFlags common_;
};

/// Returns a row of a list: a name, and from `column` on its meaning, in lines of at most 80
/// columns.
std::string beside(const std::string& name, std::size_t column, const std::string& meaning);
/// Returns a value as written on a command line: a text without quotes.
std::string value_text(const Json& value);

}  // namespace headlab::cli
