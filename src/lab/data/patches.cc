// Patches: a small picture, cut into patches that an encoder reads as vectors, as a vision
// transformer does (Dosovitskiy et al. 2021): the red, green and blue of 3 x 3 cells, plus noise.
// Each patch holds a mark, one of - | \ /, in a colour that one other patch of the picture has too.
// It asks for the patch of its colour, the patch left of it, and the one on the other side.
// Truth: `same`, which follows from content alone; `left` and `mirrored`, from positions alone.
// Trap: a patch matches its own colour best of all, so `same` needs positions as well, to look away
// from itself.
// Read next: headlab/core/tasks/definition.h.
#include <algorithm>
#include <string_view>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

constexpr Index kSide = 3, kChannels = 3;  // a patch: 3 x 3 cells of red, green and blue
constexpr std::string_view kMarks = "-|\\/";

/// Returns whether a mark covers the cell in row i and column j.
bool covers(char mark, Index i, Index j) {
  switch (mark) {
    case '-':
      return i == 1;
    case '|':
      return j == 1;
    case '\\':
      return i == j;
    default:
      return i + j == kSide - 1;
  }
}

struct Patches {
  Index width = 4, height = 4;
  double noise = 0.1;

  void bind(Settings& s) {
    s.integer("width", width, 2, 64, "patches in a row");
    s.integer("height", height, 1, 64, "rows of patches");
    s.real("noise", noise, 0, 10, "standard deviation, where colours reach from -1 to 1");
  }
  void prepare() const {
    require(length() % 2 == 0, "width ", width, " times height ", height,
            " must be even: two patches share each colour");
  }
  Index length() const { return width * height; }
  Index colours() const { return length() / 2; }
  TaskShape shape() const {
    return {.architecture = Architecture::encoder,
            .vocab = colours() * std::ssize(kMarks),
            .length = length(),
            .targets = 3,
            .features = kSide * kSide * kChannels};
  }
  std::vector<Relation> relations() const {
    return {{"same", "the other patch of the same colour"},
            {"left", "the patch left of it", true},
            {"mirrored", "the patch as far from the other edge of the row", true}};
  }
  Index needed_heads() const { return 3; }
  std::vector<std::string> target_names() const { return {"same", "left", "mirrored"}; }
  /// Its colour as a letter and its mark: "b/".
  std::string token_text(Index token) const {
    return letter_text(token / std::ssize(kMarks)) + kMarks[token % std::ssize(kMarks)];
  }

  /// Channel c of a colour, -1 ... 1: colours fill a grid of `levels` values in each channel.
  double channel(Index colour, Index c) const {
    Index levels = 2;
    while (levels * levels * levels < colours()) ++levels;
    for (; c > 0; --c) colour /= levels;
    return 2 * static_cast<double>(colour % levels) / static_cast<double>(levels - 1) - 1;
  }
  /// Writes a patch; uncovered cells are grey, 0.
  void draw(Sequence& s, Index t) const {
    const Index colour = s.token(t) / std::ssize(kMarks);
    const char mark = kMarks[s.token(t) % std::ssize(kMarks)];
    const auto values = s.vector(t);
    for (Index i = 0; i < std::ssize(values); ++i) {
      const Index cell = i / kChannels;
      const bool covered = covers(mark, cell / kSide, cell % kSide);
      const double value = covered ? channel(colour, i % kChannels) : 0;
      values[i] = static_cast<float>(value + noise * s.random.normal());
    }
  }
  void ask(Sequence& s, Index r, Index t, Index key) const {
    s.target(t, r) = s.token(key);
    s.add_truth(r, t, key);
  }
  void write(Sequence& s) const {
    const auto order = draw_distinct(length(), length(), s.random);  // places of colours, by pairs
    for (Index i = 0; i < length(); ++i) {
      s.token(order[i]) = id(i / 2 * std::ssize(kMarks) + s.random.below(std::ssize(kMarks)));
    }
    for (Index t = 0; t < length(); ++t) {
      draw(s, t);
      const Index place = std::ranges::find(order, t) - order.begin(), column = t % width;
      const Index mirrored = t + width - 1 - 2 * column;
      ask(s, 0, t, order[place ^ 1]);
      if (column > 0) ask(s, 1, t, t - 1);
      if (mirrored != t) ask(s, 2, t, mirrored);
    }
  }
};

}  // namespace

TaskEntry patches_task() {
  return task_entry(Patches{}, {"patches",
                                "vectors, patches of a picture: same colour, left, mirrored",
                                "layers=1 heads=4 d_model=64 d_ff=0 steps=1500 lr=5e-3 beta2=0.95",
                                {.accuracy = 0.99, .reached = 99, .seeds = 100}});
}

}  // namespace headlab
