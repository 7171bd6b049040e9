// What every task would otherwise write for itself.
// The text form of a task writes every setting, defaults too: a run that names its task so means
// the same task after a default has changed. Read next: table.cc.
#include "tasks/parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headlab {

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

void check_file_name(std::string_view name) {
  for (std::size_t at = name.find(','); at != name.npos;) {
    const std::size_t next = std::min(name.find(',', at + 1), name.size());
    const std::string_view part = name.substr(at + 1, next - at - 1);
    require(!part.empty() && part.find('=') == part.npos, "the parameters of a task could not be ",
            "told from the file name '", name, "': rename it, or link it under a plainer name");
    at = next < name.size() ? next : name.npos;
  }
}

void check_token(std::int32_t token, Index vocab) {
  require(token >= 0 && token < vocab, "there is no token ", token, " in a vocabulary of ", vocab);
}

std::string letter_text(std::int32_t token, Index vocab) {
  check_token(token, vocab);
  if (token < 26) return std::string(1, static_cast<char>('a' + token));
  return token < 52 ? std::string(1, static_cast<char>('A' + token - 26)) : text("#", token);
}

Batch empty_batch(const Task& task, Index count) {
  const TaskShape shape = task.shape();
  return Batch::make(count, shape.length, shape.targets, shape.source_length);
}

std::span<std::int32_t> row(Batch& batch, Index b) {
  const auto length = static_cast<std::size_t>(batch.length);
  return std::span(batch.tokens).subspan(b * length, length);
}

void fill_uniform(std::span<std::int32_t> tokens, Index vocab, Generator& random) {
  for (std::int32_t& token : tokens) token = id(random.below(vocab));
}

std::vector<std::int32_t> draw_distinct(Index n, Index count, Generator& random) {
  std::vector<std::int32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (Index i = 0; i < count; ++i) std::swap(numbers[i], numbers[random.between(i, n - 1)]);
  return numbers;
}

void find_token(std::int32_t token, std::span<const std::int32_t> tokens,
                std::vector<std::int32_t>& found) {
  found.clear();
  for (std::size_t t = 0; t < tokens.size(); ++t)
    if (tokens[t] == token) found.push_back(id(static_cast<Index>(t)));
}

std::vector<std::int32_t> classes_of(std::span<const std::int32_t> tokens, Index classes) {
  std::vector<std::int32_t> all(tokens.begin(), tokens.end());
  for (std::int32_t& token : all) token %= id(classes);
  return all;
}

}  // namespace headlab
