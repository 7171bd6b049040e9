// UTF-8, held-out data and display of characters for language tasks. Every token must be visible in
// a terminal or a report, so invisible characters are written as escapes. The ranges cover the
// Unicode characters that occur in texts. Read next: text.cc.
#include "lab/data/language.h"

#include <algorithm>

#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/data/data_files.h"

namespace headlab {
namespace {

/// Returns whether a character would be invisible or affect its neighbours: control characters,
/// special spaces, combining marks and joiners, marks that change the direction of writing.
bool is_hidden(char32_t point) {
  constexpr char32_t kRanges[][2] = {{0, 0x1F},        {0x7F, 0xA0},     {0xAD, 0xAD},
                                     {0x300, 0x36F},   {0x1680, 0x1680}, {0x2000, 0x200F},
                                     {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},
                                     {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
  return std::ranges::any_of(kRanges, [&](const auto& range) {
    return range[0] <= point && point <= range[1];
  });
}

}  // namespace

void HeldOut::bind(Settings& s, const std::string& of_what) {
  const auto set = [this](const Json& json) {
    require(json.is_string() ? !json.string().empty()
                             : json.is_number() && json.number() >= .001 && json.number() <= .9,
            "validation must be a share from 0.001 to 0.9 or a file, got ", json.dump());
    validation = json.is_string() ? json.string() : "";
    if (json.is_number()) share = json.number();
  };
  s.add({"validation", "X|FILE", "share of the " + of_what + " that is held out, or a file of them",
         set, [this] { return validation.empty() ? Json(share) : Json(validation); }});
  s.string("test", test, "test file (default: half of what is held out)", "FILE");
}

std::array<std::string, 3> HeldOut::read(const std::string& file) const {
  const auto bytes_of = [](const char* setting, const std::string& path) {
    return path.empty() ? "" : in_context(setting, [&] { return read_file(shipped_file(path)); });
  };
  return {bytes_of("file", file), bytes_of("validation", validation), bytes_of("test", test)};
}

std::string HeldOut::hash(const std::array<std::string, 3>& bytes) const {
  std::string all = bytes[0];
  if (!validation.empty()) all += fingerprint(bytes[1]);
  if (!test.empty()) all += fingerprint(bytes[2]);
  return fingerprint(all);
}

namespace {

/// Removes the tokens from `begin` on from the end and returns them.
std::vector<std::int32_t> cut(std::vector<std::int32_t>& all, Index begin) {
  std::vector<std::int32_t> rest(all.begin() + begin, all.end());
  all.resize(begin);
  return rest;
}

}  // namespace

void TokenRow::divide(const HeldOut& held_out, Index length, const std::string& file,
                      const std::string& unit) {
  const auto size = [&] { return static_cast<double>(parts[0].size()); };
  if (held_out.validation.empty()) {
    parts[1] = cut(parts[0], std::ssize(parts[0]) - static_cast<Index>(size() * held_out.share));
  }
  const Index training = std::ssize(parts[0]), held = std::ssize(parts[1]);
  if (held_out.test.empty() && held > length) {  // the second half of its blocks
    const Index blocks = (windows(Split::validation, length) + 1) / 2;
    parts[2] = cut(parts[1], blocks * length);
    if (!parts[2].empty()) parts[1].push_back(parts[2][0]);  // the last target
  }
  const Index shortest = std::min(training, held);
  if (shortest > length) return;
  const std::string longer_file = "give a longer file";
  throw Error(text(file, " is too short: of its ", training + held, " ", unit, " ", training,
                   " are for training and ", held, " for validation, and length ", length,
                   " needs ", length + 1, " in each"),
              shortest < 2 ? longer_file : text("set length=", shortest - 1, " or ", longer_file));
}

Index TokenRow::windows(Split split, Index length) const {
  const Index windows = std::max<Index>(0, std::ssize(part(split)) - length);
  return split == Split::train ? windows : (windows + length - 1) / length;
}

void TokenRow::write(Sequence& s) const {
  const Index length = s.length(), begin = s.split == Split::train ? s.unit : s.unit * length;
  const auto read = std::span(part(s.split)).subspan(begin, length + 1);
  for (Index t = 0; t < length; ++t) {
    s.token(t) = read[t];
    s.target(t) = read[t + 1];
  }
}

std::string TokenRow::about(Index length) const {
  return text("held out are blocks of ", length, ": ", windows(Split::validation, length),
              " validation, ", windows(Split::test, length), " test");
}

void require_utf8(std::string_view bytes, std::string_view source) {
  std::size_t bad = 0;
  if (valid_utf8(bytes, bad)) return;
  const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<Index>(bad), '\n');
  const auto byte = static_cast<unsigned char>(bytes[bad]);
  throw Error(text(source, " is not UTF-8: byte ", bad, " (line ", line, ") is 0x",
                   hexadecimal(byte, 2)),
              "convert it first: iconv -f ENCODING -t UTF-8 FILE > NEW_FILE, where ENCODING may "
              "be WINDOWS-1252 or UTF-16");
}

/// Returns the mask of the bits that the leading byte of a character of 1, 2, 3 or 4 bytes holds.
static unsigned bits_of_lead(unsigned char lead) {
  if (lead < 0x80) return 0x7F;
  if (lead < 0xE0) return 0x1F;
  return lead < 0xF0 ? 0x0F : 0x07;
}

std::u32string code_points(std::string_view bytes, std::string_view source) {
  require_utf8(bytes, source);
  std::u32string points;
  points.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) {  // a continuation byte: six more bits
      points.back() = (points.back() << 6) | (byte & 0x3Fu);
    } else {  // the leading byte of 1, 2, 3, 4 bytes holds 7, 5, 4, 3 bits
      points.push_back(byte & bits_of_lead(byte));
    }
  }
  return points;
}

std::string shown(char32_t point) {
  if (point == U'\n' || point == U'\t' || point == U'\r') {
    const char* other = point == U'\t' ? "\\t" : "\\r";
    return point == U'\n' ? "\\n" : other;
  }
  if (is_hidden(point)) return text("\\u{", hexadecimal(point, 4), "}");
  std::string out;
  append_utf8(out, point == U' ' ? U'\u2423' : point);  // U+2423: open box
  return out;
}

std::string shown(std::string_view word) {
  std::string out;
  for (const char32_t point : code_points(word, "the word")) {
    out += point == U' ' ? " " : shown(point);
  }
  return out;
}

}  // namespace headlab
