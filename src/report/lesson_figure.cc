// A sentence in heads: the patterns of all its heads and of one head as wide as all of them, with
// the numbers in the cells. The wide head has one budget of attention for what the others share
// out among them, so its rows are a compromise of theirs. Read next: heads/lessons.h;
// page/lesson_budget.js, the same to try.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/figures.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr double kLessonCell = 46, kLessonLeft = 44, kLessonTop = 46, kLessonGap = 24;  // pixels

/// Black on light cells, the paper's colour on dark ones; the map darkens with the value.
std::string ink_on(double weight) { return weight > 0.45 ? "paper" : "ink"; }

void draw_pattern(Picture& picture, const LessonWorld& world, const Matrix& weights, double x,
                  const std::string& title) {
  const Index rows = weights.rows(), columns = weights.columns();
  std::vector<Scalar> values;
  for (Index t = 0; t < rows; ++t)
    for (Index s = 0; s < columns; ++s) values.push_back(static_cast<Scalar>(weights(t, s)));
  const Box box{x, kLessonTop, kLessonCell * static_cast<double>(columns),
                kLessonCell * static_cast<double>(rows)};
  picture.items.push_back(TextItem{{x, 12}, title, 13, Anchor::start, "ink", true});
  picture.items.push_back(MapItem{box, rows, columns, std::move(values)});
  picture.items.push_back(RectItem{box, {.stroke = "edge"}});
  for (Index s = 0; s < columns; ++s)
    picture.items.push_back(
        TextItem{{x + kLessonCell * (static_cast<double>(s) + 0.5), kLessonTop - 10},
                 world.tokens[static_cast<std::size_t>(s)],
                 12,
                 Anchor::middle});
  for (Index t = 0; t < rows; ++t)
    for (Index s = 0; s < columns; ++s)
      picture.items.push_back(TextItem{{x + kLessonCell * (static_cast<double>(s) + 0.5),
                                        kLessonTop + kLessonCell * (static_cast<double>(t) + 0.5)},
                                       fixed(weights(t, s), 4).substr(1),
                                       12,
                                       Anchor::middle,
                                       ink_on(weights(t, s)),
                                       false,
                                       true});
}

}  // namespace

Picture lesson_figure(const LessonWorld& world) {
  const std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  const std::vector<HeadSteps> wide = attend_in_heads(world.q, world.k, world.v, 1);
  const double size = kLessonCell * static_cast<double>(world.tokens.size());
  Picture picture{.width =
                      kLessonLeft + (size + kLessonGap) * static_cast<double>(heads.size() + 1),
                  .height = kLessonTop + size + 10,
                  .title =
                      text(join(world.tokens, " "), ": ", heads.size(), " heads, and one as wide"),
                  .sentence = "Queries down, keys across; each row of weights sums to 1."};
  for (std::size_t t = 0; t < world.tokens.size(); ++t)
    picture.items.push_back(
        TextItem{{kLessonLeft - 8, kLessonTop + kLessonCell * (static_cast<double>(t) + 0.5)},
                 world.tokens[t],
                 12,
                 Anchor::end});
  double x = kLessonLeft;
  for (std::size_t h = 0; h < heads.size(); ++h, x += size + kLessonGap)
    draw_pattern(picture, world, heads[h].weights, x,
                 text("head ", h + 1, ", width ", heads[h].q.columns()));
  draw_pattern(picture, world, wide[0].weights, x, text("one head of width ", wide[0].q.columns()));
  return picture;
}

}  // namespace headlab
