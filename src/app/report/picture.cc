// The palette and the colours of maps. Zero has the colour of the paper, so that an empty cell
// looks empty. From 0.1 on the map is cividis, whose lightness changes monotonically and which
// looks the same to readers with and without the common colour blindnesses. Categories have Okabe
// and Ito's colours. Read next: svg.cc, which draws with them.
#include "headlab/app/report/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "app/report/colors.h"
#include "headlab/core/base/error.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kPalette = {{
    {"paper", "#ffffff"},
    {"ink", "#16181d"},
    {"muted", "#565c68"},
    {"rule", "#d3d7de"},
    {"edge", "#7b828f"},
    {"accent", "#0b5cad"},
    {"good", "#006b4e"},
    {"bad", "#b3261e"},
    {"s0", "#0072b2"},
    {"s1", "#d55e00"},
    {"s2", "#00805c"},
    {"s3", "#a8527f"},
    {"s4", "#7a6200"},
    {"s5", "#16181d"},
    {"s6", "#8a5a00"},
}};
/// Widths in thousandths of the size, from the blank to ~. Source: Adobe's metrics of Helvetica.
constexpr std::array<std::uint16_t, 95> kHelvetica = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr double kOtherLetter = 0.6, kWideLetter = 1, kBoldLetter = 1.06;

/// Cividis at nine equal steps, from its light end to its dark one.
constexpr std::array<Rgb, 9> kCividis = {{{0xfe, 0xe8, 0x38},
                                          {0xde, 0xc9, 0x58},
                                          {0xbc, 0xae, 0x6c},
                                          {0x9c, 0x94, 0x74},
                                          {0x7d, 0x7c, 0x78},
                                          {0x60, 0x64, 0x6e},
                                          {0x42, 0x4f, 0x6b},
                                          {0x1d, 0x3a, 0x6d},
                                          {0x00, 0x22, 0x4e}}};

/// Returns the colour at `t` (0 to 1) between equal stops.
Rgb between(std::span<const Rgb> stops, double t) {
  const double at = t * static_cast<double>(stops.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  Rgb mixed{};
  for (std::size_t c = 0; c < mixed.size(); ++c) {
    const double from = stops[i][c];
    const double to = stops[i + 1][c];
    mixed[c] = static_cast<std::uint8_t>(std::lround(from + (to - from) * (at - double(i))));
  }
  return mixed;
}

std::string hex_of(const Rgb& rgb) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex = "#";
  for (const std::uint8_t channel : rgb) {
    hex += kDigits[channel / 16];
    hex += kDigits[channel % 16];
  }
  return hex;
}

/// Returns the width of a character, in units of the text's size.
double letter_width(const std::string& character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first >= 0xE1) return kWideLetter;  // from U+1000 on
  if (first >= 0x7F) return kOtherLetter;
  return first >= 0x20 ? kHelvetica[first - 0x20] / 1000.0 : 0;
}

}  // namespace

Rgb rgb_of(std::string_view color) {
  const std::string hex = color_of(color);
  require(hex.size() == 7 && hex[0] == '#' &&
              hex.find_first_not_of("0123456789abcdef", 1) == hex.npos,
          "cannot draw with the colour '", color, "': expected #RRGGBB");
  Rgb rgb{};
  for (std::size_t c = 0; c < rgb.size(); ++c) {
    rgb[c] = static_cast<std::uint8_t>(std::stoi(hex.substr(1 + 2 * c, 2), nullptr, 16));
  }
  return rgb;
}

std::string color_of(std::string_view role) {
  const auto entry = std::ranges::find(kPalette, role, [](const auto& e) { return e.first; });
  return std::string(entry != kPalette.end() ? entry->second : role);
}

const std::vector<std::string>& map_colors() {
  static const std::vector<std::string> colors = [] {
    constexpr double kFromPaper = 0.1;  // below it they run into the paper
    const std::array<Rgb, 2> blend = {rgb_of("paper"), between(kCividis, kFromPaper)};
    std::vector<std::string> all;
    for (int level = 0; level < 256; ++level) {
      const double t = level / 255.0;
      all.push_back(
          hex_of(t < kFromPaper ? between(blend, t * (1 / kFromPaper)) : between(kCividis, t)));
    }
    return all;
  }();
  return colors;
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (const std::string& character : characters_of(text)) width += letter_width(character);
  return width * size * (bold ? kBoldLetter : 1);
}

int map_level(double value) {
  return std::isnan(value) ? -1 : static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
}

}  // namespace headlab
