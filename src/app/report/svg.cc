// Writer of SVG, identical to the page's export (src/app/report/page/draw/draw.js): the same items
// give the same elements in the same order, so that a figure looks the same from both. Numbers have
// at most two decimals. Read next: picture.cc, the palette.
#include <algorithm>
#include <cmath>

#include "headlab/app/report/picture.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr const char* kFont = R"(Helvetica, Arial, "Liberation Sans", sans-serif)";

/// Returns a text that XML 1.0 allows: only three control characters, and not U+FFFE and U+FFFF.
std::string xml(std::string_view text) {
  std::string out;
  for (const std::string& character : characters_of(text)) {
    const bool allowed =
        static_cast<unsigned char>(character[0]) >= 0x20 || character.find_first_of("\t\n\r") == 0;
    const bool none = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
    out += allowed && !none ? html_text(character) : "\xEF\xBF\xBD";
  }
  return out;
}

/// Corner, and whether a new stroke begins there.
struct Corner {
  Point at;
  bool begins = false;
};

/// Returns a number with at most two decimals, and never -0.
std::string drawn_number(double value) {
  const double rounded = std::floor(value * 100 + 0.5) / 100;
  return number_text(rounded == 0 ? 0 : rounded);  // never -0
}

std::vector<Corner> outline(const RectItem& rect) {
  const auto [x, y, w, h] = rect.box;
  return {{{x, y}, true}, {{x + w, y}}, {{x + w, y + h}}, {{x, y + h}}};
}

std::vector<Corner> outline(const LineItem& line) {
  std::vector<Corner> corners;
  for (const Point& point : line.points) corners.push_back({point, corners.empty()});
  return corners;
}

/// Returns the corners of a mark; none for a circle, which is an element of SVG.
std::vector<Corner> outline(const DotItem& dot) {
  const auto [x, y] = dot.at;
  const double r = dot.radius;
  switch (dot.shape) {
    case DotShape::circle:
      return {};
    case DotShape::square:
      return outline(RectItem{{x - r, y - r, 2 * r, 2 * r}});
    case DotShape::diamond:
      return {{{x, y - r * 1.3}, true}, {{x + r * 1.3, y}}, {{x, y + r * 1.3}}, {{x - r * 1.3, y}}};
    case DotShape::triangle:
      return {{{x, y - r * 1.2}, true}, {{x + r * 1.2, y + r}}, {{x - r * 1.2, y + r}}};
    case DotShape::cross:
      return {{{x - r, y - r}, true}, {{x + r, y + r}}, {{x + r, y - r}, true}, {{x - r, y + r}}};
  }
  return {};
}

std::string path_of(const std::vector<Corner>& corners) {
  std::string path;
  for (const Corner& corner : corners) {
    path +=
        text(corner.begins ? "M" : "L", drawn_number(corner.at.x), " ", drawn_number(corner.at.y));
  }
  return path;
}

std::string attributes(const Look& look) {
  std::string out = text(" fill=\"", look.fill.empty() ? "none" : color_of(look.fill), "\"");
  if (!look.stroke.empty()) {
    out += text(" stroke=\"", color_of(look.stroke), "\" stroke-width=\"", number_text(look.thick),
                "\"");
  }
  if (look.dash.empty()) return out;
  out += " stroke-dasharray=\"";
  for (std::size_t i = 0; i < look.dash.size(); ++i) {
    out += (i > 0 ? " " : "") + number_text(look.dash[i]);
  }
  return out + "\"";
}

/// Writes a path for each of 64 colours, in the order of first use.
std::string svg_of(const MapItem& map) {
  const double w = map.box.w / double(map.columns);
  const double h = map.box.h / double(map.rows);
  std::vector<std::pair<std::string, std::string>> paths;
  for (Index i = 0; i < map.rows * map.columns; ++i) {
    const int level = map_level(map.values[i]);
    if (level < 0 || map_colors()[level] == color_of("paper")) continue;
    const std::string& color = map_colors()[level > 251 ? 255 : level & ~3];
    auto path = std::ranges::find(paths, color, [](const auto& entry) { return entry.first; });
    if (path == paths.end()) path = paths.insert(path, {color, ""});
    const Index row = i / map.columns;
    const Index column = i % map.columns;
    path->second += text("M", drawn_number(map.box.x + double(column) * w), " ",
                         drawn_number(map.box.y + double(row) * h), "h", drawn_number(w), "v",
                         drawn_number(h), "h", drawn_number(-w), "z");
  }
  std::vector<std::string> elements;
  for (const auto& [color, path] : paths) {
    elements.push_back(text("<path fill=\"", color, "\" d=\"", path, "\"/>"));
  }
  return join(elements, "\n");
}

std::string svg_of(const RectItem& rect) {
  return text("<path d=\"", path_of(outline(rect)), "z\"", attributes(rect.look), "/>");
}

std::string svg_of(const LineItem& line) {
  return text("<path d=\"", path_of(outline(line)), "\"", attributes(line.look), "/>");
}

std::string svg_of(const DotItem& dot) {
  if (dot.shape != DotShape::circle) {
    return text("<path d=\"", path_of(outline(dot)), "z\"", attributes(dot.look), "/>");
  }
  return text("<circle cx=\"", drawn_number(dot.at.x), "\" cy=\"", drawn_number(dot.at.y),
              "\" r=\"", drawn_number(dot.radius), "\"", attributes(dot.look), "/>");
}

std::string svg_of(const TextItem& item) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  const std::string x = drawn_number(item.at.x);
  const std::string y = drawn_number(item.at.y);
  return text("<text x=\"", x, "\" y=\"", y, "\" font-size=\"", number_text(item.size),
              "\" font-family=\"", xml(kFont),
              "\" dominant-baseline=\"central\" direction=\"ltr\" text-anchor=\"",
              kAnchors[static_cast<int>(item.anchor)], "\" fill=\"", color_of(item.fill), "\"",
              item.bold ? " font-weight=\"bold\"" : "",
              item.turn != 0 ? text(" transform=\"rotate(", item.turn, " ", x, " ", y, ")\"") : "",
              " xml:space=\"preserve\">", xml(item.text), "</text>");
}

}  // namespace

std::string svg(const Picture& picture, const std::string& about) {
  const std::string w = drawn_number(picture.width);
  const std::string h = drawn_number(picture.height);
  const auto size = [&](double units) {
    return picture.printed ? drawn_number(units * kPrintedUnit / 72 * 25.4) + "mm"
                           : drawn_number(units);
  };
  std::string out = text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", size(picture.width),
                         "\" height=\"", size(picture.height), "\" viewBox=\"0 0 ", w, " ", h,
                         "\" role=\"img\" aria-label=\"", xml(picture.title), "\">\n<title>",
                         xml(picture.title), "</title>\n<desc>", xml(picture.sentence),
                         "</desc>\n<metadata>", xml(about), "</metadata>\n<rect width=\"", w,
                         "\" height=\"", h, "\" fill=\"", color_of("paper"), "\"/>\n");
  for (const Item& item : picture.items) {
    out += std::visit([](const auto& one) { return svg_of(one); }, item) + "\n";
  }
  return out + "</svg>\n";
}

}  // namespace headlab
