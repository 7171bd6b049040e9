// The answers no and yes are the two tokens behind the symbols: they are predicted, never read. The
// set of gold keys decides the answer, so that the two cannot disagree.
// Read next: the opening of duplicate.h, for the definition.
#include "headlab/tasks/duplicate.h"

#include "tasks/parts.h"

namespace headlab {

Settings settings_of(DuplicateOptions& o) {
  Settings s;
  s.integer("length", o.length, 2, 65536, "tokens in a sequence");
  s.integer("symbols", o.symbols, 1, 1 << 20, "number of symbols; no and yes come on top");
  return s;
}

DuplicateTask::DuplicateTask(const DuplicateOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "duplicate");
}

std::string DuplicateTask::spec() const { return spec_text("duplicate", options_); }

TaskShape DuplicateTask::shape() const {
  return {Architecture::decoder, options_.symbols + 2, options_.length, 1};
}

std::vector<Relation> DuplicateTask::relations() const {
  return {{"earlier", "all earlier positions with the same token", false}};
}

Example DuplicateTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    const auto tokens = row(example.batch, b);
    fill_uniform(tokens, options_.symbols, random);
    std::vector<std::int32_t> keys;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      find_token(tokens[t], tokens.first(t), keys);
      const auto at = static_cast<Index>(t);
      example.batch.target(b, at) = id(options_.symbols + (keys.empty() ? 0 : 1));
      if (!keys.empty()) example.gold[0].add(b, at, keys);
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string DuplicateTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  const Index answer = token - options_.symbols;
  return answer < 0 ? letter_text(token, options_.symbols) : answer == 0 ? "no" : "yes";
}

}  // namespace headlab
