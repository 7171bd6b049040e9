// How words become settings. A word that begins with -- is a flag wherever it stands, so that a
// forgotten value is noticed instead of swallowing the flag after it. Whether the word after a
// flag is its value is known only when the settings are: a switch leaves it to the positionals.
// Read next: base/settings.h, which knows what each value may be.

#include <glob.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <system_error>

#include "cli/commands.h"
#include "headlab/heads/analyses.h"

namespace headlab::cli {
namespace {

/// Flags that change how results are shown, and nothing in them.
constexpr std::array<std::string_view, 8> kNoNumbers = {"--jobs",  "--json", "--force", "--threads",
                                                        "--quiet", "--csv",  "--latex", "--table"};

/// Flags of other programs and of earlier versions, of commands with the setting `beside`.
constexpr struct {
  const char *flags, *beside, *instead;
} kElsewhere[] = {{"--epochs", "steps", "did you mean '--steps'?"},
                  {"--batch-size", "batch", "did you mean '--batch'?"},
                  {"--learning-rate", "lr", "did you mean '--lr'?"},
                  {"--output|-o", "out", "did you mean '--out'?"},
                  {"--shard", "jobs",
                   "the same command, given to several processes, shares the work"},
                  {"--prune|--keep|--finetune|--from-scratch|--gate-steps", "collect",
                   "the runs of a sweep are pruned by `headlab curve SWEEP/GROUP`"}};

bool is_switch(const Setting& setting) { return setting.get().is_bool(); }

/// The flags that choose and format a table, which commands without tables do not have.
constexpr std::array<const char*, 3> kTableFlags = {"csv", "latex", "table"};

/// The names of the tables of a command; empty if they are known only when it is done.
std::vector<std::string> table_names(const Command& command) {
  const auto analysis = std::ranges::find(analyses(), command.name, &Analysis::name);
  if (analysis != analyses().end()) return texts_of(analysis->shape().tables, &Table::name);
  if (command.tables == kAnyTable) return {};
  return texts_of(split(command.tables, ' '), std::identity());
}

/// Whether `name` is one of these tables, or a part of one: a column of lists makes the table
/// NAME.COLUMN, and each of several heads NAME HEAD.
bool names_table(const std::string& name, const std::vector<std::string>& tables) {
  return std::ranges::any_of(tables, [&](const std::string& table) {
    const char next = name.size() > table.size() ? name[table.size()] : '\0';
    return name == table || (name.starts_with(table) && (next == '.' || next == ' '));
  });
}

/// "true", "false", or a list of these.
bool says_boolean(const std::string& value) {
  return std::ranges::all_of(split(value, ','), [](std::string_view part) {
    return part == "true" || part == "false";
  });
}

/// "optimizer=sgd" as --optimizer sgd.
std::string mode_text(std::string mode) {
  if (mode[0] == '@') return mode.substr(1);
  const std::size_t equals = std::min(mode.find('='), mode.size());
  mode.replace(equals, mode.substr(equals, 2) == "=|" ? 2 : 1, equals < mode.size() ? " " : "");
  return flag_of(mode.substr(0, equals)) + mode.substr(equals);
}

/// The modes of a flag, without those with which it does not go.
std::string needs_of(std::vector<std::string> needs) {
  std::erase_if(needs, [](const std::string& mode) { return mode[0] == '!'; });
  return join(texts_of(needs, mode_text), ", ");
}

std::string modes_help(const std::vector<std::string>& modes) {
  std::string all = needs_of(modes);
  for (const std::string& mode : modes)
    if (mode[0] == '!')
      all += (all.empty() ? "" : ", ") + ("not with " + mode_text(mode.substr(1)));
  return all.empty() ? "" : " (" + (all.starts_with("not") ? "" : std::string("with ")) + all + ")";
}

std::string flags_help(Flags settings) {
  std::string help;
  for (const Setting& setting : settings.all()) {
    const bool boolean = is_switch(setting);
    const std::string usage = flag_of(setting.name) + (boolean ? "" : " " + setting.placeholder);
    const std::string shown = value_text(setting.get());
    const bool nothing =
        boolean || shown.empty() || shown == "null" || shown == "{}" || shown == "[]";
    std::string preset = nothing ? "" : " [" + shown + "]";
    if (shown == "true" && setting.name != "help")
      preset = " [on; --no" + usage.substr(1) + " turns it off]";
    help +=
        beside("  " + usage, 30, setting.help + preset + modes_help(settings.modes[setting.name]));
  }
  return help;
}

}  // namespace

void Flags::only(const std::vector<std::string>& names, const std::vector<std::string>& with) {
  for (const std::string& name : names)
    if (find(name) != nullptr) modes[name].insert(modes[name].end(), with.begin(), with.end());
}

std::string flag_of(std::string_view setting) {
  std::string flag = text("--", setting);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

Invocation::Invocation(const Command& command, std::span<const std::string> words)
    : command_(command) {
  wants_help_ =
      std::ranges::any_of(words, [](const auto& word) { return word == "--help" || word == "-h"; });
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || word.size() == 2)
      arguments_.push_back({.flag = "", .value = word, .apart = true});
    else if (equals != word.npos)
      arguments_.push_back({word.substr(0, equals), word.substr(equals + 1), true});
    else if (i + 1 < words.size() && !words[i + 1].starts_with("--"))
      arguments_.push_back({word, words[++i]});
    else
      arguments_.push_back({word, std::nullopt});
  }
}

