// Writer of PDF 1.4, without compression or embedded fonts, since every reader has Helvetica. The
// document contains no time, so equal pictures are equal bytes. The origin of a PDF is at the
// bottom left, that of pictures at the top left: y is mirrored when a corner is written. Read next:
// svg.cc, the other writer.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

#include "app/report/colors.h"
#include "app/report/outline.h"
#include "headlab/app/report/picture.h"
#include "headlab/core/base/error.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

// Distance from a text's base line to its middle, in sizes; position of the control points of a
// quarter circle.
constexpr double kCentre = 0.35, kCircle = 0.5523;

std::string color_text(std::string_view color, const char* command) {
  std::string out;
  for (const std::uint8_t channel : rgb_of(color)) out += drawn_number(channel / 255.0) + " ";
  return out + command + "\n";
}

/// Mark of a blank, which no font of PDF readers has: see blank_marks.
constexpr std::string_view kBlankMark = "␣";

/// Returns the code of a character in Windows-1252, or of its substitute: an asterisk for a star,
/// and a blank for the mark of one. None if there is neither.
std::optional<int> code_of(const std::string& character) {
  static const std::map<std::string, int> kOthers = {
      {"★", '*'},  {"−", '-'},  {"␣", ' '},  {"€", 0x80}, {"‚", 0x82}, {"ƒ", 0x83},
      {"„", 0x84}, {"…", 0x85}, {"†", 0x86}, {"‡", 0x87}, {"ˆ", 0x88}, {"‰", 0x89},
      {"Š", 0x8A}, {"‹", 0x8B}, {"Œ", 0x8C}, {"Ž", 0x8E}, {"‘", 0x91}, {"’", 0x92},
      {"“", 0x93}, {"”", 0x94}, {"•", 0x95}, {"–", 0x96}, {"—", 0x97}, {"˜", 0x98},
      {"™", 0x99}, {"š", 0x9A}, {"›", 0x9B}, {"œ", 0x9C}, {"ž", 0x9E}, {"Ÿ", 0x9F}};
  const int first = static_cast<unsigned char>(character[0]);
  const int last = static_cast<unsigned char>(character.back());
  if (first < 0x7F) return first;
  if (first == 0xC2 && last >= 0xA0) return last;
  if (first == 0xC3) return last + 0x40;
  const auto found = kOthers.find(character);
  return found == kOthers.end() ? std::nullopt : std::optional(found->second);
}

/// Returns a text in Windows-1252, in brackets; characters that it lacks become ?.
std::string string_of(std::string_view text) {
  std::string out = "(";
  for (const std::string& character : characters_of(text)) {
    const int code = code_of(character).value_or('?');
    std::array<char, 5> octal{};
    std::snprintf(octal.data(), octal.size(), "\\%03o", code);
    const bool plain = code >= 0x20 && code < 0x7F && code != '(' && code != ')' && code != '\\';
    out += plain ? std::string(1, static_cast<char>(code)) : std::string(octal.data());
  }
  return out + ")";
}

/// Returns each index at which `part` begins in `text`.
std::vector<std::size_t> places_of(std::string_view part, std::string_view text) {
  std::vector<std::size_t> places;
  std::size_t at = text.find(part);
  while (at != text.npos) {
    places.push_back(at);
    at = text.find(part, at + part.size());
  }
  return places;
}

/// Returns the text with blanks in place of their marks.
std::string with_blanks(std::string text) {
  std::size_t at = text.find(kBlankMark);
  while (at != text.npos) {
    text.replace(at, kBlankMark.size(), " ");
    at = text.find(kBlankMark, at);
  }
  return text;
}

/// Returns the commands that set the colours, then the path, then the command that draws it.
std::string drawn(const Look& look, const std::string& path, bool closed) {
  if (look.fill.empty() && look.stroke.empty()) return "";
  std::string out;
  std::string dash;
  for (const double length : look.dash) dash += drawn_number(length) + " ";
  if (!look.fill.empty()) out += color_text(look.fill, "rg");
  if (!look.stroke.empty()) {
    out += color_text(look.stroke, "RG") + drawn_number(look.thick) + " w [" + dash + "] 0 d\n";
  }
  const char* stroking = look.fill.empty() ? "S" : "B";
  const char* how = look.stroke.empty() ? "f" : stroking;
  return out + path + (closed ? "h " : "") + how + "\n";
}

struct PdfItems {
  double height;

  std::string at(double x, double y) const {
    return drawn_number(x) + " " + drawn_number(height - y) + " ";
  }
  std::string path(const std::vector<Corner>& corners) const {
    std::string out;
    for (const Corner& corner : corners) {
      out += at(corner.at.x, corner.at.y) + (corner.begins ? "m " : "l ");
    }
    return out;
  }

