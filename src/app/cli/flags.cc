// Flags: the rules that say when each changes the result, and their lines in help. Help shows a
// flag on one line of at most 80 columns if it can; the flags that every command has are in
// `headlab --help` alone. Read next: arguments.cc, which applies the rules.
#include <algorithm>
#include <array>

#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Titles in the order of help.
constexpr std::array<std::string_view, 7> kCommon = {"json",  "csv",     "latex", "table",
                                                     "quiet", "threads", "help"};

constexpr std::size_t kNarrowest = 14;  // of the column of flags
constexpr std::size_t kWidest = 28;
constexpr std::string_view kGeneral = "what";
constexpr std::string_view kOutput = "output";

/// Words of help for the values of flags. Numbers have N and X.
constexpr Placeholder kPlaceholders[] = {
    {"TEXT", ValueKind::other},   {"FILE", ValueKind::file},        {"DIR", ValueKind::folder},
    {"RUN", ValueKind::run},      {"TASK", ValueKind::task},        {"NAME", ValueKind::method},
    {"NAME", ValueKind::measure}, {"LAYOUT", ValueKind::layout},    {"NAME", ValueKind::relation},
    {"NAME", ValueKind::table},   {"LAYER.HEAD", ValueKind::heads}, {"TOPIC", ValueKind::topic}};

/// Flag with its placeholder. Long lists of choices become part of the meaning.
struct Usage {
  std::string flag;
  std::string choices{};  // "gelu, relu", or "" if the placeholder names them
};

/// Returns what a value can be: words that are typed as they are, then the placeholder of others.
std::vector<std::string> alternatives_of(const Setting& setting) {
  std::vector<std::string> all = setting.choices;
  if (!setting.placeholder.empty()) all.push_back(setting.placeholder);
  return all;
}

/// Returns "[,...]" after the first value of a list; "" for a single value.
std::string list_form(const Setting& setting) {
  return setting.separator == 0 ? "" : text("[", setting.separator, "...]");
}

Usage usage_of(const Setting& setting) {
  const std::string flag = "  " + flag_of(setting.name);
  if (is_switch(setting)) return {flag};
  const std::string whole = flag + " " + value_form(setting);
  if (setting.choices.size() < 3 || whole.size() + 2 <= kWidest) return {whole};
  const std::vector<std::string> choices = alternatives_of(setting);
  return {flag + " NAME" + list_form(setting), join(choices, ", ")};
}

/// Returns " [default]"; "" if there is none worth showing.
std::string default_text(const Setting& setting) {
  const std::string shown = value_text(setting.get());
  if (is_switch(setting)) {
    const std::string off = "--no-" + flag_of(setting.name).substr(2);
    return shown == "true" && setting.name != "help" ? " [on; " + off + " turns it off]" : "";
  }
  const bool is_empty = shown.empty() || shown == "null" || shown == "{}" || shown == "[]";
  return is_empty ? "" : " [" + shown + "]";
}

std::string meaning_of(const Setting& setting, const Flags& flags) {
  const std::string choices = usage_of(setting).choices;
  std::string meaning = setting.help;
  if (!choices.empty()) meaning += (meaning.empty() ? "" : ": ") + choices;
  meaning += default_text(setting);
  const auto rules = flags.rules.find(setting.name);
  if (rules != flags.rules.end() && !rules->second.needs.empty()) {
    meaning += " (with " + join(texts_of(rules->second.needs, text_of), ", ") + ")";
  }
  return meaning;
}

/// Settings with the title of their group.
struct ShownGroup {
  std::string title;
  std::vector<Setting> settings{};
};

/// Returns the groups in order of first appearance, but with general flags first and the output
/// last. Groups with the same title are merged.
std::vector<ShownGroup> groups_of(const Flags& flags, const std::vector<Setting>& all) {
  std::vector<ShownGroup> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_common(all[i].name)) continue;
    std::string title(kGeneral);
    for (const Flags::Group& group : flags.groups) {
      if (group.first <= i) title = group.title;
    }
    auto found = std::ranges::find(groups, title, &ShownGroup::title);
    if (found == groups.end()) found = groups.insert(groups.end(), ShownGroup{title});
    found->settings.push_back(all[i]);
  }
  const auto rank = [](const ShownGroup& group) {
    if (group.title == kGeneral) return 0;
    return group.title == kOutput ? 2 : 1;
  };
  std::ranges::stable_sort(groups, {}, rank);
  return groups;
}

}  // namespace