bool Invocation::given(std::string_view setting) const {
  return std::ranges::find(arguments_, flag_of(setting), &Argument::flag) != arguments_.end();
}

std::string Invocation::value(std::string_view setting) const {
  std::string value;
  for (const Argument& argument : arguments_)
    if (argument.flag == flag_of(setting)) value = argument.value.value_or(value);
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
  settings_.add(more);
  for (const auto& [name, modes] : more.modes) settings_.only({name}, modes);
  settings_.boolean("json", json_, "print the result as one JSON object and nothing else");
  if (command_.tables.empty())
    refuse_table_flags();
  else
    add_table_flags();
  settings_.boolean("quiet", quiet_, "say nothing on stderr but errors");
  settings_.integer("threads", threads_, 0, 1024,
                    "threads to use (0: all processors); results do not depend on it");
  settings_.boolean("help", wants_help_, "show this help");
  if (wants_help_) throw HelpWanted{help() + more_help, settings_.all()};
  std::set<std::string> seen;
  for (Argument& argument : arguments_) {
    if (!argument.flag.empty()) {
      const Setting& setting = setting_for(argument);
      const bool says = argument.value && says_boolean(*argument.value);
      if (!seen.insert(setting.name).second)
        throw UsageError(text(flag_of(setting.name), " is given twice"), "leave one of them out");
      argument.apart = is_switch(setting) && !argument.joined && !says;
      const Json preset = setting.get();
      set(setting, argument);
      argument.changes = is_switch(setting) || setting.get() != preset;
    }
    if (argument.apart && argument.value) add_positional(*argument.value);
  }
  check_positionals();
  check_modes();
  check_table_name();
  if (threads_ > 0) set_thread_count(static_cast<int>(threads_));
  set_quiet(quiet_);
}

void Invocation::add_table_flags() {
  settings_.boolean("csv", csv_, "print a table alone, as CSV with numbers in full");
  settings_.boolean("latex", latex_, "print a table alone, for LaTeX with booktabs");
  settings_.string("table", table_, "which table, where there are several", "NAME");
  settings_.only({"csv", "latex", "table"}, {"!json"});
  settings_.only({"latex"}, {"!csv"});
}

/// UsageError for a flag of tables: the command has none.
void Invocation::refuse_table_flags() const {
  for (const char* flag : kTableFlags)
    if (given(flag))
      throw UsageError(text("`headlab ", command_.name, "` has no table for ", flag_of(flag)),
                       text("leave ", flag_of(flag), " out"));
}

