// A picture as pixels. Each pixel of an item is mixed by how much of it the item covers: for areas
// by counting samples inside, for lines by the distance from their middle. Letters are squares from
// a font of 5 x 7 dots. Everything is computed in doubles from the item alone, so an image is the
// same on any machine. Read next: png.h, which makes a file of it; svg.cc.
#include <algorithm>
#include <array>
#include <cmath>

#include "headlab/base/error.h"
#include "report/outline.h"
#include "report/png.h"

namespace headlab {
namespace {

// ---- the font -----------------------------------------------------------------------------------

constexpr int kGlyphRows = 9, kGlyphColumns = 5;  // two of the rows are below the line
constexpr int kAdvance = kGlyphColumns + 1;

/// The characters from ' ' to '~', nine digits of base 32 each: a digit is a row, its highest bit
/// the leftmost dot.
constexpr std::string_view kGlyphs =
    "000000000444440400aa0000000aavavaa004fke5u400op248j300cik8lid00440000000"  //  !"#$%&'
    "24888420084222480004lel4000044v4400000000c480000v0000000000cc0011248gg00"  // ()*+,-./
    "ehjlphe004c4444e00eh1248v00v2421he0026aiv2200vgu11he0068guhhe00v12488800"  // 01234567
    "ehhehhe00ehhf12c000cc0cc0000cc0c4800248g8420000v0v0000842124800eh1240400"  // 89:;<=>?
    "eh1dlle00ehhvhhh00uhhuhhu00ehggghe00sihhhis00vgguggv00vgguggg00ehgnhhf00"  // @ABCDEFG
    "hhhvhhh00e44444e0072222ic00hikokih00ggggggv00hrllhhh00hhpljhh00ehhhhhe00"  // HIJKLMNO
    "uhhuggg00ehhhlid00uhhukih00fgge11u00v44444400hhhhhhe00hhhhha400hhhllla00"  // PQRSTUVW
    "hha4ahh00hhha44400v1248gv00e88888e00gg8421100e22222e004ah000000000000v00"  // XYZ[\]^_
    "84000000000e1fhf00ggmphhu0000egghe0011djhhf0000ehvge00698s8880000fhhhf1e"  // `abcdefg
    "ggmphhh0040c444e002062222icggikoki00c44444e0000qllll0000mphhh0000ehhhe00"  // hijklmno
    "00uhhhugg00fhhhf1100mpggg0000fge1u0088s88960000hhhjd0000hhha40000hhlla00"  // pqrstuvw
    "00ha4ah0000hhhhf1e00v248v00244844200444444400844244800008l20000";          // xyz{|}~
constexpr std::string_view kUnknown = "vhhhhhv00";

/// The rows of a glyph; a box for what is not in the font.
std::array<int, kGlyphRows> rows_of(char character) {
  const std::size_t place = static_cast<unsigned char>(character) - std::size_t{' '};
  const bool known = place < kGlyphs.size() / kGlyphRows;
  const std::string_view digits = known ? kGlyphs.substr(place * kGlyphRows, kGlyphRows) : kUnknown;
  std::array<int, kGlyphRows> rows{};
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows[row] = digits[row] <= '9' ? digits[row] - '0' : digits[row] - 'a' + 10;
  return rows;
}

/// One byte for each character: what is not ASCII becomes what it resembles, or 127.
std::string in_ascii(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 3> kAlike = {
      {{"★", '*'}, {"…", '.'}, {"−", '-'}}};
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte & 0xC0) == 0x80) continue;  // the rest of a character
    out += byte < 0x80 ? text[at] : '\x7F';
    for (const auto& [character, alike] : kAlike)
      if (text.substr(at).starts_with(character)) out.back() = alike;
  }
  return out;
}

// ---- areas and lines ----------------------------------------------------------------------------

double distance_to_segment(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (length > 0 ? length : 1);
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Whether a polygon holds a point, by the parity of crossings.
bool inside(const std::vector<Corner>& corners, const Point& p) {
  bool in = false;
  for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
    const Point &a = corners[i].at, &b = corners[j].at;
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) in = !in;
  }
  return in;
}

using Segment = std::pair<Point, Point>;

