// Reads what png.cc writes: chunks whose sums are right, and a deflate stream of one block with
// fixed codes, by the tables of RFC 1951 and not by the code that wrote it. Read next:
// picture_test.cc. Anything else is a failure with a sentence.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headlab {

inline std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

class Inflater {
 public:
  explicit Inflater(std::string_view stream) : stream_(stream) {}

  std::string all() {
    if (take(1) != 1 || take(2) != 1) throw std::runtime_error("not one block of fixed codes");
    std::string out;
    for (int symbol = take_symbol(); symbol != 256; symbol = take_symbol())
      if (symbol < 256)
        out += static_cast<char>(symbol);
      else
        repeat(out, symbol - 257);
    return out;
  }

 private:
  int take(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i, ++bit_)
      value |= (static_cast<unsigned char>(stream_.at(bit_ / 8)) >> bit_ % 8 & 1) << i;
    return value;
  }
  int take_code(int code, int count) {
    for (int i = 0; i < count; ++i) code = code << 1 | take(1);
    return code;
  }
  int take_symbol() {
    int code = take_code(0, 7);
    if (code <= 0b0010111) return code + 256;
    code = take_code(code, 1);
    if (code >= 0b00110000 && code <= 0b10111111) return code - 0b00110000;
    if (code >= 0b11000000 && code <= 0b11000111) return code - 0b11000000 + 280;
    return take_code(code, 1) - 0b110010000 + 144;
  }
  void repeat(std::string& out, int place) {
    int length = 3;  // the lengths follow each other, more and more of them in a class
    for (int i = 0; i < place; ++i) length += 1 << extra(i);
    length = place == 28 ? 258 : length + take(extra(place));
    const int distance = take_code(0, 5) + 1;
    if (distance > 4) throw std::runtime_error("a distance with extra bits");
    for (int i = 0; i < length; ++i) out += out.at(out.size() - static_cast<std::size_t>(distance));
  }
  static int extra(int place) { return place < 8 || place == 28 ? 0 : place / 4 - 1; }

  std::string_view stream_;
  std::size_t bit_ = 0;
};

struct ReadImage {
  std::size_t width = 0, height = 0;
  std::string pixels;                        // [height, width, 3]
  std::map<std::string, std::string> texts;  // by keyword

  std::string at(std::size_t x, std::size_t y) const {
    return pixels.substr((y * width + x) * 3, 3);
  }
};

inline std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool low = ((crc ^ static_cast<unsigned char>(byte) >> bit) & 1) != 0;
      crc = crc >> 1 ^ (low ? 0xEDB88320 : 0);
    }
  return ~crc;
}

inline ReadImage read_png(std::string_view file) {
  if (file.substr(0, 8) != "\x89PNG\r\n\x1A\n") throw std::runtime_error("no signature");
  ReadImage image;
  std::string data;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t size = number_at(file, at);
    const std::string_view type = file.substr(at + 4, 4), body = file.substr(at + 8, size);
    if (number_at(file, at + 8 + size) != checksum(file.substr(at + 4, size + 4)))
      throw std::runtime_error("wrong sum of a chunk");
    if (type == "IHDR") image.width = number_at(body, 0), image.height = number_at(body, 4);
    if (type == "IDAT") data += body;
    if (type == "iTXt") {
      const std::size_t end = body.find('\0');
      image.texts[std::string(body.substr(0, end))] = body.substr(end + 5);
    }
    at += size + 12;
  }
  const std::string rows = Inflater(std::string_view(data).substr(2)).all();
  const std::size_t stride = image.width * 3;
  if (rows.size() != image.height * (stride + 1)) throw std::runtime_error("wrong number of bytes");
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t i = 0; i < stride; ++i) {
      const char above = y == 0 ? '\0' : image.pixels[(y - 1) * stride + i];
      image.pixels += static_cast<char>(above + rows[y * (stride + 1) + 1 + i]);
    }
  return image;
}

}  // namespace headlab
