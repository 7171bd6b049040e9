// Bytes are written one by one, low byte first, so that a page is the same whatever machine makes
// it. The page reads them as they lie: every machine that runs a browser today has that order.
// Read next: page_task.cc.
#include "report/page_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/digest.h"
#include "base/half.h"
#include "headlab/base/error.h"

namespace headlab {
namespace {

void append_little(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

Json PageBlocks::add(const char* purpose, const char* dtype, const Sizes& shape,
                     std::string bytes) {
  PageBlock& block =
      blocks_.emplace_back(PageBlock{text("b", blocks_.size()), purpose, std::move(bytes)});
  return Json::object(
      {{"id", block.id}, {"dtype", dtype}, {"shape", shape}, {"hash", fnv1a(block.bytes)}});
}

Json PageBlocks::floats(const char* purpose, const Sizes& shape, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(4 * values.size());
  for (const float value : values) append_little(bytes, std::bit_cast<std::uint32_t>(value), 4);
  return add(purpose, "f32", shape, std::move(bytes));
}

Json PageBlocks::halves(const char* purpose, const Sizes& shape, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(2 * values.size());
  for (const float value : values) append_little(bytes, half_of(value), 2);
  return add(purpose, "f16", shape, std::move(bytes));
}

Json PageBlocks::shares(const char* purpose, const Sizes& shape, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(values.size());
  for (const float value : values)
    bytes += static_cast<char>(std::lround(255 * std::sqrt(std::clamp(value, 0.0F, 1.0F))));
  return add(purpose, "p8", shape, std::move(bytes));
}

Json PageBlocks::counts(const char* purpose, const Sizes& shape,
                        std::span<const std::int32_t> values) {
  const std::int32_t most = values.empty() ? 0 : std::ranges::max(values);
  require(values.empty() || std::ranges::min(values) >= 0, "a page keeps no negative counts");
  const int width = most < 256 ? 1 : most < 65536 ? 2 : 4;
  std::string bytes;
  bytes.reserve(width * values.size());
  for (const std::int32_t value : values)
    append_little(bytes, static_cast<std::uint32_t>(value), width);
  return add(purpose, width == 1 ? "u8" : width == 2 ? "u16" : "i32", shape, std::move(bytes));
}

}  // namespace headlab
