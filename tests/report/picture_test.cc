// Pictures: what the writer makes of each item, read back by other means than wrote it, and what no
// picture may do (break its document, lose its origin, change from one time to the next).
#include "headlab/app/report/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "app/report/colors.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "support/tensors.h"

namespace headlab { namespace picture_tests {

constexpr Scalar kNaN = std::numeric_limits<Scalar>::quiet_NaN();

Picture with(std::vector<Item> items) {
  return {.width = 40, .height = 30, .title = "t", .sentence = "s", .items = std::move(items)};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Names of the elements still open at the end, or the first that closes what is not open.
std::string unbalanced(const std::string& document) {
  static const std::regex kTag(R"re(<(/?)([a-z]+)(?:\s+[A-Za-z:-]+="[^"<]*")*\s*(/?)>)re");
  std::vector<std::string> open;
  for (std::sregex_iterator tag(document.begin(), document.end(), kTag), end; tag != end; ++tag) {
    if ((*tag)[3].length() > 0) continue;
    if ((*tag)[1].length() == 0) {
      open.push_back((*tag)[2]);
    } else {
      if (open.empty() || open.back() != (*tag)[2]) return (*tag)[2];
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

TEST(TextWidth, GrowsWithTheSizeAndBoldLetters) {
  EXPECT_DOUBLE_EQ(text_width("abc", 20), 2 * text_width("abc", 10));
  EXPECT_GT(text_width("abc", 10, true), text_width("abc", 10));
}

TEST(Colors, MapScaleGoesFromPaperToCividis) {
  EXPECT_EQ(map_colors().size(), 256u);
  EXPECT_EQ(map_colors()[0], color_of("paper"));
  EXPECT_EQ(map_colors()[255], "#00224e");
  EXPECT_EQ(map_level(-1), 0);
  EXPECT_EQ(map_level(2), 255);
  EXPECT_EQ(map_level(kNaN), -1);
}

double luminance(const std::string& color) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t c = 0; c < 3; ++c) {
    const double s = rgb_of(color)[c] / 255.0;
    sum += weights[c] * (s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST(Colors, MapScaleDarkensMonotonically) {
  for (std::size_t i = 1; i < 256; ++i)
    EXPECT_LE(luminance(map_colors()[i]), luminance(map_colors()[i - 1]) + 1e-3) << i;
}

/// Contrast ratios of WCAG 2: text needs 4.5, marks that mean something 3.
TEST(Colors, StandOutFromThePaper) {
  const auto contrast = [](const char* role) {
    return (luminance("paper") + 0.05) / (luminance(color_of(role)) + 0.05);
  };
  for (const char* text : {"ink", "muted", "accent", "good"})
    EXPECT_GE(contrast(text), 4.5) << text;
  for (const char* mark : {"edge", "s0", "s1", "s2", "s3", "s4", "s5", "s6"})
    EXPECT_GE(contrast(mark), 3) << mark;
}

TEST(Colors, EqualTheColorsOfThePage) {
  const std::string style = read_file(HEADLAB_SOURCE_DIR "/src/app/report/page/style.css");
  for (const char* role : {"paper", "ink", "muted", "rule", "edge", "accent", "good", "bad", "s0",
                           "s1", "s2", "s3", "s4", "s5", "s6"}) {
    const std::string light = std::string("--") + role + ": light-dark(" + color_of(role) + ",";
    EXPECT_NE(style.find(light), style.npos) << light;
  }
}

TEST(Colors, HaveKnownNames) {
  expect_error([] { rgb_of("reddish"); }, {"reddish"});
}

TEST(Svg, IsWellFormedWhateverTheTextsAre) {
  const std::string hostile =
      "</text><script>x</script>&\"' \x01\x1B \xEF\xBF\xBE \xE2\x80\xA8 \xF0\x9F\x98\x80";
  Picture picture = with({TextItem{.at = {1, 2}, .text = hostile, .turn = -90}});
  picture.title = picture.sentence = hostile;
  const std::string document = svg(picture, "command: " + hostile);
  EXPECT_EQ(unbalanced(document), "");
  EXPECT_EQ(count(document, "<script"), 0u);
  EXPECT_EQ(count(document, "&lt;/text&gt;&lt;script&gt;x&lt;/script&gt;&amp;&quot;&#39; "), 5u);
  EXPECT_EQ(count(document, "\x01"), 0u);
  EXPECT_EQ(count(document, "\xEF\xBF\xBE"), 0u);
  EXPECT_GE(count(document, "\xF0\x9F\x98\x80"), 5u) << "a character beyond the first 65536";
}

TEST(Svg, HasADescriptionAndTheCommand) {
  const std::string document = svg(with({}), "command: headlab heads a --grid");
  for (const char* part : {"<title>t</title>", "<desc>s</desc>", "role=\"img\"", "aria-label=\"t\"",
                           "<metadata>command: headlab heads a --grid</metadata>"})
    EXPECT_EQ(count(document, part), 1u) << part;
}

TEST(Svg, KeepsTextAsText) {
  const std::string document =
      svg(with({TextItem{.at = {1, 2}, .text = "back1", .bold = true}}), "");
  EXPECT_TRUE(
      std::regex_search(document, std::regex("<text [^>]*font-weight=\"bold\"[^>]*>back1<")));
}

TEST(Svg, DrawsAMapAsAPathForEachColour) {
  const MapItem map = {{0, 0, 20, 10}, 1, 4, {0, 1, 0.5, 1}};
  const std::string document = svg(with({map}), "");
  EXPECT_EQ(count(document, "<path"), 2u) << "zero is the paper";
  EXPECT_EQ(count(document, "d=\"M5 0h5v10h-5zM15 0h5v10h-5z\""), 1u) << document;
}

TEST(Svg, LeavesOutNonFiniteValues) {
  EXPECT_EQ(count(svg(with({MapItem{{0, 0, 9, 9}, 1, 1, {kNaN}}}), ""), "<path"), 0u);
}

TEST(Svg, HasEveryShapeAndDash) {
  std::vector<Item> items;
  for (const DotShape shape :
       {DotShape::circle, DotShape::square, DotShape::diamond, DotShape::triangle, DotShape::cross})
    items.push_back(DotItem{{9, 9}, 3, shape, {.stroke = "s0"}});
  items.push_back(LineItem{{{1, 1}, {9, 1.006}}, {.stroke = "ink", .thick = 1.5, .dash = {2, 3}}});
  const std::string document = svg(with(items), "");
  EXPECT_EQ(count(document, "<circle"), 1u);
  EXPECT_EQ(count(document, "<path"), 5u);
  EXPECT_EQ(count(document,
                  "d=\"M1 1L9 1.01\" fill=\"none\" stroke=\"#16181d\" "
                  "stroke-width=\"1.5\" stroke-dasharray=\"2 3\""),
            1u)
      << document;
}

TEST(Svg, PrintedFigureHasItsPaperSize) {
  Picture picture = with({});
  picture.width = 84 / 25.4 * 72 / kPrintedUnit;
  picture.printed = true;
  EXPECT_EQ(count(svg(picture, ""), "width=\"84mm\""), 1u) << svg(picture, "");
}

}  // namespace picture_tests
}  // namespace headlab
