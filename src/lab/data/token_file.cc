// llm.c's files begin with 256 numbers of 32 bits: a magic number (a date), a version and a count.
// Source of the numbers: dev/data/data_common.py and train_gpt2.py of llm.c.
// Read next: token_file.h; results/npy_read.cc.
#include "lab/data/token_file.h"

#include <algorithm>
#include <unordered_set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/text.h"
#include "lab/data/file_kind.h"
#include "lab/results/little_endian.h"
#include "lab/results/npz.h"

namespace headlab {
namespace {

constexpr Index kMostTokens = 1 << 24;
constexpr std::size_t kHeaderBytes = 256 * 4;
constexpr const char* kSayType =
    "if it does hold bare tokens, say of which type: type=uint16 or type=uint32";

/// A file of llm.c by its magic number.
struct LlmcKind {
  std::uint64_t magic;
  const char* name;
  std::uint64_t version = 0;
  int width = 0;  // bytes of a token; 0: it holds no tokens that can be read
};

constexpr LlmcKind kLlmcKinds[] = {{20240520, "GPT-2's tokens", 1, 2},
                                   {20240801, "Llama 3's tokens", 7, 4},
                                   {20240326, "a model (GPT-2)"},
                                   {20240803, "a model (Llama 3)"},
                                   {20240327, "the state for a test"},
                                   {20240328, "a tokenizer"},
                                   {20240522, "questions with several answers"},
                                   {20240527, "the state of an optimizer"}};

bool is_llmc_magic(std::uint64_t number) { return number >= 20240000 && number <= 20249999; }

std::uint64_t swapped(std::uint64_t number) {
  return (number & 0xFF) << 24 | (number & 0xFF00) << 8 | (number >> 8 & 0xFF00) | number >> 24;
}

const char* type_name(TokenType type) { return type == TokenType::uint16 ? "uint16" : "uint32"; }
TokenType type_of(int width) { return width == 2 ? TokenType::uint16 : TokenType::uint32; }

/// Checked numbers as tokens.
std::vector<std::int32_t> tokens_of(const WholeNumbers& numbers) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(numbers.count()));
  for (Index i = 0; i < numbers.count(); ++i) {
    const std::int64_t number = numbers[i];
    require(number >= 0 && number < kMostTokens, "it holds ", number, " at ", i,
            ", which is no token");
    tokens[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(number);
  }
  return tokens;
}

/// Returns the tokens of a .npy file. Error for an array of several axes: whether its rows follow
/// each other in the text is not known.
std::vector<std::int32_t> npy_tokens(std::string_view bytes) {
  const WholeNumbers numbers = read_npy(bytes);
  if (numbers.shape.size() != 1) {
    throw Error(text("its array has the shape ", shape_text(numbers.shape),
                     ", but tokens are one row"),
                "if its rows follow each other, write array.reshape(-1); "
                "`headlab show file` explains arrays of separate sequences");
  }
  return tokens_of(numbers);
}

/// Throws an Error if numbers of 32 bits look like halves of numbers of 64 bits: every second one
/// is 0.
void require_no_halves(const std::vector<std::int32_t>& tokens) {
  constexpr std::size_t kFewest = 16;
  if (tokens.size() < kFewest) return;
  for (std::size_t i = 1; i < tokens.size(); i += 2) {
    if (tokens[i] != 0) return;
  }
  throw Error("every other number of 32 bits is 0: it seems to hold numbers of 64 bits",
              "write them as uint32: array.astype(numpy.uint32)");
}

/// Returns tokens of `width` bytes each without a header.
std::vector<std::int32_t> bare_tokens(std::string_view bytes, int width) {
  require(bytes.size() % static_cast<std::size_t>(width) == 0, "its ", bytes.size(),
          " bytes are no tokens of ", width, " bytes each: it is truncated, or of another kind");
  const std::vector<std::int32_t> tokens = tokens_of({.bytes = bytes, .width = width});
  if (width == 4) require_no_halves(tokens);
  return tokens;
}

std::vector<std::int32_t> llmc_tokens(std::string_view bytes, const LlmcKind& kind) {
  if (kind.width == 0) {
    throw Error(text("it is a file of llm.c that holds ", kind.name, " (magic number ", kind.magic,
                     "), not a row of tokens"),
                "name a file of tokens, such as tiny_shakespeare_train.bin");
  }
  require(bytes.size() >= kHeaderBytes, "it is truncated");
  const std::uint64_t version = number_at(bytes, 4, 4), count = number_at(bytes, 8, 4);
  require(version == kind.version, "its header says version ", version, ", and headlab reads ",
          kind.name, " of llm.c in version ", kind.version, " alone");
  const std::vector<std::int32_t> tokens = bare_tokens(bytes.substr(kHeaderBytes), kind.width);
  require(count == tokens.size(), "its header says version ", version, " and ", count,
          " tokens, but it holds ", tokens.size());
  return tokens;
}

/// Returns the kind of llm.c's file that the first number names; nullptr if it is none of llm.c's.
/// Error for a number that looks like one but is not known.
const LlmcKind* llmc_kind(std::string_view bytes) {
  if (bytes.size() < 4) return nullptr;
  const std::uint64_t magic = number_at(bytes, 0, 4);
  for (const LlmcKind& kind : kLlmcKinds) {
    if (kind.magic == magic) return &kind;
  }
  if (is_llmc_magic(swapped(magic))) {
    throw Error(text("it begins with llm.c's magic number ", swapped(magic),
                     " in the other byte order"),
                "write it on a little-endian machine; " + std::string(kSayType));
  }
  if (is_llmc_magic(magic)) {
    throw Error(text("it begins with the magic number ", magic,
                     ", a kind of llm.c's files that headlab does not read"),
                kSayType);
  }
  return nullptr;
}

/// Returns whether the bytes are words: UTF-8 without control characters, with spaces or ends of
/// lines.
bool looks_like_text(std::string_view bytes) {
  constexpr std::size_t kLooked = 4096;
  std::string_view begin = bytes.substr(0, kLooked);
  std::size_t invalid = 0;
  if (!valid_utf8(begin, invalid)) {
    const bool cut_in_a_character = begin.size() == kLooked && invalid + 4 > kLooked;
    if (!cut_in_a_character) return false;
    begin = begin.substr(0, invalid);
  }
  if (begin.find_first_of(" \n") == begin.npos) return false;
  return std::ranges::none_of(begin, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool space = c == '\n' || c == '\r' || c == '\t';
    return (byte < 0x20 && !space) || byte == 0x7F;
  });
}