  /// Draws a map. Cells overlap the next ones slightly, or the paper would show between them.
  std::string operator()(const MapItem& map) const {
    constexpr double kOver = 0.1;
    const double w = map.box.w / double(map.columns);
    const double h = map.box.h / double(map.rows);
    std::map<int, std::string> cells;
    for (Index i = 0; i < map.rows * map.columns; ++i) {
      const int level = map_level(map.values[i]);
      if (level < 0 || map_colors()[level] == color_of("paper")) continue;
      const Index row = i / map.columns;
      const Index column = i % map.columns;
      cells[level > 251 ? 255 : level & ~3] +=
          at(map.box.x + double(column) * w, map.box.y + double(row + 1) * h) +
          drawn_number(w + (column + 1 < map.columns ? kOver : 0)) + " " +
          drawn_number(h + (row > 0 ? kOver : 0)) + " re ";
    }
    std::string out;
    for (const auto& [level, path] : cells) {
      out += color_text(map_colors()[level], "rg") + path + "f\n";
    }
    return out;
  }
  std::string operator()(const RectItem& rect) const {
    return drawn(rect.look, path(outline(rect)), true);
  }
  std::string operator()(const LineItem& line) const {
    return drawn(line.look, path(outline(line)), false);
  }
  std::string operator()(const DotItem& dot) const {
    if (dot.shape != DotShape::circle) {
      return drawn(dot.look, path(outline(dot)), dot.shape != DotShape::cross);
    }
    const auto [x, y] = dot.at;
    const double r = dot.radius;
    const double c = kCircle * r;
    return drawn(dot.look,
                 at(x + r, y) + "m " + at(x + r, y - c) + at(x + c, y - r) + at(x, y - r) + "c " +
                     at(x - c, y - r) + at(x - r, y - c) + at(x - r, y) + "c " + at(x - r, y + c) +
                     at(x - c, y + r) + at(x, y + r) + "c " + at(x + c, y + r) + at(x + r, y + c) +
                     at(x + r, y) + "c ",
                 true);
  }
  /// Returns the start of a text relative to its anchor: as set in Helvetica, with blanks for their
  /// marks.
  static double start_of(const TextItem& item) {
    const double before =
        static_cast<int>(item.anchor) / 2.0;  // share of the text to the left of its anchor
    return -before * text_width(with_blanks(item.text), item.size, item.bold);
  }
  /// Returns the rotation of a text, as the first four numbers of a PDF matrix.
  static const char* turn_of(const TextItem& item) {
    if (item.turn == 0) return "1 0 0 1 ";
    return item.turn < 0 ? "0 1 -1 0 " : "0 -1 1 0 ";
  }
  /// Draws a bracket lying on its back for each blank that the text marks.
  std::string blank_marks(const TextItem& item) const {
    // Corners of the bracket, in units of the text's size.
    constexpr double kFrom = 0.04;
    constexpr double kTo = 0.24;
    constexpr double kTop = 0.1;
    constexpr double kBottom = -0.06;
    std::string paths;
    for (const std::size_t mark : places_of(kBlankMark, item.text)) {
      const std::string left = with_blanks(item.text.substr(0, mark));
      const double x = start_of(item) + text_width(left, item.size, item.bold);
      const auto corner = [&](double across, double up, const char* command) {
        return drawn_number(x + across * item.size) + " " +
               drawn_number((up - kCentre) * item.size) + " " + command;
      };
      paths += corner(kFrom, kTop, "m ") + corner(kFrom, kBottom, "l ") +
               corner(kTo, kBottom, "l ") + corner(kTo, kTop, "l ");
    }
    if (paths.empty()) return "";
    return "q " + std::string(turn_of(item)) + at(item.at.x, item.at.y) + "cm " +
           color_text(item.fill, "RG") + drawn_number(item.size / 16) + " w [] 0 d " + paths +
           "S Q\n";
  }
  std::string operator()(const TextItem& item) const {
    return blank_marks(item) + "BT " + color_text(item.fill, "rg") + (item.bold ? "/B " : "/R ") +
           drawn_number(item.size) + " Tf " + turn_of(item) + at(item.at.x, item.at.y) + "Tm " +
           drawn_number(start_of(item)) + " " + drawn_number(-kCentre * item.size) + " Td " +
           string_of(item.text) + " Tj ET\n";
  }
};

}  // namespace

std::vector<std::string> lacking_in_pdf(const Picture& picture) {
  std::vector<std::string> lacking;
  for (const Item& item : picture.items) {
    const TextItem* words = std::get_if<TextItem>(&item);
    if (words == nullptr) continue;
    for (std::string& character : characters_of(words->text)) {
      if (!code_of(character) && std::ranges::count(lacking, character) == 0) {
        lacking.push_back(std::move(character));
      }
    }
  }
  return lacking;
}

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
  std::string out = "%PDF-1.4\n";
  std::string places;
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