bool is_switch(const Setting& setting) { return setting.get().is_bool(); }

Condition flag_given(std::string flag) {
  return {.kind = Condition::Kind::flag, .flag = std::move(flag)};
}

Condition has_value(std::string flag, std::vector<std::string> values) {
  return {.kind = Condition::Kind::value, .flag = std::move(flag), .values = std::move(values)};
}

Condition first_argument(std::string word) {
  return {.kind = Condition::Kind::first_argument, .values = {std::move(word)}};
}

Condition several_arguments() { return {.kind = Condition::Kind::several_arguments}; }

std::string text_of(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::several_arguments:
      return "several runs";
    case Condition::Kind::first_argument:
      return condition.values[0];
    case Condition::Kind::flag:
      return flag_of(condition.flag);
    case Condition::Kind::value:
      break;
  }
  std::vector<std::string> named = condition.values;
  std::erase(named, "");
  return flag_of(condition.flag) + " " + join(named, "|");
}

void Flags::group_at(const std::string& title, std::size_t first) {
  const bool goes_on = !groups.empty() && groups.back().title == title;
  if (!goes_on) groups.push_back({title, first});
}

void Flags::group_at(const std::string& title, std::string_view first_setting) {
  const std::vector<std::string> all = names();
  const auto found = std::ranges::find(all, first_setting);
  if (found != all.end()) group_at(title, static_cast<std::size_t>(found - all.begin()));
}

void Flags::needs(const std::vector<std::string>& flags, const std::vector<Condition>& conditions) {
  for (const std::string& flag : flags) {
    if (find(flag) == nullptr) continue;
    std::vector<Condition>& all = rules[flag].needs;
    all.insert(all.end(), conditions.begin(), conditions.end());
  }
}

void Flags::excludes(const std::vector<std::string>& flags,
                     const std::vector<Condition>& conditions) {
  for (const std::string& flag : flags) {
    if (find(flag) == nullptr) continue;
    std::vector<Condition>& all = rules[flag].excludes;
    all.insert(all.end(), conditions.begin(), conditions.end());
  }
}

void Flags::naming(ValueKind kind, const std::string& setting, std::string& value, std::string help,
                   ValueForm form) {
  const bool has_choices_alone = kind == ValueKind::other && !form.choices.empty();
  if (form.placeholder.empty() && !has_choices_alone) {
    form.placeholder = std::ranges::find(kPlaceholders, kind, &Placeholder::kind)->name;
  }
  Settings one;
  one.string(setting, value, std::move(help), std::move(form.placeholder));
  Setting added = *one.find(setting);
  added.choices = std::move(form.choices);
  added.separator = form.several ? ',' : '\0';
  add(std::move(added));
  kinds[setting] = kind;
}

ValueKind Flags::kind_of(const Setting& setting) const {
  const auto found = kinds.find(setting.name);
  if (found != kinds.end()) return found->second;
  return is_switch(setting) ? ValueKind::on_off : ValueKind::other;
}

void Flags::append(const Flags& others) {
  const std::size_t first = names().size();
  add(others);
  kinds.insert(others.kinds.begin(), others.kinds.end());
  for (const Group& group : others.groups) group_at(group.title, first + group.first);
  for (const auto& [flag, more] : others.rules) {
    needs({flag}, more.needs);
    excludes({flag}, more.excludes);
  }
}

Flags CommonFlags::settings(bool shows_tables, bool several_threads) {
  Flags s;
  s.boolean("json", json, "print the result as one JSON object");
  if (shows_tables) {
    s.boolean("csv", csv, "print CSV; a spreadsheet may read a word as a formula");
    s.boolean("latex", latex, "print a table for LaTeX (booktabs)");
    s.naming(ValueKind::table, "table", table, "the table to print, if there are several");
    s.excludes({"csv", "latex"}, {flag_given("json")});
    s.excludes({"latex"}, {flag_given("csv")});
  }
  s.boolean("quiet", quiet, "print only errors on stderr");
  Settings several;
  several.integers("threads", threads, 0, 1024,
                   "threads (0: all processors); results are the same");
  Setting one = several.all()[0];
  if (!several_threads) one.separator = 0;
  s.add(one);
  s.boolean("help", help, "show the help of a command");
  s.mark_display({kCommon.begin(), kCommon.end()});
  return s;
}

