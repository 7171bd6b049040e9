// Blocks of numbers. Bytes are written one by one, low byte first, so that a page does not depend
// on the machine that makes it. The page reads them without conversion: every machine with a
// browser today is little-endian.
// Read next: page_task.cc.
#include "app/report/page_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/report/encoding.h"
#include "headlab/core/base/error.h"
#include "lab/results/half.h"

namespace headlab {
namespace {

/// Returns the numbers that `of` makes of values, each in this many bytes.
template <class Value, class Of>
std::string little(std::span<const Value> values, int width, const Of& of) {
  std::string bytes;
  bytes.reserve(width * values.size());
  for (const Value value : values) {
    for (int i = 0; i < width; ++i) {
      bytes += static_cast<char>(static_cast<std::uint32_t>(of(value)) >> (8 * i) & 0xff);
    }
  }
  return bytes;
}

}  // namespace

Json PageBlocks::add(const char* purpose, const std::string& dtype, const Sizes& shape,
                     std::string bytes) {
  PageBlock& block =
      blocks_.emplace_back(PageBlock{text("b", blocks_.size()), purpose, std::move(bytes)});
  return Json::object(
      {{"id", block.id}, {"dtype", dtype}, {"shape", shape}, {"hash", fnv1a(block.bytes)}});
}

Json PageBlocks::floats(const char* purpose, const Sizes& shape, std::span<const float> values) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  return add(purpose, "f32", shape, little(values, 4, bits));
}

Json PageBlocks::halves(const char* purpose, const Sizes& shape, std::span<const float> values) {
  return add(purpose, "f16", shape, little(values, 2, half_of));
}

Json PageBlocks::shares(const char* purpose, const Sizes& shape, std::span<const float> values) {
  const auto is_share = [](float value) { return 0 <= value && value <= 1 + 1e-5F; };
  if (!std::ranges::all_of(values, is_share)) return floats(purpose, shape, values);
  const auto root = [](float value) {
    return std::lround(255 * std::sqrt(std::clamp(value, 0.0F, 1.0F)));
  };
  return add(purpose, "p8", shape, little(values, 1, root));
}

Json PageBlocks::counts(const char* purpose, const Sizes& shape,
                        std::span<const std::int32_t> values) {
  const std::int32_t most = values.empty() ? 0 : std::ranges::max(values);
  require(values.empty() || std::ranges::min(values) >= 0,
          "cannot pack the counts: one of them is negative");
  const auto bits = static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(most | 1)));
  std::string bytes((values.size() * bits + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size() * bits; ++i) {
    bytes[i / 8] |= static_cast<char>((values[i / bits] >> i % bits & 1) << i % 8);
  }
  return add(purpose, text("u", bits), shape, std::move(bytes));
}

}  // namespace headlab
