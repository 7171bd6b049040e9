// Between bytes and tokens stand Unicode code points: UTF-8 is checked once for the whole file, and
// after that every character is known to be well formed. The file is held in memory as tokens, and
// a window is a slice of them. Read next: the opening of text.h.
#include "headlab/tasks/text.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/json.h"
#include "tasks/parts.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

std::string hexadecimal(std::uint64_t value, int digits) {
  std::string out(static_cast<std::size_t>(digits), '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, value >>= 4) {
    *digit = "0123456789ABCDEF"[value & 15];
  }
  return out;
}

/// FNV-1a: h = (h xor byte) * prime, from the offset basis; both constants are the published ones.
std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

/// Code points of `bytes`. Error that names `source`, what is there and where, if they are not
/// UTF-8.
std::u32string code_points(std::string_view bytes, std::string_view source) {
  std::size_t bad = 0;
  if (!valid_utf8(bytes, bad)) {
    const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<Index>(bad), '\n');
    const auto byte = static_cast<unsigned char>(bytes[bad]);
    throw Error(
        text(source, " is not UTF-8: byte ", bad, " (line ", line, ") is 0x", hexadecimal(byte, 2)),
        "convert it first: iconv -f ENCODING -t UTF-8 FILE > NEW_FILE, where ENCODING may "
        "be WINDOWS-1252 or UTF-16");
  }
  std::u32string points;
  points.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) {  // follows a leading byte: six bits more
      points.back() = (points.back() << 6) | (byte & 0x3Fu);
    } else {  // the leading byte of 1, 2, 3, 4 bytes holds 7, 5, 4, 3 bits
      points.push_back(byte & (byte < 0x80 ? 0x7Fu : byte < 0xE0 ? 0x1Fu : byte < 0xF0 ? 15u : 7u));
    }
  }
  return points;
}

void append_utf8(std::string& out, char32_t point) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  const int followers = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr char32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  put(kLead[followers] | (point >> (6 * followers)));
  for (int i = followers - 1; i >= 0; --i) {
    put(0x80 | ((point >> (6 * i)) & 0x3F));
  }
}

/// Whether a character would not be seen, or would disturb what stands around it: control
/// characters, special blanks, marks that join or turn the direction of writing.
bool is_hidden(char32_t point) {
  constexpr char32_t kRanges[][2] = {{0, 0x1F},        {0x7F, 0xA0},     {0xAD, 0xAD},
                                     {0x300, 0x36F},   {0x1680, 0x1680}, {0x2000, 0x200F},
                                     {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},
                                     {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges), [&](const char32_t(&range)[2]) {
    return range[0] <= point && point <= range[1];
  });
}

std::string shown(char32_t point) {
  if (point == U'\n' || point == U'\t' || point == U'\r') {
    return point == U'\n' ? "\\n" : point == U'\t' ? "\\t" : "\\r";
  }
  if (is_hidden(point)) {
    return text("\\u{", hexadecimal(point, 4), "}");
  }
  std::string out;
  append_utf8(out, point == U' ' ? U'\u2423' : point);  // U+2423: an open box for the blank
  return out;
}

}  // namespace

Settings settings_of(TextOptions& o) {
  Settings s;
  s.text("file", o.file, "any text in UTF-8");
  s.integer("length", o.length, 1, 65536, "characters in a sequence");
  s.real("validation", o.validation, 0.001, 0.9, "share of the text that is held out, at its end");
  return s;
}

TextTask::TextTask(const TextOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "text");
  require(options_.file.find(',') == std::string::npos, "the name of a text file must not hold a ",
          "comma, which separates parameters: rename or link '", options_.file, "'");
  const std::string bytes = read_file(options_.file);
  hash_ = hexadecimal(fnv1a(bytes), 16);
  std::u32string points = code_points(bytes, options_.file);
  if (!points.empty() && points.front() == 0xFEFF) {
    points.erase(points.begin());
  }
  vocabulary_ = points;
  std::sort(vocabulary_.begin(), vocabulary_.end());
  vocabulary_.erase(std::unique(vocabulary_.begin(), vocabulary_.end()), vocabulary_.end());
  tokens_.reserve(points.size());
  for (const char32_t point : points) {
    const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), point);
    tokens_.push_back(static_cast<std::int32_t>(found - vocabulary_.begin()));
  }
  const auto size = static_cast<double>(tokens_.size());
  training_ = tokens_.size() - static_cast<std::size_t>(size * options_.validation);
  check_length();
}

void TextTask::check_length() const {
  const std::size_t held_out = tokens_.size() - training_;
  const auto shortest = static_cast<Index>(std::min(training_, held_out));
  if (shortest > options_.length) {
    return;
  }
  const std::string remedy = shortest < 2
                                 ? "give a longer file"
                                 : text("set length=", shortest - 1, " or give a longer file");
  throw Error(text(options_.file, " is too short: of its ", tokens_.size(), " characters ",
                   training_, " are for training and ", held_out, " for validation, and length ",
                   options_.length, " needs ", options_.length + 1, " in each"),
              remedy);
}

std::string TextTask::spec() const {
  TextOptions options = options_;
  return spec_text("text", settings_of(options));
}

TaskShape TextTask::shape() const {
  return {Architecture::decoder, static_cast<Index>(vocabulary_.size()), options_.length, 1};
}

std::vector<Relation> TextTask::relations() const {
  return {{"previous", "the character before this one", true}};
}

Example TextTask::make(Key key, Index count, Split split) const {
  Example example;
  Batch& batch = example.batch;
  batch = Batch::make(count, options_.length);
  example.gold.resize(1);
  const auto all = std::span(tokens_);
  const auto part = split == Split::train ? all.first(training_) : all.subspan(training_);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const Index begin = random.below(static_cast<Index>(part.size()) - options_.length);
    for (Index t = 0; t < options_.length; ++t) {
      batch.token(b, t) = part[static_cast<std::size_t>(begin + t)];
      batch.target(b, t) = part[static_cast<std::size_t>(begin + t + 1)];
      if (t > 0) {
        example.gold[0].add(b, t, static_cast<std::int32_t>(t - 1));
      }
    }
  }
  return example;
}

std::string TextTask::token_text(std::int32_t token) const {
  require(token >= 0 && token < shape().vocab, "there is no token ", token, " in a vocabulary of ",
          shape().vocab);
  return shown(vocabulary_[static_cast<std::size_t>(token)]);
}

std::vector<std::int32_t> TextTask::encode(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  for (const char32_t point : code_points(text, "the prompt")) {
    const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), point);
    if (found == vocabulary_.end() || *found != point) {
      throw Error(headlab::text("the character '", shown(point), "' (U+", hexadecimal(point, 4),
                                ") does not occur in ", options_.file),
                  "use characters of that text only");
    }
    tokens.push_back(static_cast<std::int32_t>(found - vocabulary_.begin()));
  }
  return tokens;
}

std::string TextTask::decode(std::span<const std::int32_t> tokens) const {
  std::string out;
  for (const std::int32_t token : tokens) {
    require(token >= 0 && token < shape().vocab, "there is no token ", token,
            " in a vocabulary of ", shape().vocab);
    append_utf8(out, vocabulary_[static_cast<std::size_t>(token)]);
  }
  return out;
}

}  // namespace headlab::inline HEADLAB_SCALAR
