// The answers are the tokens behind the symbols, one for each count: they are predicted, never
// read. Equal tokens are found by comparing all pairs, which for short sequences costs less than
// sorting. Read next: the opening of histogram.h, for the definition.
#include "headlab/tasks/histogram.h"

#include <algorithm>

#include "tasks/parts.h"

namespace headlab {

Settings settings_of(HistogramOptions& o) {
  Settings s;
  s.integer("length", o.length, 2, 65536, "tokens in a sequence");
  s.integer("symbols", o.symbols, 1, 1 << 20, "number of symbols; the counts come on top");
  return s;
}

HistogramTask::HistogramTask(const HistogramOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "histogram");
}

std::string HistogramTask::spec() const { return spec_text("histogram", options_); }

TaskShape HistogramTask::shape() const {
  return {Architecture::encoder, options_.symbols + options_.length, options_.length, 1};
}

std::vector<Relation> HistogramTask::relations() const {
  return {{"equal", "the other positions with the same token", false}};
}

Example HistogramTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const auto tokens = row(example.batch, b);
    fill_uniform(tokens, options_.symbols, random);
    std::vector<std::int32_t> keys;
    for (Index t = 0; t < options_.length; ++t) {
      find_token(tokens[t], tokens, keys);
      const auto found = static_cast<Index>(keys.size());
      example.batch.target(b, t) = id(options_.symbols + found - 1);
      if (found > 1) {
        keys.erase(std::find(keys.begin(), keys.end(), id(t)));
        example.gold[0].add(b, t, keys);
      }
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string HistogramTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  const Index symbols = options_.symbols;
  return token < symbols ? letter_text(token, symbols) : std::to_string(token - symbols + 1);
}

}  // namespace headlab
