// Figures of all heads: lifts by head and relation, and what each head costs.
#include <cmath>

#include "headlab/app/report/figures.h"
#include "report/drawn.h"
#include "support/errors.h"

namespace headlab { namespace {

/// Two heads and two relations, without an owner.
HeadsReport two_heads() {
  HeadsReport report{.heads = {{{0, 0}}, {{0, 1}}},
                     .relations = {{.relation = {"larger", ""}}, {.relation = {"same", ""}}}};
  const double lifts[2][2] = {{0.9, 0.1}, {-0.2, NAN}};
  for (std::size_t h = 0; h < 2; ++h) {
    for (const double lift : lifts[h]) report.heads[h].relations.push_back({.lift = lift});
  }
  return report;
}

TEST(HeadsFigure, ShowsLiftsByHeadAndRelation) {
  HeadsReport report = two_heads();
  const Picture picture = heads_figure(report);
  const MapItem map = drawn::all_of<MapItem>(picture)[0];
  EXPECT_EQ(map.rows, 2);
  EXPECT_FLOAT_EQ(map.values[0], 0.9f);
  EXPECT_TRUE(std::isnan(map.values[3])) << "not drawn";
  EXPECT_TRUE(drawn::says(picture, "0.90\n") && drawn::says(picture, "-0.20\n") &&
              drawn::says(picture, "lift 0"));
  EXPECT_TRUE(drawn::says(picture, "owners: none.")) << picture.sentence;
  drawn::expect_drawn(picture, "report/figure_heads");
}

TEST(HeadsFigure, SplitIsTheSecondPanel) {
  HeadsReport report = two_heads();
  const double alone = heads_figure(report).height;
  report.divisions = {{.heads = {0, 1},
                       .spread = 0.4,
                       .kinds = {{"token of the key", 0.81, 0.005}},
                       .classes = {{"a", 30, {1, 0.5}}, {"b", 10, {0, 1}}}}};
  const Picture both = heads_figure(report);
  EXPECT_EQ(both.height, alone + 28 + divisions_figure(report).height + 28);
  EXPECT_TRUE(drawn::says(both, "(a) heads by relations") &&
              drawn::says(both, "(b) attention mass of each"));
  drawn::expect_drawn(both, "report/figure_heads_and_split");
}

/// 84 mm are 374 units: long names of relations keep all their letters.
TEST(HeadsFigure, CutsNothingInANarrowColumn) {
  HeadsReport report = two_heads();
  report.relations[0].relation.name = "the_subject_of_the_sentence";
  const Picture picture = heads_figure(report, 374);
  EXPECT_TRUE(drawn::says(picture, "the_subject_of_the_sentence"));
  drawn::expect_inside(picture);
}

TEST(HeadsFigure, NeedsRelations) {
  HeadsReport report = two_heads();
  report.relations.clear();
  expect_error([&] { heads_figure(report); }, {"there are no relations", "--grid"});
}

TEST(AblationFigure, HasAPointWithItsIntervalForEachHead) {
  AblationReport report;
  for (const std::int32_t head : {0, 1}) {
    HeadAblation& one = report.heads.emplace_back();
    one.head = {0, head};
    one.change.change = 0.5 * head;
    one.change.low = 0.5 * head - 0.1;
    one.change.high = 0.5 * head + 0.1;
  }
  const Picture picture = ablation_figure(report);
  EXPECT_TRUE(drawn::says(picture, "0.0 0, 0.1 0.5.")) << picture.sentence;
  drawn::expect_drawn(picture, "report/figure_ablation");
  for (std::int32_t head = 2; head < 30; ++head) {
    report.heads.push_back(report.heads[0]);
    report.heads.back().head = {0, head};
  }
  const Picture narrow = ablation_figure(report, 374);
  drawn::expect_inside(narrow);
  EXPECT_EQ(drawn::words_of(narrow).find("…"), std::string::npos) << "names are left out, not cut";
}

}}  // namespace headlab
