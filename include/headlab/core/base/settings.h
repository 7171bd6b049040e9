// Settings: one table for the command line, config files, recommended settings ("layers=2
// lr=1e-3"), help and errors. A struct of options binds its members once:
//
//   Settings s;
//   s.integer("layers", options.layers, 0, 1000, "blocks in the model");
//
// and `layers` can be set from a flag (--layers 2), from JSON ({"layers": 2}) and from text
// (layers=2).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlab/core/base/json.h"

namespace headlab {

struct Setting {
  std::string name;         // d_model; the flag is --d-model
  std::string placeholder;  // N, X, TEXT: for help; "" if the choices are all that a value can be
  std::string help;
  std::function<void(const Json&)> set;  // sets the value; errors state the allowed values
  std::function<Json()> get;             // null if decided: files omit it
  bool takes_text = false;  // whether a value on the command line is a text even if it looks like a
                            // number
  bool shorthand = false;   // whether it sets other settings, which files name instead
  Json usual{};             // files omit the setting if it has this value; null: never
  bool decided = false;     // whether the task, or the program that wrote the config, decides it:
                            // in files, but no flag
  bool changes_result = true;          // false: only how a result is computed, shown or stored
  std::vector<std::string> choices{};  // values that are typed as they are: "pre", "post"
  char separator = 0;  // between the numbers or words of a list; 0: the setting takes one value
};

class Settings {
 public:
  /// Add whole numbers in [low, high], numbers in [low, high], flags, texts.
  void integer(std::string name, std::int64_t& value, std::int64_t low, std::int64_t high,
               std::string help);
  void real(std::string name, double& value, double low, double high, std::string help);
  void boolean(std::string name, bool& value, std::string help);
  void string(std::string name, std::string& value, std::string help,
              std::string placeholder = "TEXT");
  /// Adds one number, or several (JSON: an array; text: 4,0,2 or 4+0+2), each in [low, high].
  void integers(std::string name, std::vector<std::int64_t>& value, std::int64_t low,
                std::int64_t high, std::string help);
  /// Adds an enumeration: names[i] is the name of value i.
  template <class Enum>
  void choice(std::string name, Enum& value, std::vector<std::string> names, std::string help) {
    add_choice(
        std::move(name), [&value](std::size_t i) { value = static_cast<Enum>(i); },
        [&value] { return static_cast<std::size_t>(value); }, std::move(names), std::move(help));
  }
  void add(Setting setting) { table_.push_back(std::move(setting)); }
  /// Adds all settings of another table, except names that already exist. To list a setting earlier
  /// in help, add it separately before.
  void add(Settings others);
  void mark_decided(const std::vector<std::string>& names);
  /// Marks settings that do not change the result.
  void mark_display(const std::vector<std::string>& names);

  const std::vector<Setting>& all() const& { return table_; }
  std::vector<Setting> all() && { return std::move(table_); }
  std::vector<std::string> names() const;
  const Setting* find(std::string_view name) const;

  /// Sets one setting from JSON or from text. Errors: an unknown name (the nearest match is named),
  /// an ill-typed or impossible value.
  void set(std::string_view name, const Json& value) const;
  void set_text(std::string_view name, std::string_view value) const;
  /// Sets "layers=2 heads=1 lr=1e-3", or with another separator "length=16,vocab=16". The value of
  /// a setting that takes text may contain the separator: a part without `=` continues the value
  /// before it, so "file=tea, coffee.txt,length=16" sets file to "tea, coffee.txt".
  void set_all_text(std::string_view assignments, char separator = ' ') const;
  /// Sets every member of an object. Messages begin with `source`. Members named in `ignored` are
  /// skipped.
  void set_all(const Json& object, std::string_view source,
               const std::vector<std::string>& ignored = {}) const;
  Json to_json() const;

 private:
  void add_choice(std::string name, std::function<void(std::size_t)> set,
                  std::function<std::size_t()> get, std::vector<std::string> names,
                  std::string help);
  const Setting& at(std::string_view name) const;

  std::vector<Setting> table_;
};

}  // namespace headlab