/// UsageError, before any work, for a table that no result of the command has.
void Invocation::check_table_name() const {
  const std::vector<std::string> known =
      table_.empty() ? std::vector<std::string>() : table_names(command_);
  if (known.empty() || names_table(table_, known)) return;
  as_usage([&] { throw unknown_name("table", table_, known); });
}

/// The setting that a flag means; `--no-tied` means `tied`.
const Setting& Invocation::setting_for(const Argument& argument) const {
  std::string name = argument.flag.substr(2);
  std::ranges::replace(name, '-', '_');
  if (const Setting* setting = settings_.find(name)) return *setting;
  if (const Setting* setting = settings_.retired.find(name)) return *setting;
  const Setting* cleared = name.starts_with("no_") ? settings_.find(name.substr(3)) : nullptr;
  if (cleared == nullptr || !is_switch(*cleared) || argument.joined)
    throw unknown_flag(argument.flag);
  return *cleared;
}

void Invocation::set(const Setting& setting, const Argument& argument) const {
  const std::string help = text(argument.flag, ": ", setting.help);
  std::string value;
  if (argument.apart)
    value = argument.flag == flag_of(setting.name) ? "true" : "false";
  else if (argument.value)
    value = *argument.value;
  else
    throw UsageError(text(argument.flag, " needs a value: ", setting.placeholder), help);
  if (value.empty())  // of a variable that is not set, most likely
    throw UsageError(text(argument.flag, " needs a value, and got an empty one"), help);
  try {
    const bool is_retired = settings_.find(setting.name) == nullptr;
    (is_retired ? settings_.retired : settings_).set_text(setting.name, value);
  } catch (const Error& error) {
    throw UsageError(text(argument.flag, " ", value, ": ", error.what()),
                     error.hint().empty() ? help : error.hint());
  }
}

