// Pictures: what the writers make of each item, read back by other means than wrote it, and what no
// picture may do (break its document, lose its origin, change from one time to the next).
#include "headlab/report/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "headlab/base/files.h"
#include "headlab/base/json.h"
#include "report/inflate.h"
#include "report/png.h"
#include "support/tensors.h"

namespace headlab { namespace picture_tests {

constexpr Scalar kNaN = std::numeric_limits<Scalar>::quiet_NaN();

std::string bytes_of(const std::string& color) {
  const Rgb rgb = rgb_of(color);
  return {static_cast<char>(rgb[0]), static_cast<char>(rgb[1]), static_cast<char>(rgb[2])};
}

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

TEST(Colors, OfAMapBeginWithThePaperAndEndWithCividis) {
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

TEST(Colors, OfAMapGrowDarkerAllTheWay) {
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

TEST(Colors, AreThoseOfThePage) {
  const std::string style = read_file(HEADLAB_SOURCE_DIR "/src/report/page/style.css");
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
  const std::string document = svg(picture, "again: " + hostile);
  EXPECT_EQ(unbalanced(document), "");
  EXPECT_EQ(count(document, "<script"), 0u);
  EXPECT_EQ(count(document, "&lt;/text&gt;&lt;script&gt;x&lt;/script&gt;&amp;&quot;' "), 5u);
  EXPECT_EQ(count(document, "\x01"), 0u);
  EXPECT_EQ(count(document, "\xEF\xBF\xBE"), 0u);
  EXPECT_GE(count(document, "\xF0\x9F\x98\x80"), 5u) << "a character beyond the first 65536";
}

TEST(Svg, SaysWhatItShowsAndHowItWasMade) {
  const std::string document = svg(with({}), "again: headlab heads a --grid");
  for (const char* part : {"<title>t</title>", "<desc>s</desc>", "role=\"img\"", "aria-label=\"t\"",
                           "<metadata>again: headlab heads a --grid</metadata>"})
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

TEST(Svg, LeavesOutWhatIsNoNumber) {
  EXPECT_EQ(count(svg(with({MapItem{{0, 0, 9, 9}, 1, 1, {kNaN}}}), ""), "<path"), 0u);
}

TEST(Svg, DrawsALargeMapAsAnImage) {
  MapItem map = {{0, 0, 20, 20}, 65, 64, std::vector<Scalar>(65 * 64, 1)};
  EXPECT_EQ(count(svg(with({map}), ""), "<image"), 1u);
  EXPECT_EQ(unbalanced(svg(with({map}), "")), "");
  map.rows = 64;
  map.values.resize(64 * 64);
  EXPECT_EQ(count(svg(with({map}), ""), "<image"), 0u);
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

TEST(Png, HoldsThePicture) {
  const ReadImage image = read_png(
      png(with({MapItem{{10, 10, 20, 10}, 1, 2, {1, 0}}, RectItem{{0, 0, 5, 5}, {.fill = "s0"}}}),
          "again: x"));
  EXPECT_EQ(image.width, 80u);
  EXPECT_EQ(image.height, 60u);
  EXPECT_EQ(image.at(79, 59), bytes_of("paper"));
  EXPECT_EQ(image.at(0, 0), bytes_of("s0"));
  EXPECT_EQ(image.at(9, 9), bytes_of("s0"));
  EXPECT_EQ(image.at(10, 10), bytes_of("paper"));
  EXPECT_EQ(image.at(20, 20), bytes_of("#00224e"));
  EXPECT_EQ(image.at(39, 39), bytes_of("#00224e"));
  EXPECT_EQ(image.at(40, 39), bytes_of("paper"));
  EXPECT_EQ(image.texts.at("Comment"), "again: x");
  EXPECT_EQ(image.texts.at("Title"), "t");
}

TEST(Png, ComesBackAsItWasWhateverTheBytes) {
  for (const Index width : {1, 2, 7, 86, 87, 258, 400}) {
    Image image(width, 5);
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < image.bytes.size(); ++i) {
      state = state * 1664525 + 1013904223;
      if (i % 300 < 150) image.bytes[i] = static_cast<std::uint8_t>(state >> 24);
    }
    const ReadImage read = read_png(png_bytes(image, {}));
    EXPECT_EQ(read.pixels, std::string(image.bytes.begin(), image.bytes.end())) << width;
  }
}

TEST(Png, DrawsLettersTurnedOrNot) {
  const auto ink = [](int turn) {
    const TextItem letter = {.at = {20, 15}, .text = "I", .anchor = Anchor::middle, .turn = turn};
    const ReadImage image = read_png(png(with({letter}), ""));
    std::size_t x0 = 99, x1 = 0, y0 = 99, y1 = 0;
    for (std::size_t i = 0; i < image.width * image.height; ++i) {
      const std::size_t x = i % image.width, y = i / image.width;
      if (image.at(x, y) == bytes_of("paper")) continue;
      x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    }
    return std::pair(x1 - x0 + 1, y1 - y0 + 1);
  };
  EXPECT_EQ(ink(0), std::pair(std::size_t{6}, std::size_t{14}));
  EXPECT_EQ(ink(-90), std::pair(std::size_t{14}, std::size_t{6}));
  EXPECT_EQ(ink(90), ink(-90));
}

TEST(Png, ShowsABoxForLettersThatItLacks) {
  const auto drawn = [](const char* text) {
    return read_png(png(with({TextItem{.at = {5, 15}, .text = text}}), "")).pixels;
  };
  EXPECT_EQ(drawn("ж"), drawn("あ"));
  EXPECT_NE(drawn("ж"), drawn(" "));
  EXPECT_EQ(drawn("★"), drawn("*"));
}

TEST(Png, HasAllPrintableLettersAndTheyDiffer) {
  std::vector<std::string> drawn;
  for (char c = ' '; c <= '~'; ++c)
    drawn.push_back(
        read_png(png(with({TextItem{.at = {5, 15}, .text = std::string(1, c)}}), "")).pixels);
  std::ranges::sort(drawn);
  EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
}

TEST(Png, DrawsLinesBetweenTheirPoints) {
  const LineItem line = {{{5, 5}, {35, 5}, {35, 25}}, {.stroke = "ink", .thick = 2}};
  const ReadImage image = read_png(png(with({line}), ""));
  EXPECT_EQ(image.at(40, 10), bytes_of("ink"));
  EXPECT_EQ(image.at(70, 40), bytes_of("ink"));
  EXPECT_EQ(image.at(40, 30), bytes_of("paper"));
  const LineItem dashed = {line.points, {.stroke = "ink", .thick = 2, .dash = {5, 5}}};
  const ReadImage dashes = read_png(png(with({dashed}), ""));
  EXPECT_EQ(dashes.at(14, 10), bytes_of("ink"));
  EXPECT_EQ(dashes.at(24, 10), bytes_of("paper"));
}

TEST(Png, CannotBeEndless) {
  Picture picture = with({});
  picture.width = 1e6;
  expect_error([&] { png(picture, ""); }, {"too large"});
  expect_error([&] { png(with({}), "", 0); }, {"scale 0"});
}

TEST(Pictures, AreTheSameEachTime) {
  const Picture picture = with({TextItem{.at = {5, 15}, .text = "abc"},
                                DotItem{{9, 9}, 3, DotShape::diamond, {.fill = "s1"}}});
  EXPECT_EQ(svg(picture, "x"), svg(picture, "x"));
  EXPECT_EQ(png(picture, "x"), png(picture, "x"));
}

}  // namespace picture_tests
}  // namespace headlab
