// The program and the page draw alike: the same items, written by svg.cc and by draw.js (under
// node), are the same document, byte for byte. Read next: picture_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "headlab/app/report/figures.h"
#include "headlab/core/base/error.h"
#include "report/page_core.h"

namespace headlab { namespace {

class SameSvg : public PageCore {
 protected:
  /// The file that the page writes of a picture, which it makes of `p`.
  std::string svg_by_page(const Json& p, const std::string& made) const {
    const std::string page = HEADLAB_SOURCE_DIR "/src/app/report/page/";
    write_file(folder_ / "p.json", p.dump());
    write_file(folder_ / "write.mjs",
               text("import fs from 'node:fs'; import {svg} from '", page, "draw/draw.js'; ",
                    "import {divisionPicture} from '", page,
                    "parts/divisions.js'; const p = JSON.parse(",
                    "fs.readFileSync(process.argv[2], 'utf8')); process.stdout.write(svg(", made,
                    ", p.palette, 'command: x'));"));
    return told_by(
               text("node ", (folder_ / "write.mjs").string(), " ", (folder_ / "p.json").string()))
        .text;
  }
};

Json with_look(Json item, const Look& look) {
  if (!look.fill.empty()) item["fill"] = look.fill;
  if (!look.stroke.empty()) item["stroke"] = look.stroke;
  item["thick"] = look.thick;
  item["dash"] = look.dash;
  return item;
}

Json item_json(const MapItem& map) {
  return Json::object({{"type", "map"},
                       {"x", map.box.x},
                       {"y", map.box.y},
                       {"w", map.box.w},
                       {"h", map.box.h},
                       {"rows", map.rows},
                       {"cols", map.columns},
                       {"values", map.values},
                       {"kind", "weight"},
                       {"top", 1}});
}
Json item_json(const RectItem& rect) {
  const auto [x, y, w, h] = rect.box;
  return with_look(Json::object({{"type", "rect"}, {"x", x}, {"y", y}, {"w", w}, {"h", h}}),
                   rect.look);
}
Json item_json(const LineItem& line) {
  Json points = Json::array();
  for (const Point& point : line.points) points.push_back(std::vector<double>{point.x, point.y});
  return with_look(Json::object({{"type", "line"}, {"points", points}}), line.look);
}
Json item_json(const DotItem& dot) {
  constexpr const char* kShapes[] = {"circle", "square", "diamond", "triangle", "cross"};
  return with_look(Json::object({{"type", "dot"},
                                 {"x", dot.at.x},
                                 {"y", dot.at.y},
                                 {"r", dot.radius},
                                 {"shape", kShapes[static_cast<int>(dot.shape)]}}),
                   dot.look);
}
Json item_json(const TextItem& item) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  return Json::object({{"type", "text"},
                       {"x", item.at.x},
                       {"y", item.at.y},
                       {"text", item.text},
                       {"size", item.size},
                       {"anchor", kAnchors[static_cast<int>(item.anchor)]},
                       {"fill", item.fill},
                       {"bold", item.bold},
                       {"turn", item.turn}});
}

Json picture_json(const Picture& picture) {
  Json items = Json::array(), palette = Json::object();
  for (const Item& item : picture.items)
    items.push_back(std::visit([](const auto& one) { return item_json(one); }, item));
  for (const char* role : {"paper", "ink", "muted", "rule", "edge", "accent", "good", "bad", "s0",
                           "s1", "s2", "s3", "s4", "s5", "s6"})
    palette[role] = color_of(role);
  return Json::object({{"width", picture.width},
                       {"height", picture.height},
                       {"title", picture.title},
                       {"sentence", picture.sentence},
                       {"items", items},
                       {"palette", palette}});
}

TEST_F(SameSvg, ComesFromTheProgramAndThePage) {
  HeadPattern pattern{.head = {0, 2},
                      .weights = {1, 0, 0, 0.75f, 0.25f, 0, 0.02f, 0.4f, 0.58f},
                      .queries = {"a", "<b>", "long token\x01 & \"more\""},
                      .keys = {"a", "<b>", "long token\x01 & \"more\""}};
  pattern.truth = {{"back1", {0, 0, 0, 1, 0, 0, 0, 1, 0}, 0.575}};
  HeadsHistory history;
  history.steps = {50, 60, 1000};
  history.relations = {{"same", {0, 3}, {0.1, 0.9, 1}, 50}, {"back1", {0, 1}, {-0.2, 0.8, 1}, 60}};
  Picture dots{.width = 50, .height = 40, .title = "dots", .sentence = "all shapes"};
  for (const DotShape shape :
       {DotShape::circle, DotShape::square, DotShape::diamond, DotShape::triangle, DotShape::cross})
    dots.items.push_back(DotItem{{9.127, 9.5}, 3.25, shape, {.fill = "s1", .stroke = "s2"}});
  for (const Picture& picture : {pattern_figure(pattern), history_figure(history), dots})
    EXPECT_EQ(svg_by_page(picture_json(picture), "p"), svg(picture, "command: x"));
}

TEST_F(SameSvg, IsDrawnOfADivision) {
  HeadsReport report{.heads = {{{0, 0}}, {{0, 1}}}, .relations = {{.relation = {"larger", ""}}}};
  for (HeadScores& head : report.heads) head.relations.resize(1);
  report.divisions = {{.heads = {0, 1},
                       .spread = 0.4,
                       .kinds = {{"token of the key", 0.81, 0.005}},
                       .classes = {{"a", 30, {1, 0.5}}, {"long words", 10, {0, 1.25}}}}};
  const Picture picture = divisions_figure(report, 500);
  Json json = picture_json(picture);
  json["division"] = Json(report).at("divisions").items()[0];
  EXPECT_EQ(svg_by_page(json,
                        "{...p, ...divisionPicture(p.division, p.division.relation, 500), "
                        "title: p.title, sentence: p.sentence}"),
            svg(picture, "command: x"));
}

}}  // namespace headlab
