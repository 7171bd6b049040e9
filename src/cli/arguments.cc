#include "headlab/cli/arguments.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

std::vector<std::string> flag_names(const Settings& settings) {
  std::vector<std::string> flags;
  for (const std::string& name : settings.names()) {
    flags.push_back(flag_of(name));
  }
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

/// Sets one flag; returns the name of its setting. `next` is the argument after it, if any.
std::string apply(const Settings& settings, Flag flag, const std::string* next, bool& used_next) {
  std::string name = setting_of(flag.flag);
  const Setting* setting = settings.find(name);
  if (setting == nullptr && name.rfind("no_", 0) == 0 && settings.find(name.substr(3)) != nullptr &&
      is_switch(*settings.find(name.substr(3))) && !flag.has_value) {
    name = name.substr(3);
    setting = settings.find(name);
    flag.value = "false";
  } else if (setting == nullptr) {
    const Error unknown = unknown_name("flag", flag.flag, flag_names(settings));
    throw UsageError(unknown.what(), unknown.hint());
  } else if (!flag.has_value && is_switch(*setting)) {
    flag.value = "true";
  } else if (!flag.has_value) {
    if (next == nullptr) {
      throw UsageError(text(flag.flag, " needs a value: ", setting->placeholder), setting->help);
    }
    flag.value = *next;
    used_next = true;
  }
  try {
    settings.set_text(name, flag.value);
  } catch (const Error& error) {
    throw UsageError(text(flag.flag, " ", flag.value, ": ", error.what()), error.hint());
  }
  return name;
}

}  // namespace

std::string flag_of(const std::string& setting) {
  std::string flag = "--" + setting;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::vector<std::string> parse_arguments(std::span<const std::string> arguments,
                                         const Signature& signature, const Settings& settings,
                                         std::vector<std::string>* given) {
  std::vector<std::string> positionals;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].rfind("--", 0) != 0 || arguments[i].size() == 2) {
      positionals.push_back(arguments[i]);
      continue;
    }
    bool used_next = false;
    const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
    const std::string name = apply(settings, Flag(arguments[i]), next, used_next);
    i += used_next;
    if (given != nullptr) {
      given->push_back(name);
    }
  }
  const std::size_t most = signature.positionals.size(), least = most - signature.optional_last;
  if (positionals.size() < least) {
    throw UsageError(text("missing argument ", signature.positionals[positionals.size()]),
                     "see --help for an example");
  }
  if (positionals.size() > most) {
    throw UsageError(text("unexpected argument '", positionals[most], "'"),
                     "flags begin with --; see --help for an example");
  }
  return positionals;
}

std::string find_value(std::span<const std::string> arguments, const std::string& flag) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == flag && i + 1 < arguments.size()) {
      return arguments[i + 1];
    }
    if (arguments[i].rfind(flag + "=", 0) == 0) {
      return arguments[i].substr(flag.size() + 1);
    }
  }
  return "";
}

std::string flags_help(const Settings& settings) {
  std::string help;
  for (const Setting& setting : settings.all()) {
    const bool boolean = is_switch(setting);
    const std::string usage = flag_of(setting.name) + (boolean ? "" : " " + setting.placeholder);
    const Json value = setting.get();
    const std::string shown = value.is_string() ? value.string() : value.dump();
    const std::string preset = boolean || shown.empty() || shown == "{}" ? "" : " [" + shown + "]";
    help += "  " + padded(usage, std::max<std::size_t>(26, usage.size())) + "  " + setting.help +
            preset + "\n";
  }
  return help;
}

}  // namespace headlab::cli
