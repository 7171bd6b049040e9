// Numbers inside a page: each block is a row of little-endian numbers in base64, described in the
// facts by {"id", "dtype", "shape", "hash"}. Attention weights are stored in one byte, as squares
// of v / 255, so that .0001 stays visible (error at most .004). Private to this layer. Read next:
// src/app/report/page/engine/page_data.js, which reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab {

struct PageBlock {
  std::string id;
  std::string purpose;  // the part that it belongs to: "weights", "examples" ...
  std::string bytes;
};

/// Blocks of a page, in the order in which they are added. Every function returns the descriptor of
/// the block that it added.
class PageBlocks {
 public:
  using Sizes = std::vector<Index>;

  Json floats(const char* purpose, const Sizes& shape, std::span<const float> values);
  Json halves(const char* purpose, const Sizes& shape, std::span<const float> values);
  /// Adds attention weights: in one byte each if all are between 0 and 1, as floats otherwise.
  Json shares(const char* purpose, const Sizes& shape, std::span<const float> values);
  /// Adds numbers from 0 on, each in as many bits as the largest needs, low ones first: "u5" has 5.
  Json counts(const char* purpose, const Sizes& shape, std::span<const std::int32_t> values);

  const std::vector<PageBlock>& all() const { return blocks_; }

 private:
  Json add(const char* purpose, const std::string& dtype, const Sizes& shape, std::string bytes);

  std::vector<PageBlock> blocks_;
};

}  // namespace headlab
