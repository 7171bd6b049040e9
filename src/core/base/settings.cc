// The table of settings. A value arrives as JSON, or as text that looks like a number or a flag.
// The setting itself checks it, so flags and config files produce the same error messages. Read
// next: src/lab/runs/run.cc, which combines the settings of a run.
#include "headlab/core/base/settings.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

std::int64_t checked_integer(const std::string& name, const Json& json, std::int64_t low,
                             std::int64_t high) {
  require(json.is_number() && json.number() >= static_cast<double>(low) &&
              json.number() <= static_cast<double>(high) &&
              std::floor(json.number()) == json.number(),
          name, " must be a whole number from ", low, " to ", high, ", got ", json.dump());
  return json.integer();
}

/// Converts a text from the command line: to a number or a flag if it looks like one, else to a
/// text. Users write .5, which is not valid JSON.
Json json_of_text(std::string_view value) {
  double number = 0;
  const bool bare_point = !value.empty() && value[0] == '.';
  const bool is_number = parse_number((bare_point ? "0" : "") + std::string(value), number);
  const bool is_rounded = number > 0x1p53 && value.find_first_not_of("0123456789") == value.npos;
  if (is_number && !is_rounded) return number;
  if (value == "true" || value == "false") return value == "true";
  return value.starts_with('{') ? Json::parse(value, "the value") : Json(std::string(value));
}

/// Returns the non-empty pieces of a list.
std::vector<std::string_view> parts_of(std::string_view list, char separator) {
  std::vector<std::string_view> parts = split(list, separator);
  std::erase(parts, std::string_view());
  return parts;
}

/// Converts "4,0,2", "4+0+2" or "[4, 0, 2]", an array or one number to a list of JSON numbers.
Json::Array as_list(const Json& json) {
  if (json.is_array()) return json.items();
  if (!json.is_string()) return {json};
  std::string numbers = json.string();
  std::ranges::replace_if(
      numbers, [](char c) { return c == '[' || c == ']' || c == ' ' || c == '+'; }, ',');
  Json::Array list;
  for (std::string_view part : parts_of(numbers, ',')) list.push_back(json_of_text(part));
  return list;
}

}  // namespace

void Settings::integer(std::string name, std::int64_t& value, std::int64_t low, std::int64_t high,
                       std::string help) {
  add({name, "N", std::move(help),
       [=, &value](const Json& json) { value = checked_integer(name, json, low, high); },
       [&value] { return Json(value); }});
}

void Settings::real(std::string name, double& value, double low, double high, std::string help) {
  const auto set = [=, &value](const Json& json) {
    require(json.is_number() && json.number() >= low && json.number() <= high, name,
            " must be a number from ", low, " to ", high, ", got ", json.dump());
    value = json.number();
  };
  add({name, "X", std::move(help), set, [&value] { return Json(value); }});
}

void Settings::boolean(std::string name, bool& value, std::string help) {
  const auto set = [=, &value](const Json& json) {
    require(json.is_bool(), name, " must be true or false, got ", json.dump());
    value = json.boolean();
  };
  Setting setting{name, "", std::move(help), set, [&value] { return Json(value); }};
  setting.choices = {"true", "false"};
  add(std::move(setting));
}

void Settings::string(std::string name, std::string& value, std::string help,
                      std::string placeholder) {
  const auto set = [=, &value](const Json& json) {
    require(!json.is_array() && !json.is_object() && !json.is_null(), name, " must be a text, got ",
            json.dump());
    value = json.is_string() ? json.string() : json.dump();
  };
  add({name, std::move(placeholder), std::move(help), set, [&value] { return Json(value); }, true});
}

