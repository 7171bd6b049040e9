// Numbers inside a page: each block is a row of little-endian numbers in base64, and a descriptor
// in the facts says what it holds: {"id", "dtype", "shape", "hash"}. Weights of attention are kept
// in one byte, as squares of v / 255, so that .0001 stays visible (error at most .004). Private to
// this layer. Read next: src/app/report/page/core_page.js, which reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/tensor/tensor.h"

namespace headlab {

struct PageBlock {
  std::string id;
  std::string purpose;  // what it is part of: "weights", "examples" ...
  std::string bytes;
};

/// The blocks of a page, in the order in which they are added. Every function returns the
/// descriptor of what it added.
class PageBlocks {
 public:
  using Sizes = std::vector<Index>;

  Json floats(const char* purpose, const Sizes& shape, std::span<const float> values);
  Json halves(const char* purpose, const Sizes& shape, std::span<const float> values);
  /// Weights of attention: in one byte each if all lie between 0 and 1, as floats otherwise.
  Json shares(const char* purpose, const Sizes& shape, std::span<const float> values);
  /// Numbers from 0 on, each in as many bits as the largest needs, low ones first: "u5" is of 5.
  Json counts(const char* purpose, const Sizes& shape, std::span<const std::int32_t> values);

  const std::vector<PageBlock>& all() const { return blocks_; }

 private:
  Json add(const char* purpose, const std::string& dtype, const Sizes& shape, std::string bytes);

  std::vector<PageBlock> blocks_;
};

}  // namespace headlab
