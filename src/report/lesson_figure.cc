// A sentence in heads: the patterns of all its heads and of one head as wide as all of them, with
// the numbers in the cells. The wide head has one budget of attention for what the others share
// out among them, so its rows are a compromise of theirs. Read next: heads/lessons.h;
// page/lesson_budget.js, the same to try.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/figures.h"
#include "report/chart.h"

namespace headlab {
namespace {

constexpr double kLessonCell = 46, kLessonLeft = 44, kLessonTop = 46, kLessonGap = 18;

/// Black on light cells, the paper's colour on dark ones; the map darkens with the value.
std::string ink_on(double weight) { return weight > 0.45 ? "paper" : "ink"; }

/// One head's weights in cells of this size, the first at x. Numbers stand where there is room.
void draw_pattern(Picture& picture, const LessonWorld& world, const Matrix& weights, double x,
                  double cell) {
  const Index rows = weights.rows(), columns = weights.columns();
  const auto middle = [&](Index i) { return cell * (static_cast<double>(i) + 0.5); };
  std::vector<Scalar> values(weights.values().begin(), weights.values().end());
  const Box box{x, kLessonTop, cell * double(columns), cell * double(rows)};
  picture.items.push_back(MapItem{box, rows, columns, std::move(values)});
  picture.items.push_back(RectItem{box, {.stroke = "edge"}});
  for (Index s = 0; s < columns; ++s)
    picture.items.push_back(TextItem{.at = {x + middle(s), kLessonTop - 10},
                                     .text = world.tokens[static_cast<std::size_t>(s)],
                                     .size = std::min(kTextSize, cell / 2),
                                     .anchor = Anchor::middle});
  for (Index t = 0; t < rows && cell >= text_width(".0000") + 4; ++t)
    for (Index s = 0; s < columns; ++s)
      picture.items.push_back(TextItem{.at = {x + middle(s), kLessonTop + middle(t)},
                                       .text = fixed(weights(t, s), 4).substr(1),
                                       .anchor = Anchor::middle,
                                       .fill = ink_on(weights(t, s))});
}

}  // namespace

Picture lesson_figure(const LessonWorld& world, double width) {
  std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  heads.push_back(attend_in_heads(world.q, world.k, world.v, 1)[0]);
  const auto panels = double(heads.size()), tokens = double(world.tokens.size());
  const double most = ((width > 0 ? width : 1e9) - kLessonLeft) / panels - kLessonGap;
  const double cell = std::min(kLessonCell, most / tokens), panel = cell * tokens + kLessonGap;
  Picture picture{.width = kLessonLeft + panel * panels,
                  .height = kLessonTop + cell * tokens + 10,
                  .title =
                      text(join(world.tokens, " "), ": ", world.heads, " heads, and one as wide"),
                  .sentence = "Queries down, keys across; each row of weights sums to 1."};
  for (std::size_t t = 0; t < world.tokens.size(); ++t)
    picture.items.push_back(
        TextItem{.at = {kLessonLeft - 8, kLessonTop + cell * (static_cast<double>(t) + 0.5)},
                 .text = world.tokens[t],
                 .anchor = Anchor::end});
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const double x = kLessonLeft + panel * double(h);
    draw_pattern(picture, world, heads[h].weights, x, cell);
    const std::string name = h + 1 < heads.size() ? text("head ", h + 1) : "one head";
    const std::string title = text(panel_tag(h), " ", name, ", width ", heads[h].q.columns());
    picture.items.push_back(
        TextItem{.at = {x, 10}, .text = shortened(title, panel - 4), .bold = true});
  }
  return picture;
}

}  // namespace headlab
