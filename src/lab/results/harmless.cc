// Text that cannot steer a terminal: control characters, signs of the direction of text and bytes
// that are not UTF-8 are shown as \xNN. Everything that the program prints passes through it.
// Read next: text_width.cc.
#include <algorithm>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "headlab/lab/results/words.h"

namespace headlab {

std::string_view first_character(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // bytes of a character
  for (std::size_t length = 1; length <= std::min(kLongest, text.size()); ++length) {
    std::size_t ignored = 0;
    if (valid_utf8(text.substr(0, length), ignored)) return text.substr(0, length);
  }
  return {};
}

char32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  const auto lead_bits = static_cast<unsigned>(6 - std::min<std::size_t>(character.size(), 5));
  char32_t point = lead & ((1U << (lead_bits + 1)) - 1);
  for (const char byte : character.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return point;
}

bool is_steering(char32_t point) {
  const auto lies_in = [point](char32_t first, char32_t last) {
    return point >= first && point <= last;
  };
  const bool is_control = point < 0x20 || lies_in(0x7F, 0x9F);
  const bool is_bidirectional = point == 0x061C || lies_in(0x200E, 0x200F) ||
                                lies_in(0x202A, 0x202E) || lies_in(0x2066, 0x2069);
  return is_control || is_bidirectional;
}

std::string harmless(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    const std::string_view whole = first_character(text);
    const std::string_view character = whole.empty() ? text.substr(0, 1) : whole;
    const bool is_layout = lines && (character == "\n" || character == "\t");
    const bool is_escaped = whole.empty() || (is_steering(code_point(whole)) && !is_layout);
    for (const char byte : character) {
      const std::string escaped = "\\x" + hexadecimal(static_cast<unsigned char>(byte), 2);
      out += is_escaped ? escaped : std::string(1, byte);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

void tell_user(const std::string& note) { print_note(harmless(note)); }

}  // namespace headlab
