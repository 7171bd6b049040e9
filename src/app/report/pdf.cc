// PDF 1.4, written as it is drawn: no compression and no fonts inside, since every reader has
// Helvetica. The document says no time, so that equal pictures are equal bytes. Its origin is at
// the bottom left, that of pictures at the top left: y is turned over where a corner is written.
// Read next: svg.cc, the other writer.
#include <array>
#include <cstdio>
#include <map>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/picture.h"
#include "report/colors.h"
#include "report/outline.h"

namespace headlab {
namespace {

// From a text's base line to its middle, in sizes; where a quarter circle's control points lie.
constexpr double kCentre = 0.35, kCircle = 0.5523;

std::string color_text(std::string_view color, const char* command) {
  std::string out;
  for (const std::uint8_t channel : rgb_of(color)) out += drawn_number(channel / 255.0) + " ";
  return out + command + "\n";
}

/// Windows-1252, in brackets; what has no place there becomes ?, a star an asterisk.
std::string string_of(std::string_view text) {
  static const std::map<std::string, int> kOthers = {{"★", '*'},  {"−", '-'},  {"€", 0x80},
                                                     {"…", 0x85}, {"‘", 0x91}, {"’", 0x92},
                                                     {"“", 0x93}, {"”", 0x94}, {"•", 0x95},
                                                     {"–", 0x96}, {"—", 0x97}};
  std::string out = "(";
  for (const std::string& character : characters_of(text)) {
    int code = static_cast<unsigned char>(character[0]);
    if (code == 0xC2 || code == 0xC3)
      code = (code == 0xC3 ? 0x40 : 0) + static_cast<unsigned char>(character.back());
    else if (code >= 0x7F)
      code = kOthers.contains(character) ? kOthers.at(character) : '?';
    std::array<char, 5> octal{};
    std::snprintf(octal.data(), octal.size(), "\\%03o", code);
    const bool plain = code >= 0x20 && code < 0x7F && code != '(' && code != ')' && code != '\\';
    out += plain ? std::string(1, static_cast<char>(code)) : std::string(octal.data());
  }
  return out + ")";
}

/// What fills and strokes a path, then the path, then the command that draws it.
std::string drawn(const Look& look, const std::string& path, bool closed) {
  if (look.fill.empty() && look.stroke.empty()) return "";
  std::string out, dash;
  for (const double length : look.dash) dash += drawn_number(length) + " ";
  if (!look.fill.empty()) out += color_text(look.fill, "rg");
  if (!look.stroke.empty())
    out += color_text(look.stroke, "RG") + drawn_number(look.thick) + " w [" + dash + "] 0 d\n";
  const char* how = look.stroke.empty() ? "f" : look.fill.empty() ? "S" : "B";
  return out + path + (closed ? "h " : "") + how + "\n";
}

struct PdfItems {
  double height;

  std::string at(double x, double y) const {
    return drawn_number(x) + " " + drawn_number(height - y) + " ";
  }
  std::string path(const std::vector<Corner>& corners) const {
    std::string out;
    for (const Corner& corner : corners)
      out += at(corner.at.x, corner.at.y) + (corner.begins ? "m " : "l ");
    return out;
  }

  /// Cells reach a little over the next ones, or the paper would shine through between them.
  std::string operator()(const MapItem& map) const {
    constexpr double kOver = 0.1;
    const double w = map.box.w / double(map.columns), h = map.box.h / double(map.rows);
    std::map<int, std::string> cells;
    for (Index i = 0; i < map.rows * map.columns; ++i) {
      const int level = map_level(map.values[i]);
      if (level < 0 || map_colors()[level] == color_of("paper")) continue;
      const Index row = i / map.columns, column = i % map.columns;
      cells[level > 251 ? 255 : level & ~3] +=
          at(map.box.x + double(column) * w, map.box.y + double(row + 1) * h) +
          drawn_number(w + (column + 1 < map.columns ? kOver : 0)) + " " +
          drawn_number(h + (row > 0 ? kOver : 0)) + " re ";
    }
    std::string out;
    for (const auto& [level, path] : cells)
      out += color_text(map_colors()[level], "rg") + path + "f\n";
    return out;
  }
  std::string operator()(const RectItem& rect) const {
    return drawn(rect.look, path(outline(rect)), true);
  }
  std::string operator()(const LineItem& line) const {
    return drawn(line.look, path(outline(line)), false);
  }
  std::string operator()(const DotItem& dot) const {
    if (dot.shape != DotShape::circle)
      return drawn(dot.look, path(outline(dot)), dot.shape != DotShape::cross);
    const auto [x, y] = dot.at;
    const double r = dot.radius, c = kCircle * r;
    return drawn(dot.look,
                 at(x + r, y) + "m " + at(x + r, y - c) + at(x + c, y - r) + at(x, y - r) + "c " +
                     at(x - c, y - r) + at(x - r, y - c) + at(x - r, y) + "c " + at(x - r, y + c) +
                     at(x - c, y + r) + at(x, y + r) + "c " + at(x + c, y + r) + at(x + r, y + c) +
                     at(x + r, y) + "c ",
                 true);
  }
  std::string operator()(const TextItem& item) const {
    const double before = static_cast<int>(item.anchor) / 2.0;  // the share left of its place
    const char* turn = item.turn == 0 ? "1 0 0 1 " : item.turn < 0 ? "0 1 -1 0 " : "0 -1 1 0 ";
    return "BT " + color_text(item.fill, "rg") + (item.bold ? "/B " : "/R ") +
           drawn_number(item.size) + " Tf " + turn + at(item.at.x, item.at.y) + "Tm " +
           drawn_number(-before * text_width(item.text, item.size, item.bold)) + " " +
           drawn_number(-kCentre * item.size) + " Td " + string_of(item.text) + " Tj ET\n";
  }
};

}  // namespace

std::string pdf(const Picture& picture, const std::string& about) {
  const std::string unit = text(kPrintedUnit);
  std::string drawing = unit + " 0 0 " + unit + " 0 0 cm\n";
  for (const Item& item : picture.items) drawing += std::visit(PdfItems{picture.height}, item);
  const std::string font = "<< /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont ";
  const std::string objects[] = {
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      text("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 ",
           drawn_number(picture.width * kPrintedUnit), " ",
           drawn_number(picture.height * kPrintedUnit),
           "] /Resources << /Font << /R 5 0 R /B 6 0 R >> >> >>"),
      text("<< /Length ", drawing.size(), " >>\nstream\n", drawing, "endstream"),
      font + "/Helvetica >>",
      font + "/Helvetica-Bold >>",
      text("<< /Title ", string_of(picture.title), " /Subject ", string_of(picture.sentence),
           " /Keywords ", string_of(about), " >>")};
  std::string out = "%PDF-1.4\n", places;
  for (std::size_t i = 0; i < std::size(objects); ++i) {
    std::array<char, 21> place{};
    std::snprintf(place.data(), place.size(), "%010zu 00000 n \n", out.size());
    places += place.data();
    out += text(i + 1, " 0 obj\n", objects[i], "\nendobj\n");
  }
  const std::size_t start = out.size();
  return text(out, "xref\n0 8\n0000000000 65535 f \n", places,
              "trailer\n<< /Size 8 /Root 1 0 R /Info 7 0 R >>\nstartxref\n", start, "\n%%EOF\n");
}

}  // namespace headlab
