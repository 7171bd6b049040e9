// The ways to draw and to show tokens that several tasks share. What is drawn, and in which order,
// is part of every published number: a change here makes other sequences.
// Read next: table.cc; duplicate.cc, a short task.
#include "headlab/tasks/definition.h"

#include <algorithm>
#include <numeric>

namespace headlab {

void fill_uniform(std::span<std::int32_t> tokens, Index vocab, Generator& random) {
  for (std::int32_t& token : tokens) token = id(random.below(vocab));
}

std::vector<std::int32_t> draw_distinct(Index n, Index count, Generator& random) {
  std::vector<std::int32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (Index i = 0; i < count; ++i) std::swap(numbers[i], numbers[random.between(i, n - 1)]);
  return numbers;
}

std::vector<std::int32_t> find_token(std::int32_t token, std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> found;
  for (Index t = 0; t < std::ssize(tokens); ++t)
    if (tokens[t] == token) found.push_back(id(t));
  return found;
}

std::vector<std::int32_t> classes_of(std::span<const std::int32_t> tokens, Index classes) {
  std::vector<std::int32_t> all(tokens.begin(), tokens.end());
  for (std::int32_t& token : all) token %= id(classes);
  return all;
}

std::string letter_text(Index token) {
  if (token >= 52) return text("#", token);
  return std::string(1, static_cast<char>(token < 26 ? 'a' + token : 'A' + token - 26));
}

}  // namespace headlab
