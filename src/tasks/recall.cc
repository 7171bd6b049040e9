// Pairs lie at fixed positions, key i at 2 i and its value behind it, and queries fill the rest.
// Which key has which value, and in which order they are asked, is drawn for each sequence. Read
// next: the opening of recall.h, for the definition.
#include "headlab/tasks/recall.h"

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {

Settings settings_of(RecallOptions& o) {
  Settings s;
  s.integer("pairs", o.pairs, 1, 16384, "keys with a value");
  s.integer("queries", o.queries, 1, 16384, "keys that are asked for");
  s.integer("vocab", o.vocab, 2, 1 << 20, "number of tokens; the first half of them are keys");
  return s;
}

RecallTask::RecallTask(const RecallOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "recall");
  const RecallOptions& o = options_;
  require(o.pairs <= o.vocab / 2, o.pairs, " pairs with different keys and values need vocab ",
          2 * o.pairs, " or more, got ", o.vocab);
  require(o.queries <= o.pairs, "each key is asked for once at most: set queries to ", o.pairs,
          " or less, got ", o.queries);
}

std::string RecallTask::spec() const { return spec_text("recall", options_); }

TaskShape RecallTask::shape() const {
  return {Architecture::decoder, options_.vocab, 2 * options_.pairs + options_.queries, 1};
}

std::vector<Relation> RecallTask::relations() const {
  return {{"association", "the value of the key that is asked for", false},
          {"previous", "the key before a value", true}};
}

Example RecallTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    Batch& batch = example.batch;
    const Index keys_in_all = options_.vocab / 2, pairs = options_.pairs;
    const auto keys = draw_distinct(keys_in_all, pairs, random);
    const auto values = draw_distinct(options_.vocab - keys_in_all, pairs, random);
    for (Index i = 0; i < pairs; ++i) {
      batch.token(b, 2 * i) = keys[i];
      batch.token(b, 2 * i + 1) = id(keys_in_all) + values[i];
      example.gold[1].add(b, 2 * i + 1, id(2 * i));
    }
    const auto asked = draw_distinct(pairs, options_.queries, random);
    for (Index q = 0; q < options_.queries; ++q) {
      const Index t = 2 * pairs + q, at = 2 * asked[q];
      batch.token(b, t) = batch.token(b, at);
      batch.target(b, t) = batch.token(b, at + 1);
      example.gold[0].add(b, t, id(at + 1));
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string RecallTask::token_text(std::int32_t token) const {
  check_token(token, options_.vocab);
  const Index keys = options_.vocab / 2;
  return token < keys ? letter_text(token, keys) : std::to_string(token - keys);
}

}  // namespace headlab