/// The largest number at even and at odd places of a row of numbers of 16 bits, and the largest at
/// even places if their bytes are swapped.
struct Halves {
  std::int64_t even = 0, odd = 0, even_swapped = 0;
};

Halves halves_of(const WholeNumbers& numbers, Index looked_at) {
  Halves halves;
  for (Index i = 0; i + 1 < looked_at; i += 2) {
    const std::int64_t even = numbers[i];
    halves.even = std::max(halves.even, even);
    halves.odd = std::max(halves.odd, numbers[i + 1]);
    halves.even_swapped = std::max(halves.even_swapped, (even & 0xFF) << 8 | even >> 8);
  }
  return halves;
}

/// Returns whether numbers whose halves are at most so large may be numbers of 32 bits: upper
/// halves of tokens below 196,608 are 0 to 2, and those of the largest vocabularies are below 16.
bool may_be_long(std::int64_t upper, std::int64_t lower) {
  constexpr std::int64_t kUpper = 2, kLargestUpper = 15, kClearlyLower = 4096;
  return (upper <= kUpper && lower > kUpper) || (upper <= kLargestUpper && lower >= kClearlyLower);
}

/// Throws an Error if bare numbers of 16 bits look like halves of larger numbers.
void require_short_numbers(std::string_view bytes) {
  constexpr Index kFirst = 1 << 16;  // most files show in their first numbers that all is well
  const WholeNumbers numbers{.bytes = bytes, .width = 2};
  for (const Index looked_at : {std::min(kFirst, numbers.count()), numbers.count()}) {
    const Halves halves = halves_of(numbers, looked_at);
    const bool little = may_be_long(halves.odd, halves.even);
    const bool big = may_be_long(halves.even_swapped, halves.odd);
    if (!little && !big) return;
    if (looked_at < numbers.count()) continue;
    if (little) {
      throw Error(text("every other number of 16 bits is at most ", halves.odd,
                       ": it seems to hold uint32, not uint16"),
                  "say which: type=uint32 or type=uint16");
    }
    throw Error("it seems to hold uint32 in the other byte order (big-endian), not uint16",
                "write it as little-endian uint32, or say type=uint16 if it is uint16");
  }
}

}  // namespace

