// Both controls draw tokens and gold in the same way and differ in the label alone, so the class is
// a template over which of them it is; both are made at the end of this file.
// Read next: the opening of control.h, for the definition.
#include "headlab/tasks/control.h"

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

constexpr const char* name_of(ControlKind kind) {
  return kind == ControlKind::memoryless ? "memoryless" : "random";
}

}  // namespace

Settings settings_of(ControlOptions& o) {
  Settings s;
  s.integer("length", o.length, 2, 65536, "tokens in a sequence");
  s.integer("vocab", o.vocab, 2, 1 << 20, "number of tokens");
  s.integer("classes", o.classes, 1, 1 << 20, "the class of a token is its number modulo this");
  return s;
}

template <ControlKind kind>
ControlTask<kind>::ControlTask(const ControlOptions& options) : options_(options) {
  check_ranges(settings_of(options_), name_of(kind));
  require(options_.classes <= options_.vocab, "classes ", options_.classes,
          " must not exceed vocab ", options_.vocab, ": a class would have no token");
}

template <ControlKind kind>
std::string ControlTask<kind>::spec() const {
  return spec_text(name_of(kind), options_);
}

template <ControlKind kind>
TaskShape ControlTask<kind>::shape() const {
  return {Architecture::decoder, options_.vocab, options_.length, 1};
}

template <ControlKind kind>
std::vector<Relation> ControlTask<kind>::relations() const {
  return {{"previous", "the token before this one", true},
          {"same", "the last earlier token of the same class", false}};
}

template <ControlKind kind>
Batch ControlTask<kind>::make_batch(Key key, Index count, Split split) const {
  Batch batch = empty_batch(*this, count);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    fill_uniform(row(batch, b), options_.vocab, random);
    for (Index t = 0; t < options_.length; ++t) {
      const bool learnable = kind == ControlKind::memoryless;
      batch.target(b, t) =
          learnable ? id(options_.vocab) - 1 - batch.token(b, t) : id(random.below(options_.vocab));
    }
  }
  return batch;
}

template <ControlKind kind>
Example ControlTask<kind>::make(Key key, Index count, Split split) const {
  Example example{make_batch(key, count, split), std::vector<Gold>(2)};
  for (Index b = 0; b < count; ++b) {
    const auto classes = classes_of(row(example.batch, b), options_.classes);
    for (Index t = 1; t < options_.length; ++t) {
      example.gold[0].add(b, t, id(t - 1));
      const Index same = last_equal(classes, t);
      if (same >= 0) example.gold[1].add(b, t, id(same));
    }
  }
  return example;
}

template <ControlKind kind>
std::string ControlTask<kind>::token_text(std::int32_t token) const {
  return letter_text(token, options_.vocab);
}

template class ControlTask<ControlKind::memoryless>;
template class ControlTask<ControlKind::random>;

}  // namespace headlab