/// The pieces of a line that are drawn, of the given pattern of lengths drawn and left out.
std::vector<Segment> dashed(const std::vector<Segment>& segments, const std::vector<double>& dash) {
  if (dash.empty()) return segments;
  std::vector<Segment> pieces;
  std::size_t place = 0;
  double left = dash[0];
  for (const Segment& segment : segments) {
    const Point &a = segment.first, &b = segment.second;
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const auto point = [&](double at) {
      return Point{a.x + (b.x - a.x) * at / length, a.y + (b.y - a.y) * at / length};
    };
    for (double at = 0; at < length;) {
      const double step = std::min(left, length - at);
      if (place % 2 == 0) pieces.emplace_back(point(at), point(at + step));
      at += step;
      left -= step;
      if (left <= 0) left = dash[++place % dash.size()];
    }
  }
  return pieces;
}

// ---- the canvas ---------------------------------------------------------------------------------

class Canvas {
 public:
  Canvas(const Picture& picture, double scale)
      : image_(static_cast<Index>(std::ceil(picture.width * scale)),
               static_cast<Index>(std::ceil(picture.height * scale))),
        scale_(scale) {
    cover({0, 0, double(image_.width), double(image_.height)}, rgb_of("paper"),
          [](const Point&) { return 1.0; });
  }