/// A word that is no flag of ours: an argument, unless it looks like `-x`; of a pattern such as
/// sweeps/x/seed=? the paths that match.
void Invocation::add_positional(const std::string& word) {
  if (word.size() > 1 && word[0] == '-') throw unknown_flag(word);
  std::error_code ignored;
  glob_t found{};
  if (word.find_first_of("*?[") != word.npos && !std::filesystem::exists(word, ignored) &&
      glob(word.c_str(), 0, nullptr, &found) == 0)
    positionals_.insert(positionals_.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  else
    positionals_.push_back(word);
  globfree(&found);
}

void Invocation::check_positionals() const {
  std::istringstream wanted(command_.positionals);
  std::size_t count = 0;
  for (std::string name; wanted >> name; ++count) {
    if (name[0] == '[' && name.back() != ']') return;  // more may follow
    if (name[0] != '[' && (count == positionals_.size() || positionals_[count].empty()))
      throw UsageError("missing argument " + name, example());
  }
  if (positionals_.size() <= count) return;
  const std::string& word = positionals_[count];
  const bool task = settings_.find("task") != nullptr &&
                    std::ranges::count(texts_of(task_table(), &TaskEntry::name), word) > 0;
  throw UsageError(text("unexpected argument '", word, "'"),
                   task ? text("did you mean --task ", word, "?") : example());
}

/// Whether a mode of a table of flags is there; `always`: in each of a list of values.
bool Invocation::in_mode(const std::string& mode, bool always) const {
  if (mode == kSeveralRuns) return positionals_.size() > 1;
  if (mode[0] == '@') return !positionals_.empty() && positionals_[0] == mode.substr(1);
  const std::size_t equals = mode.find('=');
  const Setting* setting = settings_.find(mode.substr(0, equals));
  if (setting == nullptr) return false;
  if (equals == mode.npos) return given(mode) && setting->get() != Json(false);
  const std::string given_values = value_text(setting->get());
  const auto wanted = split(std::string_view(mode).substr(equals + 1), '|');
  const auto is_wanted = [&](std::string_view one) { return std::ranges::count(wanted, one) > 0; };
  const auto values = split(given_values, ',');
  return always ? std::ranges::all_of(values, is_wanted) : std::ranges::any_of(values, is_wanted);
}

/// UsageError for the first flag that changes nothing beside the others.
void Invocation::check_modes() const {
  for (const Argument& argument : arguments_) {
    if (!argument.changes) continue;
    const Setting& setting = setting_for(argument);
    const auto found = settings_.modes.find(setting.name);
    if (found == settings_.modes.end()) continue;
    const std::string needs = needs_of(found->second);
    bool met = needs.empty();
    for (const std::string& mode : found->second) {
      met = met || (mode[0] != '!' && in_mode(mode, false));
      if (mode[0] == '!' && in_mode(mode.substr(1), true))
        throw UsageError(text(argument.flag, " does not go with ", mode_text(mode.substr(1))),
                         "leave one of them out");
    }
    if (!met)
      throw UsageError(text(argument.flag, " goes with ", needs),
                       text("add that, or leave ", argument.flag, " out"));
  }
}

UsageError Invocation::unknown_flag(const std::string& flag) const {
  for (const auto& [flags, beside, instead] : kElsewhere)
    if (std::ranges::count(split(flags, '|'), flag) > 0 && settings_.find(beside) != nullptr)
      return UsageError(text("unknown flag '", flag, "'; ", instead), example());
  const Error unknown = unknown_name("flag", flag, texts_of(settings_.names(), flag_of));
  const bool near = std::string_view(unknown.what()).find("did you") != std::string_view::npos;
  return UsageError(unknown.what(),
                    near ? example() : text("headlab ", command_.name, " --help lists them"));
}

std::string Invocation::help() const {
  return text("example: ", command_.example, "\n\n", command_.summary, "\n\nusage: headlab ",
              command_.name, command_.positionals.empty() ? "" : " ", command_.positionals,
              " [flags]\n", flags_help(settings_));
}

Flags Invocation::out_setting() {
  Flags s;
  s.string("out", out_, "keep what is found in this file, and not beside the run", "FILE");
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
  std::string line = text(program_call(), " ", command_.name);
  for (const auto& [flag, value, joined, apart, changes] : arguments_) {
    const bool dropped = std::ranges::find(kNoNumbers, flag) != kNoNumbers.end() ||
                         (!left_out.empty() && flag == flag_of(left_out));
    if (!flag.empty() && !dropped) line += " " + shell_word(joined ? flag + "=" + *value : flag);
    if (value && !joined && (apart || !dropped)) line += " " + shell_word(*value);
  }
  return line;
}

void Invocation::check_table(const std::vector<Table>& tables) const {
  if (!table_.empty())
    as_usage([&] { return &Finding{.tables = with_lists(tables)}.table(table_); });
}

std::string Invocation::table_text(const std::vector<Table>& tables) const {
  return as_usage([&] {
    const Finding finding{.tables = with_lists(tables)};
    if (tables.empty()) throw Error("there is no table in this result");
    const Table& table = table_.empty() ? tables[0] : finding.table(table_);
    if (table_.empty() && finding.tables.size() > 1)
      note(text("note: this is the first table; --table names another: ",
                join(texts_of(finding.tables, &Table::name), ", ")));
    return csv_ ? csv_of(table) : latex_ ? latex_of(table) : text_of(table, stdout_width());
  });
}

std::string Invocation::example() const { return text("for example: ", command_.example); }

std::string Invocation::in_flags(const std::string& message) const {
  std::string said = message;
  for (const std::string& name : settings_.names())
    for (std::size_t at; (at = said.find("`" + name + "`")) != said.npos;)
      said.replace(at, name.size() + 2, flag_of(name));
  return said;
}

std::string beside(const std::string& name, std::size_t column, const std::string& meaning) {
  const std::string blanks(column, ' ');
  std::string lines = wrapped(meaning, "", 80 - column);
  for (std::size_t at = 0; (at = lines.find('\n', at) + 1) < lines.size();)
    lines.insert(at, blanks);
  return (display_width(name) + 2 > column ? name + "\n" + blanks : padded(name, column)) + lines;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.string() : value.dump();
}

}  // namespace headlab::cli
