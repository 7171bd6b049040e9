// How words become settings. A word that begins with -- is a flag wherever it stands, so that a
// forgotten value is noticed instead of swallowing the flag after it. Read next: base/settings.h,
// which knows what each value may be.
#include "headlab/cli/arguments.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

std::vector<std::string> flag_names(const Settings& settings) {
  std::vector<std::string> flags;
  for (const std::string& name : settings.names()) flags.push_back(flag_of(name));
  return flags;
}

std::string setting_of(std::string_view flag) {
  std::string name(flag.substr(2));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool is_switch(const Setting& setting) { return setting.get().is_bool(); }

/// One flag with its value, split where it has the form --name=value.
struct Flag {
  std::string flag, value;
  bool has_value = false;

  explicit Flag(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    has_value = equals != std::string::npos;
    flag = argument.substr(0, equals);
    value = has_value ? argument.substr(equals + 1) : "";
  }
};

bool begins_flag(const std::string& argument) { return argument.rfind("--", 0) == 0; }

/// The setting that a flag means, and what the flag is worth if it is a switch: `--no-tied` is
/// false.
const Setting& setting_for(const Settings& settings, Flag& flag) {
  const std::string name = setting_of(flag.flag);
  if (const Setting* setting = settings.find(name)) {
    if (is_switch(*setting) && !flag.has_value) {
      flag.value = "true";
      flag.has_value = true;
    }
    return *setting;
  }
  const Setting* cleared = name.rfind("no_", 0) == 0 ? settings.find(name.substr(3)) : nullptr;
  if (cleared == nullptr || !is_switch(*cleared) || flag.has_value) {
    const Error unknown = unknown_name("flag", flag.flag, flag_names(settings));
    throw UsageError(unknown.what(), unknown.hint());
  }
  flag.value = "false";
  flag.has_value = true;
  return *cleared;
}

/// Sets one flag; returns the name of its setting. `next` is the argument after it, if any.
std::string apply(const Settings& settings, Flag flag, const std::string* next, bool& used_next) {
  const Setting& setting = setting_for(settings, flag);
  if (!flag.has_value) {
    if (next == nullptr || begins_flag(*next)) {
      throw UsageError(text(flag.flag, " needs a value: ", setting.placeholder),
                       text(flag.flag, ": ", setting.help));
    }
    flag.value = *next;
    used_next = true;
  }
  try {
    settings.set_text(setting.name, flag.value);
  } catch (const Error& error) {
    throw UsageError(text(flag.flag, " ", flag.value, ": ", error.what()),
                     error.hint().empty() ? text(flag.flag, ": ", setting.help) : error.hint());
  }
  return setting.name;
}

/// A word that is no flag of ours: an argument, unless it looks like `-x`.
void add_positional(std::vector<std::string>& positionals, const std::string& argument,
                    const Settings& settings) {
  if (argument.size() > 1 && argument[0] == '-') {
    const Error unknown = unknown_name("flag", argument, flag_names(settings));
    throw UsageError(unknown.what(), unknown.hint());
  }
  positionals.push_back(argument);
}

void check_count(const std::vector<std::string>& positionals, const Signature& signature) {
  const std::size_t wanted = signature.positionals.size();
  const std::string hint = "for example: " + signature.example;
  if (positionals.size() < wanted)
    throw UsageError(text("missing argument ", signature.positionals[positionals.size()]), hint);
  if (positionals.size() > wanted && !signature.repeats)
    throw UsageError(text("unexpected argument '", positionals[wanted], "'"), hint);
}

}  // namespace

std::string flag_of(const std::string& setting) {
  std::string flag = "--" + setting;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

bool wants_help(std::span<const std::string> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

std::vector<std::string> parse_arguments(std::span<const std::string> arguments,
                                         const Signature& signature, const Settings& settings,
                                         std::vector<std::string>* given) {
  std::vector<std::string> positionals;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!begins_flag(arguments[i]) || arguments[i].size() == 2) {
      add_positional(positionals, arguments[i], settings);
      continue;
    }
    bool used_next = false;
    const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
    const std::string name = apply(settings, Flag(arguments[i]), next, used_next);
    i += used_next;
    if (given != nullptr) given->push_back(name);
  }
  check_count(positionals, signature);
  return positionals;
}

std::string find_value(std::span<const std::string> arguments, const std::string& flag) {
  std::string value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == flag && i + 1 < arguments.size() && !begins_flag(arguments[i + 1]))
      value = arguments[i + 1];
    if (arguments[i].rfind(flag + "=", 0) == 0) value = arguments[i].substr(flag.size() + 1);
  }
  return value;
}

std::string flags_help(const Settings& settings) {
  std::string help;
  for (const Setting& setting : settings.all()) {
    const bool boolean = is_switch(setting);
    const std::string usage = flag_of(setting.name) + (boolean ? "" : " " + setting.placeholder);
    const Json value = setting.get();
    const std::string shown = value.is_string() ? value.string() : value.dump();
    const std::string preset =
        boolean || shown.empty() || shown == "{}" || shown == "[]" ? "" : " [" + shown + "]";
    help += "  " + padded(usage, std::max<std::size_t>(26, usage.size())) + "  " + setting.help +
            preset + "\n";
  }
  return help;
}

std::string shell_word(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_=+:,./").find(c) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace headlab::cli
