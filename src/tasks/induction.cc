// Distinct tokens are drawn by shuffling the front of a list of all tokens; what is left behind
// them are the other tokens, which fill the whole sequence before the two segments are laid over
// them. Read next: the opening of induction.h, for the definition.
#include "headlab/tasks/induction.h"

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

/// Where the two segments lie in a sequence.
struct Places {
  Index first, second, size;
};

Places draw_places(const InductionOptions& o, Generator& random) {
  Places places{};
  places.size = random.between(o.shortest, o.longest);
  places.first = random.between(1, o.start);
  places.second = places.first + places.size + random.between(0, o.gap);
  return places;
}

}  // namespace

Settings settings_of(InductionOptions& o) {
  Settings s;
  s.integer("length", o.length, 3, 65536, "tokens in a sequence");
  s.integer("vocab", o.vocab, 3, 1 << 16, "number of tokens");
  s.integer("shortest", o.shortest, 2, 65536, "tokens of the shortest segment");
  s.integer("longest", o.longest, 2, 65536, "tokens of the longest segment");
  s.integer("start", o.start, 1, 65536, "most tokens before the first segment");
  s.integer("gap", o.gap, 0, 65536, "most tokens between the segments");
  return s;
}

InductionTask::InductionTask(const InductionOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "induction");
  const InductionOptions& o = options_;
  require(o.shortest <= o.longest, "shortest ", o.shortest, " must not exceed longest ", o.longest);
  require(o.longest < o.vocab, "a segment of ", o.longest,
          " distinct tokens and one other need vocab ", o.longest + 1, " or more, got ", o.vocab);
  const Index room = o.start + 2 * o.longest + o.gap;
  require(room <= o.length, "start ", o.start, ", two segments of ", o.longest, " and gap ", o.gap,
          " need length ", room, " or more, got ", o.length);
}

std::string InductionTask::spec() const { return spec_text("induction", options_); }

TaskShape InductionTask::shape() const {
  return {Architecture::decoder, options_.vocab, options_.length, 1};
}

std::vector<Relation> InductionTask::relations() const {
  return {{"induction", "the token after the first occurrence of this one", false},
          {"previous", "the token before this one, asked in the first segment", true}};
}

Example InductionTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    Batch& batch = example.batch;
    const Places at = draw_places(options_, random);
    const auto ids = draw_distinct(options_.vocab, at.size, random);
    for (std::int32_t& token : row(batch, b)) {
      const Index other = random.between(at.size, options_.vocab - 1);
      token = ids[other];
    }
    for (Index j = 0; j < at.size; ++j) {
      const std::int32_t token = ids[j];
      batch.token(b, at.first + j) = batch.token(b, at.second + j) = token;
      if (j > 0) {
        batch.target(b, at.second + j - 1) = token;
        example.gold[0].add(b, at.second + j - 1, id(at.first + j));
        example.gold[1].add(b, at.first + j, id(at.first + j - 1));
      }
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string InductionTask::token_text(std::int32_t token) const {
  return letter_text(token, options_.vocab);
}

}  // namespace headlab