void Settings::integers(std::string name, std::vector<std::int64_t>& value, std::int64_t low,
                        std::int64_t high, std::string help) {
  const auto set = [=, &value](const Json& json) {
    std::vector<std::int64_t> read;
    for (const Json& item : as_list(json)) read.push_back(checked_integer(name, item, low, high));
    require(!read.empty(), name, " needs at least one number, got ", json.dump());
    value = std::move(read);
  };
  const auto get = [&value] { return value.size() == 1 ? Json(value[0]) : Json(value); };
  Setting setting{name, "N", std::move(help), set, get};
  setting.separator = ',';
  add(std::move(setting));
}

void Settings::add_choice(std::string name, std::function<void(std::size_t)> set,
                          std::function<std::size_t()> get, std::vector<std::string> names,
                          std::string help) {
  const auto set_json = [=](const Json& json) {
    const std::string given = json.is_string() ? json.string() : "";
    const auto found = std::ranges::find(names, given);
    if (found == names.end()) {
      const std::string near = nearest_name(given, names);
      throw Error(text(name, " must be one of ", join(names, ", "), "; got ", json.dump(),
                       near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    set(static_cast<std::size_t>(found - names.begin()));
  };
  Setting setting{name, "", std::move(help), set_json, [=] { return Json(names[get()]); }};
  setting.choices = names;
  add(std::move(setting));
}

void Settings::add(Settings others) {
  for (Setting& setting : others.table_) {
    if (find(setting.name) == nullptr) table_.push_back(std::move(setting));
  }
}

void Settings::mark_decided(const std::vector<std::string>& names) {
  for (Setting& setting : table_) {
    setting.decided = setting.decided || std::ranges::find(names, setting.name) != names.end();
  }
}

void Settings::mark_display(const std::vector<std::string>& names) {
  for (Setting& setting : table_) {
    if (std::ranges::find(names, setting.name) != names.end()) setting.changes_result = false;
  }
}

std::vector<std::string> Settings::names() const { return texts_of(table_, &Setting::name); }

const Setting* Settings::find(std::string_view name) const {
  const auto found = std::ranges::find(table_, name, &Setting::name);
  return found == table_.end() ? nullptr : &*found;
}

const Setting& Settings::at(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr) throw unknown_name("setting", name, names());
  return *setting;
}

void Settings::set(std::string_view name, const Json& value) const { at(name).set(value); }

void Settings::set_text(std::string_view name, std::string_view value) const {
  const Setting& setting = at(name);
  setting.set(setting.takes_text ? Json(value) : json_of_text(value));
}

void Settings::set_all_text(std::string_view assignments, char separator) const {
  const Setting* last_text = nullptr;  // the last setting that was set, if it takes a text
  for (std::string_view part : parts_of(assignments, separator)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos && last_text != nullptr) {
      last_text->set(last_text->get().string() + separator + std::string(part));
      continue;
    }
    require(equals != std::string_view::npos && equals > 0, "expected NAME=VALUE, got '", part,
            "'");
    const Setting& setting = at(part.substr(0, equals));
    require(!setting.takes_text || equals + 1 < part.size(), setting.name,
            " needs a value, and got an empty one");
    set_text(setting.name, part.substr(equals + 1));
    last_text = setting.takes_text ? &setting : nullptr;
  }
}

void Settings::set_all(const Json& object, std::string_view source,
                       const std::vector<std::string>& ignored) const {
  require(object.is_object(), "cannot read ", source, ": expected an object of settings, got ",
          object.kind());
  for (const Json::Member& member : object.members()) {
    if (std::ranges::find(ignored, member.first) == ignored.end()) {
      in_context(text("cannot read ", source), [&] { set(member.first, member.second); });
    }
  }
}

Json Settings::to_json() const {
  Json object = Json::object();
  for (const Setting& setting : table_) {
    Json value = setting.get();
    const bool is_usual = !setting.usual.is_null() && value == setting.usual;
    const bool left_out = setting.shorthand || is_usual || (setting.decided && value.is_null());
    if (!left_out) object[setting.name] = std::move(value);
  }
  return object;
}

}  // namespace headlab
