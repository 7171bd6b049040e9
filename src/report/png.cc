// Source: RFC 1950 (zlib), RFC 1951 (deflate; the fixed codes are in 3.2.6), and the PNG
// specification. Bits are filled from the lowest on; Huffman codes go in highest bit first.
// Read next: png.h.
#include "report/png.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "headlab/base/error.h"

namespace headlab {
namespace {

class BitWriter {
 public:
  /// The lowest `count` bits of `bits`, the lowest first.
  void put(std::uint32_t bits, int count) {
    held_ |= bits << filled_;
    for (filled_ += count; filled_ >= 8; filled_ -= 8, held_ >>= 8)
      out_ += static_cast<char>(held_ & 255);
  }
  /// A Huffman code: its highest bit first.
  void put_code(std::uint32_t code, int count) {
    for (int bit = count - 1; bit >= 0; --bit) put(code >> bit & 1, 1);
  }
  std::string finish() {
    if (filled_ > 0) put(0, 8 - filled_);
    return std::move(out_);
  }

 private:
  std::string out_;
  std::uint32_t held_ = 0;
  int filled_ = 0;
};

/// A literal byte (0-255), the end (256) or a class of lengths (257-285).
void put_symbol(BitWriter& out, std::uint32_t symbol) {
  if (symbol < 144)
    out.put_code(0x30 + symbol, 8);
  else if (symbol < 256)
    out.put_code(0x190 + symbol - 144, 9);
  else if (symbol < 280)
    out.put_code(symbol - 256, 7);
  else
    out.put_code(0xC0 + symbol - 280, 8);
}

constexpr std::size_t kShortest = 3, kLongest = 258;  // lengths of a repetition

/// "Again the last `distance` bytes, `length` of them"; the distance is 1 or 3.
void put_repetition(BitWriter& out, std::size_t length, std::size_t distance) {
  constexpr std::array<std::size_t, 29> kFirst = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                  15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                  67, 83, 99, 115, 131, 163, 195, 227, 258};
  const auto after = std::ranges::upper_bound(kFirst, length);
  const auto place = static_cast<std::uint32_t>(after - kFirst.begin()) - 1;
  put_symbol(out, 257 + place);
  if (place >= 8 && place < 28)
    out.put(static_cast<std::uint32_t>(length - kFirst[place]), static_cast<int>(place / 4) - 1);
  out.put_code(static_cast<std::uint32_t>(distance) - 1, 5);
}

std::size_t repeated(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t distance) {
  std::size_t length = 0;
  while (at >= distance && length < kLongest && at + length < bytes.size() &&
         bytes[at + length] == bytes[at + length - distance])
    ++length;
  return length;
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

/// A zlib stream: header, one block of fixed codes, Adler-32.
std::string compressed(std::span<const std::uint8_t> bytes) {
  BitWriter out;
  out.put(0x0178, 16);
  out.put(0b011, 3);  // the last block, fixed codes
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t by_one = repeated(bytes, i, 1), by_three = repeated(bytes, i, 3);
    const std::size_t length = std::max(by_one, by_three);
    if (length < kShortest)
      put_symbol(out, bytes[i]);
    else
      put_repetition(out, length, by_one >= by_three ? 1 : 3);
    i += length < kShortest ? 1 : length;
  }
  put_symbol(out, 256);
  std::uint32_t low = 1, high = 0;
  for (const std::uint8_t byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return out.finish() + big_endian(high << 16 | low);
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  return big_endian(static_cast<std::uint32_t>(data.size())) + checked + big_endian(crc32(checked));
}

/// Each row behind the number of its filter, 2: the difference from the row above.
std::vector<std::uint8_t> filtered(const Image& image) {
  const std::size_t stride = static_cast<std::size_t>(image.width) * 3;
  std::vector<std::uint8_t> rows;
  rows.reserve((stride + 1) * static_cast<std::size_t>(image.height));
  for (std::size_t i = 0; i < image.bytes.size(); ++i) {
    if (i % stride == 0) rows.push_back(2);
    const std::uint8_t above = i < stride ? 0 : image.bytes[i - stride];
    rows.push_back(static_cast<std::uint8_t>(image.bytes[i] - above));
  }
  return rows;
}

}  // namespace

std::string png_bytes(const Image& image,
                      const std::vector<std::pair<std::string, std::string>>& texts) {
  require(image.width > 0 && image.height > 0, "an image of ", image.width, " x ", image.height,
          " pixels cannot be written");
  const std::string eight_bit_rgb("\x08\x02\0\0\0", 5);
  std::string file = "\x89PNG\r\n\x1A\n";
  file += chunk("IHDR", big_endian(static_cast<std::uint32_t>(image.width)) +
                            big_endian(static_cast<std::uint32_t>(image.height)) + eight_bit_rgb);
  for (const auto& [keyword, content] : texts)
    file += chunk("iTXt", keyword + std::string(5, '\0') + content);
  return file + chunk("IDAT", compressed(filtered(image))) + chunk("IEND", "");
}

}  // namespace headlab
