// A separator more is a piece more, so that whoever reads a list sees what was left out: "1++3" has
// an empty piece, about which a message can speak.
// Read next: error.cc.
#include "headlab/base/text.h"

#include <algorithm>

namespace headlab {

std::vector<std::string_view> split(std::string_view whole, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find(separator, begin), whole.size());
    pieces.push_back(whole.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void append_utf8(std::string& out, char32_t point) {
  const int followers = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr char32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[followers] | (point >> (6 * followers)));
  for (int i = followers - 1; i >= 0; --i)
    out += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
}

}  // namespace headlab
