// Grid: a small image, read row by row by an encoder. Brightness is random, but some pixels are
// hidden (?), and theirs follows from two others, left and above, which are never hidden: the mean
// of left and the negative of above, (left + colors - 1 - above) / 2, rounded down; with rule=mean
// the mean of left and above.
// Truth: `left` and `above`, asked at hidden pixels: offsets 1 and `width`. Colours are drawn
// independently, so nothing else tells a hidden pixel, and both keys are needed in one query.
// Trap: rule=mean does not care which is which. One head that gives each of them one half is
// enough then, and owns both relations; the contrast takes two heads.
// Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

enum class GridRule { contrast, mean };

struct Grid {
  Index width = 6, height = 6, colors = 8;
  GridRule rule = GridRule::contrast;

  void bind(Settings& s) {
    s.integer("width", width, 2, 256, "pixels in a row");
    s.integer("height", height, 2, 256, "rows");
    s.integer("colors", colors, 2, 1 << 16, "number of colours; the hidden pixel comes on top");
    s.choice("rule", rule, {"contrast", "mean"},
             "mean of the left pixel and the negative of the upper one, or of both");
  }
  TaskShape shape() const { return {Architecture::encoder, colors + 1, width * height}; }
  std::vector<Relation> relations() const {
    return {{"left", "the pixel left of a hidden one", true},
            {"above", "the pixel above a hidden one", true}};
  }
  Index needed_heads() const { return rule == GridRule::mean ? 1 : 2; }
  std::vector<std::string> target_names() const { return {"hidden"}; }
  std::string token_text(Index token) const { return token == colors ? "?" : text(token); }

  /// Every pixel gets a random colour first; then, in reading order, each that has visible pixels
  /// left of and above it is hidden with probability 1/2.
  void write(Sequence& s) const {
    fill_uniform(s.tokens(), colors, s.random);
    for (Index t = width; t < s.length(); ++t) {
      const Index left = s.token(t - 1), above = s.token(t - width);
      const bool follows = t % width > 0 && left < colors && above < colors;
      if (!follows || s.random.below(2) == 1) continue;
      const Index other = rule == GridRule::mean ? above : colors - 1 - above;
      s.target(t) = id((left + other) / 2);
      s.token(t) = id(colors);
      s.add_truth(0, t, t - 1);
      s.add_truth(1, t, t - width);
    }
  }
};

}  // namespace

TaskEntry grid_task() {
  return task_entry(Grid{},
                    {"grid",
                     "hidden pixels of an image, from the pixels left of and above them",
                     "layers=1 heads=2 d_model=64 d_ff=0 positions=sinusoidal steps=1500 lr=3e-3",
                     {.accuracy = 0.99,
                      .reached = 98,
                      .seeds = 100,
                      .why = "in the other seeds both heads attend in the same direction"}});
}

}  // namespace headlab
