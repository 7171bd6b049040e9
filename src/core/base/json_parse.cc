// JSON parser: recursive descent over the grammar of RFC 8259, one function per rule. The bytes are
// checked to be UTF-8 once before parsing, so the rules do not check. Depth is limited, so no input
// can overflow the stack. Read next: text.cc.
#include <unordered_set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr int kMostDepth = 100;

class Parser {
 public:
  Parser(std::string_view json, std::string_view source) : json_(json), source_(source) {}

  /// Parses the document. An initial byte order mark is skipped, as RFC 8259 allows.
  Json document() {
    if (json_.starts_with(kByteOrderMark)) json_.remove_prefix(kByteOrderMark.size());
    std::size_t invalid = 0;
    if (!valid_utf8(json_, invalid)) fail(invalid, "the bytes are not UTF-8");

    Json result = value(0);
    skip_spaces();
    if (at_ < json_.size()) expected("the end");
    return result;
  }

 private:
  Json value(int depth) {
    skip_spaces();
    switch (peek()) {
      case '{':
      case '[':
        if (depth == kMostDepth) fail(at_, text("nested more than ", kMostDepth, " deep"));
        return peek() == '{' ? object(depth + 1) : array(depth + 1);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", nullptr);
      default:
        return number();
    }
  }

  Json object(int depth) {
    Json::Object members;
    std::unordered_set<std::string> seen;
    ++at_;
    skip_spaces();
    if (take('}')) return members;
    do {
      skip_spaces();
      const std::size_t start = at_;
      if (peek() != '"') expected("a key in double quotes");
      std::string key = string();
      if (!seen.insert(key).second) fail(start, text("the key '", key, "' is there twice"));
      skip_spaces();
      if (!take(':')) expected("':'");
      members.emplace_back(std::move(key), value(depth));
      skip_spaces();
    } while (take(','));
    if (!take('}')) expected("',' or '}'");
    return members;
  }

  Json array(int depth) {
    Json::Array items;
    ++at_;
    skip_spaces();
    if (take(']')) return items;
    do {
      items.push_back(value(depth));
      skip_spaces();
    } while (take(','));
    if (!take(']')) expected("',' or ']'");
    return items;
  }

  Json word(std::string_view letters, Json meaning) {
    if (json_.substr(at_, letters.size()) != letters) expected("a value");
    at_ += letters.size();
    return meaning;
  }

  Json number() {
    const std::string_view digits = json_.substr(at_, number_length(json_.substr(at_)));
    if (digits.empty()) expected("a value");
    double result = 0;
    if (!parse_number(digits, result)) fail(at_, "the number is too large");
    at_ += digits.size();
    return result;
  }

  std::string string() {
    std::string out;
    ++at_;
    for (;;) {
      const std::size_t start = at_;
      while (at_ < json_.size() && json_[at_] != '"' && json_[at_] != '\\' && !is_control()) ++at_;
      out.append(json_.substr(start, at_ - start));
      if (take('"')) return out;
      if (at_ == json_.size()) expected("'\"' at the end of the string");
      if (is_control()) fail(at_, "a control character in a string must be written as \\u00XX");
      escape(out);
    }
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    const std::size_t letter = at_ < json_.size() ? kLetters.find(json_[at_]) : kLetters.npos;
    if (letter != kLetters.npos) {
      out += kMeanings[letter];
      ++at_;
    } else if (take('u')) {
      append_utf8(out, code_point(start));
    } else {
      fail(start, "unknown escape in a string");
    }
  }

  unsigned code_point(std::size_t start) {
    const unsigned first = four_hex_digits();
    if (first < 0xD800 || first > 0xDFFF) return first;
    const bool paired = first < 0xDC00 && take('\\') && take('u');
    const unsigned second = paired ? four_hex_digits() : 0;
    if (second < 0xDC00 || second > 0xDFFF) fail(start, "half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  unsigned four_hex_digits() {
    unsigned result = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      if (c >= '0' && c <= '9') {
        result = result * 16 + static_cast<unsigned>(c - '0');
      } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
        result = result * 16 + static_cast<unsigned>((c | 0x20) - 'a' + 10);
      } else {
        expected("four hexadecimal digits");
      }
    }
    return result;
  }

  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  bool is_control() const { return static_cast<unsigned char>(json_[at_]) < 0x20; }

  bool take(char c) {
    const bool there = at_ < json_.size() && json_[at_] == c;
    if (there) ++at_;
    return there;
  }

  void skip_spaces() {
    while (take(' ') || take('\t') || take('\n') || take('\r')) continue;
  }

  [[noreturn]] void expected(std::string_view what) const {
    const bool ended = at_ == json_.size();
    const bool printable = !ended && json_[at_] > ' ' && json_[at_] < 0x7F;
    std::string found = "the end";
    if (printable) {
      found = text("'", json_[at_], "'");
    } else if (!ended) {
      found = text("byte ", static_cast<unsigned char>(json_[at_]) + 0);
    }
    fail(at_, text("expected ", what, " but found ", found));
  }

  [[noreturn]] void fail(std::size_t position, std::string_view what) const {
    std::size_t line = 1, column = 1;
    for (const char c : json_.substr(0, position)) {
      const bool follows = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // inside a character
      line += c == '\n' ? 1 : 0;
      column = c == '\n' ? 1 : column + (follows ? 0 : 1);
    }
    throw Error(text("cannot parse ", source_, ": line ", line, ", column ", column, ": ", what),
                "correct it there, or restore a damaged file from a copy");
  }

  std::string_view json_;
  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

Json Json::parse(std::string_view json, std::string_view source) {
  return Parser(json, source).document();
}

/// Returns the bytes of the character that starts with the byte `lead`; 0 if none does.
static std::size_t utf8_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation byte, or an overlong form
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  if (lead < 0xF5) return 4;
  return 0;
}

bool valid_utf8(std::string_view bytes, std::size_t& position) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  for (std::size_t at = 0; at < bytes.size();) {
    const unsigned lead = byte(at);
    const std::size_t length = utf8_length(lead);
    bool valid = length > 0 && at + length <= bytes.size();
    for (std::size_t i = 1; valid && i < length; ++i) valid = (byte(at + i) & 0xC0) == 0x80;
    if (valid && length > 2) {  // overlong, a surrogate, or above U+10FFFF
      const unsigned second = byte(at + 1);
      valid = !(lead == 0xE0 && second < 0xA0) && !(lead == 0xED && second > 0x9F) &&
              !(lead == 0xF0 && second < 0x90) && !(lead == 0xF4 && second > 0x8F);
    }
    if (!valid) {
      position = at;
      return false;
    }
    at += length;
  }
  return true;
}

}  // namespace headlab