std::string flag_of(std::string_view setting) {
  std::string flag = text("--", setting);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string value_form(const Setting& setting) {
  return join(alternatives_of(setting), "|") + list_form(setting);
}

std::string argument_form(const Positional& argument) {
  std::vector<std::string> alternatives = argument.choices;
  for (const Placeholder& name : argument.names) alternatives.emplace_back(name.name);
  const std::string form = join(alternatives, "|");
  switch (argument.times) {
    case Positional::Times::optional:
      return "[" + form + "]";
    case Positional::Times::repeated:
      return "[" + form + " ...]";
    case Positional::Times::once:
      break;
  }
  return form;
}

bool is_common(std::string_view setting) {
  return std::ranges::find(kCommon, setting) != kCommon.end();
}

/// Returns the column of the meanings of some flags.
static std::size_t column_of(const std::vector<Setting>& settings) {
  std::size_t column = kNarrowest;
  for (const Setting& setting : settings) {
    const std::size_t width = usage_of(setting).flag.size() + 2;
    if (width <= kWidest) column = std::max(column, width);
  }
  return column;
}

std::string settings_help(const std::vector<Setting>& settings, const Flags& flags) {
  const std::size_t column = column_of(settings);
  std::string help;
  for (const Setting& setting : settings) {
    help += beside(usage_of(setting).flag, column, meaning_of(setting, flags));
  }
  return help;
}

std::vector<FlagHelp> flags_of(const std::vector<Setting>& settings, const Flags& flags) {
  std::vector<FlagHelp> all;
  for (const Setting& setting : settings) {
    all.push_back({usage_of(setting).flag.substr(2), meaning_of(setting, flags)});
  }
  return all;
}

std::vector<FlagGroupHelp> flag_groups(const Flags& flags) {
  std::vector<FlagGroupHelp> all;
  const std::vector<ShownGroup> groups = groups_of(flags, flags.all());
  for (const ShownGroup& group : groups) {
    all.push_back({groups.size() == 1 ? "" : group.title, flags_of(group.settings, flags)});
  }
  return all;
}

std::string flags_help(const Flags& flags) {
  std::string help;
  const std::vector<ShownGroup> groups = groups_of(flags, flags.all());
  for (const ShownGroup& group : groups) {
    const bool is_alone = groups.size() == 1;
    help += is_alone ? "\nflags:\n" : "\n" + group.title + ":\n";
    help += settings_help(group.settings, flags);
  }
  return help;
}

std::string usual_flags_help(const Flags& flags) {
  std::string help;
  for (ShownGroup group : groups_of(flags, flags.all())) {
    std::erase_if(group.settings, [&](const Setting& setting) {
      return !std::ranges::count(flags.usual, setting.name, &Flags::Usual::setting);
    });
    if (group.settings.empty()) continue;
    const std::size_t column = column_of(group.settings);
    help += "\n" + group.title + ":\n";
    for (const Setting& setting : group.settings) {
      const auto usual = std::ranges::find(flags.usual, setting.name, &Flags::Usual::setting);
      help += beside(usage_of(setting).flag, column, meaning_of(setting, flags));
      help += beside("", column, usual->when);
    }
  }
  return help;
}

std::string beside(const std::string& name, std::size_t column, const std::string& meaning) {
  constexpr std::size_t kNarrowestMeaning = 16;  // on a narrow terminal
  const std::string blanks(column, ' ');
  const std::size_t width = std::max(text_width(), column + kNarrowestMeaning) - column;
  std::string lines = wrapped(meaning, "", width);
  for (std::size_t at = 0; (at = lines.find('\n', at) + 1) < lines.size();) {
    lines.insert(at, blanks);
  }
  return (display_width(name) + 2 > column ? name + "\n" + blanks : padded(name, column)) + lines;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.string() : value.dump();
}

}  // namespace headlab::cli
