// What every task would otherwise write for itself.
// The text form of a task writes every setting, defaults too: a run that names its task so means
// the same task after a default has changed. Read next: table.cc.
#include "tasks/parts.h"

#include <vector>

namespace headlab::inline HEADLAB_SCALAR {

std::string spec_text(std::string_view name, const Settings& settings) {
  std::vector<std::string> assignments;
  for (const Setting& setting : settings.all()) {
    const Json value = setting.get();
    const std::string shown = value.is_string() ? value.string() : value.dump();
    assignments.push_back(text(setting.name, "=", shown));
  }
  return text(name, ":", join(assignments, ","));
}

void check_ranges(const Settings& settings, std::string_view name) {
  settings.set_all(settings.to_json(), name);
}

std::string letter_text(std::int32_t token, Index vocab) {
  require(token >= 0 && token < vocab, "there is no token ", token, " in a vocabulary of ", vocab);
  if (token < 26) {
    return std::string(1, static_cast<char>('a' + token));
  }
  return token < 52 ? std::string(1, static_cast<char>('A' + token - 26)) : text("#", token);
}

}  // namespace headlab::inline HEADLAB_SCALAR
