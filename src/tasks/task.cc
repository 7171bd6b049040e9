// Gold sets are kept as one list of keys with the place where each query's begin: a batch has
// thousands of queries with one key each, and a vector for each would cost more than the training
// step. Read next: table.cc.
#include "headlab/tasks/task.h"

#include <algorithm>

#include "headlab/base/error.h"

namespace headlab {

void Gold::add_place(const Place& place) {
  require(at_.empty() || at_.back() < place, "gold: queries must come in ascending order");
  at_.push_back(place);
  begin_.push_back(keys_.size());
}

void Gold::add(Index b, Index t, std::span<const std::int32_t> keys) {
  require(!keys.empty() && std::ranges::is_sorted(keys),
          "gold: the keys of a query must be ascending, and at least one");
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  add_place({b, t});
}

void Gold::add(Index b, Index t, Index key) {
  keys_.push_back(static_cast<std::int32_t>(key));
  add_place({b, t});
}

Gold::Query Gold::query(Index i) const {
  return {at_[i].b, at_[i].t, std::span(keys_).subspan(begin_[i], begin_[i + 1] - begin_[i])};
}

std::span<const std::int32_t> Gold::keys(Index b, Index t) const {
  const auto found = std::lower_bound(at_.begin(), at_.end(), Place{b, t});
  if (found == at_.end() || *found != Place{b, t}) return {};
  return query(found - at_.begin()).keys;
}

Generator sequence_generator(Key key, Split split, Index i) {
  return Generator(key.fold(split == Split::train ? "train" : "validation").fold(i));
}

Batch Task::make_batch(Key key, Index count, Split split) const {
  return make(key, count, split).batch;
}

std::vector<std::int32_t> Task::encode(std::string_view) const {
  throw Error(text("the task ", spec(), " has no texts to encode"),
              "sample from a run of the task `text`");
}

std::string Task::decode(std::span<const std::int32_t> tokens) const {
  std::vector<std::string> words;
  for (const std::int32_t token : tokens) words.push_back(token_text(token));
  return join(words, " ");
}

}  // namespace headlab
