// Opening bracket i is token i, the closing one is `types` + i. A stack of the positions of open
// brackets decides what may follow, and holds target and gold at its top. Read next: the opening of
// brackets.h, for the definition.
#include "headlab/tasks/brackets.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";
constexpr Index kNearest = 2;  // the distance from which an opener is asked for

}  // namespace

Settings settings_of(BracketsOptions& o) {
  Settings s;
  s.integer("length", o.length, 2, 65536, "brackets in a sequence");
  s.integer("types", o.types, 1, 1 << 16, "kinds of brackets");
  s.integer("depth", o.depth, 1, 32768, "most brackets that are open at once");
  return s;
}

BracketsTask::BracketsTask(const BracketsOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "brackets");
  const BracketsOptions& o = options_;
  require(o.length % 2 == 0, "balanced brackets need an even length, got ", o.length);
  require(o.depth >= kNearest, "depth ", o.depth, " leaves no bracket open for ", kNearest,
          " positions: set depth to ", kNearest, " or more");
  require(2 * o.depth <= o.length, "depth ", o.depth, " needs length ", 2 * o.depth,
          " or more, got ", o.length);
}

std::string BracketsTask::spec() const { return spec_text("brackets", options_); }

TaskShape BracketsTask::shape() const {
  return {Architecture::decoder, 2 * options_.types, options_.length, 1};
}

std::vector<Relation> BracketsTask::relations() const {
  return {{"opener", "the innermost open bracket, where it stands 2 or more back", false}};
}

Example BracketsTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    Batch& batch = example.batch;
    const auto types = id(options_.types);
    std::vector<Index> open;
    for (Index t = 0; t < options_.length; ++t) {
      const auto depth = static_cast<Index>(open.size());
      const bool full = depth == std::min(options_.depth, options_.length - t);
      if (full || (depth > 0 && random.below(2) == 0)) {
        batch.token(b, t) = types + batch.token(b, open.back());
        open.pop_back();
      } else {
        batch.token(b, t) = id(random.below(types));
        open.push_back(t);
      }
      if (!open.empty()) batch.target(b, t) = types + batch.token(b, open.back());
      if (!open.empty() && t - open.back() >= kNearest) example.gold[0].add(b, t, id(open.back()));
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string BracketsTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  const auto type = static_cast<std::size_t>(token % options_.types);
  const std::string_view shapes = token < options_.types ? kOpening : kClosing;
  return type < shapes.size() ? std::string(1, shapes[type]) : text(shapes[0], type);
}

}  // namespace headlab