  void draw(const MapItem& map) {
    for (Index i = 0; i < map.rows * map.columns; ++i) {
      if (std::isnan(map.values[i])) continue;
      const double w = map.box.w / double(map.columns), h = map.box.h / double(map.rows);
      fill({map.box.x + double(i % map.columns) * w, map.box.y + double(i / map.columns) * h, w, h},
           map_color(map.values[i]));
    }
  }
  void draw(const RectItem& rect) { draw_outline(outline(rect), rect.look, true); }
  void draw(const LineItem& line) { draw_outline(outline(line), line.look, false); }
  void draw(const DotItem& dot) {
    if (dot.shape != DotShape::circle) return draw_outline(outline(dot), dot.look, true);
    const Point middle = scaled(dot.at);
    const double radius = dot.radius * scale_, thick = dot.look.thick * scale_;
    const Box around = box_around(middle, middle, radius + thick);
    const auto distance = [&](const Point& p) {
      return std::hypot(p.x - middle.x, p.y - middle.y) - radius;
    };
    if (!dot.look.fill.empty())
      cover(around, rgb_of(dot.look.fill), [&](const Point& p) { return 0.5 - distance(p); });
    if (!dot.look.stroke.empty())
      cover(around, rgb_of(dot.look.stroke),
            [&](const Point& p) { return (thick + 1) / 2 - std::abs(distance(p)); });
  }
  void draw(const TextItem& item) {
    const std::string letters = in_ascii(item.text);
    const double size = std::max(1.0, std::round(item.size * scale_ * 0.1)) / scale_;  // of a dot
    const double width = (double(letters.size()) * kAdvance - 1) * size;
    const double start = item.anchor == Anchor::start ? 0
                         : item.anchor == Anchor::end ? -width
                                                      : -width / 2;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto rows = rows_of(letters[i]);
      for (int dot = 0; dot < kGlyphRows * kGlyphColumns; ++dot) {
        const int row = dot / kGlyphColumns, column = dot % kGlyphColumns;
        if ((rows[row] >> (kGlyphColumns - 1 - column) & 1) == 0) continue;
        const double along = start + (double(i) * kAdvance + column) * size;
        fill(turned(item, {along, (row - 3.5) * size, size, size}), rgb_of(item.fill));
      }
    }
  }

  Image take() { return std::move(image_); }

 private:
  Point scaled(const Point& p) const { return {p.x * scale_, p.y * scale_}; }

  static Box box_around(const Point& a, const Point& b, double margin) {
    return {std::min(a.x, b.x) - margin, std::min(a.y, b.y) - margin,
            std::abs(a.x - b.x) + 2 * margin, std::abs(a.y - b.y) + 2 * margin};
  }

  /// A box relative to a text's place, as the text is turned.
  static Box turned(const TextItem& item, const Box& box) {
    if (item.turn == 0) return {item.at.x + box.x, item.at.y + box.y, box.w, box.h};
    if (item.turn > 0) return {item.at.x - box.y - box.h, item.at.y + box.x, box.h, box.w};
    return {item.at.x + box.y, item.at.y - box.x - box.w, box.h, box.w};
  }

  /// Mixes a colour into the pixels of a box, by coverage(middle of the pixel), cut to 0 ... 1.
  template <class Coverage>
  void cover(const Box& box, const Rgb& color, const Coverage& coverage) {
    const auto within = [](double value, Index limit) {
      return static_cast<Index>(std::clamp(value, 0.0, double(limit)));
    };
    const Index x1 = within(std::ceil(box.x + box.w), image_.width);
    const Index y1 = within(std::ceil(box.y + box.h), image_.height);
    for (Index y = within(std::floor(box.y), image_.height); y < y1; ++y) {
      for (Index x = within(std::floor(box.x), image_.width); x < x1; ++x) {
        const double share = std::clamp(coverage(Point{double(x) + .5, double(y) + .5}), 0.0, 1.0);
        for (std::size_t c = 0; c < 3 && share > 0; ++c) {
          std::uint8_t& channel = image_.bytes[(y * image_.width + x) * 3 + c];
          channel = static_cast<std::uint8_t>(
              std::lround(channel + share * (double(color[c]) - channel)));
        }
      }
    }
  }

  /// Fills a box of the picture, its edges on the nearest pixels: neighbours leave no seam.
  void fill(const Box& box, const Rgb& color) {
    const auto pixel = [&](double at) { return std::round(at * scale_); };
    const double x = pixel(box.x), y = pixel(box.y);
    cover({x, y, pixel(box.x + box.w) - x, pixel(box.y + box.h) - y}, color,
          [](const Point&) { return 1.0; });
  }

  void draw_outline(std::vector<Corner> corners, const Look& look, bool closed) {
    if (corners.empty()) return;
    Point low = scaled(corners[0].at), high = low;
    std::vector<Segment> segments;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      Point& at = corners[i].at;
      at = scaled(at);
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
      if (!corners[i].begins) segments.emplace_back(corners[i - 1].at, at);
    }
    if (closed && corners.size() > 2) segments.emplace_back(corners.back().at, corners[0].at);
    if (!look.fill.empty())
      cover(box_around(low, high, 1), rgb_of(look.fill),
            [&](const Point& p) { return share_inside(corners, p); });
    if (!look.stroke.empty()) stroke(segments, look);
  }

  /// The share of a pixel inside a polygon, by 4 x 4 samples.
  static double share_inside(const std::vector<Corner>& corners, const Point& middle) {
    int count = 0;
    for (int sample = 0; sample < 16; ++sample)
      count +=
          inside(corners, {middle.x + (sample % 4 - 1.5) / 4, middle.y + (sample / 4 - 1.5) / 4});
    return count / 16.0;
  }

  void stroke(const std::vector<Segment>& segments, const Look& look) {
    const double half = look.thick * scale_ / 2;
    std::vector<double> dash = look.dash;
    for (double& length : dash) length *= scale_;
    for (const auto& [a, b] : dashed(segments, dash))
      cover(box_around(a, b, half + 1), rgb_of(look.stroke), [&, from = a, to = b](const Point& p) {
        return half + 0.5 - distance_to_segment(p, from, to);
      });
  }

  Image image_;
  double scale_;
};

}  // namespace

Rgb map_color(double value) {
  const int level = map_level(value);
  return rgb_of(level < 0 ? "paper" : map_colors()[level]);
}

std::string png(const Picture& picture, const std::string& about, double scale) {
  constexpr double kMostPixels = 64e6;
  require(scale > 0 && picture.width * picture.height * scale * scale <= kMostPixels,
          "an image of ", picture.width, " x ", picture.height, " pixels at scale ", scale,
          " would be too large");
  Canvas canvas(picture, scale);
  for (const Item& item : picture.items)
    std::visit([&](const auto& one) { canvas.draw(one); }, item);
  return png_bytes(canvas.take(), {{"Title", picture.title},
                                   {"Description", picture.sentence},
                                   {"Comment", about}});
}

}  // namespace headlab
