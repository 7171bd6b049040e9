// Ground truth and functions shared by tasks. Ground-truth sets are stored as one list of keys with
// the index at which each query's keys begin: a batch has thousands of queries with one key each,
// and a vector for each would cost more than the training step. The order of random draws affects
// every published number: changing it changes all sequences. Read next: table.cc.
#include "headlab/core/tasks/task.h"

#include <algorithm>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"

namespace headlab {

const char* kind_name(AttentionKind kind) {
  constexpr const char* kNames[] = {"self", "encoder", "cross"};
  return kNames[static_cast<int>(kind)];
}

Json to_json(const Relation& relation) {
  return Json::object({{"name", relation.name},
                       {"description", relation.description},
                       {"positional", relation.positional},
                       {"kind", kind_name(relation.kind)}});
}

void GroundTruth::add(Index b, Index t, std::span<const std::int32_t> keys) {
  const Place place{b, t};
  require(!keys.empty() && std::ranges::is_sorted(keys),
          "cannot add ground truth: the keys of a query must be ascending, and at least one");
  require(at_.empty() || at_.back() < place,
          "cannot add ground truth: queries must come in ascending order");
  at_.push_back(place);
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  begin_.push_back(keys_.size());
}

void GroundTruth::add(Index b, Index t, Index key) {
  const auto one = static_cast<std::int32_t>(key);
  add(b, t, std::span(&one, 1));
}

GroundTruth::Query GroundTruth::query(Index i) const {
  return {at_[i].b, at_[i].t, std::span(keys_).subspan(begin_[i], begin_[i + 1] - begin_[i])};
}

std::span<const std::int32_t> GroundTruth::keys(Index b, Index t) const {
  const auto found = std::lower_bound(at_.begin(), at_.end(), Place{b, t});
  if (found == at_.end() || *found != Place{b, t}) return {};
  return query(found - at_.begin()).keys;
}

Example Task::example_of(std::span<const std::int32_t> tokens) const {
  Example example{Batch::make(1, std::ssize(tokens), shape().targets), {}};
  example.batch.tokens.assign(tokens.begin(), tokens.end());
  return example;
}

Batch Task::make_batch(Key key, Index count, Split split) const {
  return make(key, count, split).batch;
}

std::vector<std::int32_t> Task::encode(std::string_view words) const {
  std::vector<std::string> known;
  for (std::int32_t token = 0; token < shape().vocab; ++token) known.push_back(token_text(token));
  std::vector<std::int32_t> tokens;
  for (const std::string_view word : split(words, ' ')) {
    if (word.empty()) continue;
    auto found = std::ranges::find(known, word);
    if (found == known.end()) found = std::ranges::find(known, "<unk>");
    if (found == known.end()) throw unknown_name("token", word, known);
    tokens.push_back(static_cast<std::int32_t>(found - known.begin()));
  }
  return tokens;
}

std::string Task::decode(std::span<const std::int32_t> tokens) const {
  return join(texts_of(tokens, [&](std::int32_t token) { return token_text(token); }), " ");
}

// ---- shared by definitions of tasks

std::vector<Index> units_in_turn(Index n, Index count, Key key) {
  std::vector<Index> turns;
  for (Index turn = 0; std::ssize(turns) < count; ++turn) {
    Generator random(key.fold("units").fold(turn));
    const std::vector<std::int32_t> order = draw_distinct(n, n, random);
    turns.insert(turns.end(), order.begin(), order.end());
  }
  return turns;
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

std::vector<std::int32_t> find_token(std::int32_t token, std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> found;
  for (Index t = 0; t < std::ssize(tokens); ++t) {
    if (tokens[t] == token) found.push_back(id(t));
  }
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