std::vector<std::int32_t> tokens_in(std::string_view bytes, TokenType type) {
  if (bytes.starts_with("\x93NUMPY")) return npy_tokens(bytes);
  if (type != TokenType::automatic) {
    const std::uint64_t magic = bytes.size() < 4 ? 0 : number_at(bytes, 0, 4);
    const auto kind = std::ranges::find(kLlmcKinds, magic, &LlmcKind::magic);
    if (kind == std::end(kLlmcKinds)) return bare_tokens(bytes, type == TokenType::uint16 ? 2 : 4);
    require(kind->width == 0 || type_of(kind->width) == type, "type=", type_name(type),
            ", but its header says that it holds ", type_name(type_of(kind->width)));
    return llmc_tokens(bytes, *kind);
  }
  if (const FileKind* other = foreign_kind(bytes); other != nullptr) {
    throw Error(text("it holds no tokens: it is ", other->name), text(other->hint, "; ", kSayType));
  }
  if (const LlmcKind* kind = llmc_kind(bytes); kind != nullptr) return llmc_tokens(bytes, *kind);
  if (!bytes.empty() && looks_like_text(bytes)) {
    throw Error("it holds no tokens: it is a text",
                text("use --task text:file=FILE for its characters; ", kSayType));
  }
  require_short_numbers(bytes);
  return bare_tokens(bytes, 2);
}

std::vector<std::string> words_in(std::string_view json, const std::string& source, Index tokens) {
  constexpr Index kMostGaps = 1024;
  const Json read = parse_data(json, source);
  const char* expected = "expected {\"word\": token, ...}, as a tokenizer's vocab.json";
  require(read.is_object(), source, ": ", expected, ", got ", read.kind());
  const Index count = std::ssize(read.members());
  const Index most = std::min(kMostTokens, std::max(tokens, count) + kMostGaps);
  Index largest = -1;
  std::unordered_set<Index> seen;
  for (const auto& [word, number] : read.members()) {
    if (!number.is_number()) {
      throw Error(text(source, ": ", expected, ", but '", word, "' is ", number.kind()),
                  "name vocab.json, not tokenizer.json or another file of the tokenizer");
    }
    const std::int64_t token =
        in_context(text(source, ": '", word, "'"), [&value = number] { return value.integer(); });
    require(token >= 0 && token < most, source, ": '", word, "' has the number ", token, ", but ",
            count, " words have numbers from 0 to ", count - 1, " in a vocabulary");
    require(seen.insert(token).second, source, ": '", word, "' has the number ", token,
            ", which another word has already");
    largest = std::max<Index>(largest, token);
  }
  std::vector<std::string> words(static_cast<std::size_t>(largest + 1));
  for (const auto& [word, number] : read.members()) {
    words[static_cast<std::size_t>(number.integer())] = word;
  }
  return words;
}

}  // namespace headlab
