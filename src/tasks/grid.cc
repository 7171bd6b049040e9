// Every pixel gets a random colour first; then, in reading order, each that has visible pixels left
// of and above it is hidden with probability 1/2. Its own colour is never read by anyone. Read
// next: the opening of grid.h, for the definition.
#include "headlab/tasks/grid.h"

#include "tasks/parts.h"

namespace headlab {

Settings settings_of(GridOptions& o) {
  Settings s;
  s.integer("width", o.width, 2, 256, "pixels in a row");
  s.integer("height", o.height, 2, 256, "rows");
  s.integer("colors", o.colors, 2, 1 << 16, "number of colours; the hidden pixel comes on top");
  s.choice("rule", o.rule, {"contrast", "mean"},
           "of the pixel left and the negative of the one above, or of both as they are");
  return s;
}

GridTask::GridTask(const GridOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "grid");
}

std::string GridTask::spec() const { return spec_text("grid", options_); }

TaskShape GridTask::shape() const {
  return {Architecture::encoder, options_.colors + 1, options_.width * options_.height, 1};
}

std::vector<Relation> GridTask::relations() const {
  return {{"left", "the pixel left of a hidden one", true},
          {"above", "the pixel above a hidden one", true}};
}

Example GridTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    Batch& batch = example.batch;
    const auto colors = id(options_.colors);
    fill_uniform(row(batch, b), colors, random);
    for (Index t = options_.width; t < batch.length; ++t) {
      const Index at_left = t - 1, at_above = t - options_.width;
      const std::int32_t left = batch.token(b, at_left), above = batch.token(b, at_above);
      const bool follows = t % options_.width > 0 && left < colors && above < colors;
      if (follows && random.below(2) == 0) {
        const bool mean = options_.rule == GridRule::mean;
        batch.target(b, t) = (left + (mean ? above : colors - 1 - above)) / 2;
        batch.token(b, t) = colors;
        example.gold[0].add(b, t, id(at_left));
        example.gold[1].add(b, t, id(at_above));
      }
    }
  };
  return make_sequences(*this, key, count, split, write);
}

std::string GridTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  return token == options_.colors ? "?" : std::to_string(token);
}

}  // namespace headlab
