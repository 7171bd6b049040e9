// See philox_lanes.h. Salmon et al. 2011: ten rounds of two 32 x 32 -> 64 bit products.
#include "kernels/philox_lanes.h"

namespace headlab::inline HEADLAB_SCALAR {

PhiloxLanes::PhiloxLanes(std::uint64_t key, std::uint64_t low, std::uint64_t low_step,
                         std::uint64_t high) {
  for (std::size_t lane = 0; lane < kPhiloxLanes; ++lane) {
    const std::uint64_t counter = low + lane * low_step;
    bits[0][lane] = static_cast<std::uint32_t>(counter);
    bits[1][lane] = static_cast<std::uint32_t>(counter >> 32);
    bits[2][lane] = static_cast<std::uint32_t>(high);
    bits[3][lane] = static_cast<std::uint32_t>(high >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t lane = 0; lane < kPhiloxLanes; ++lane) {
      const std::uint64_t a = 0xD2511F53ULL * bits[0][lane];
      const std::uint64_t b = 0xCD9E8D57ULL * bits[2][lane];
      bits[0][lane] = static_cast<std::uint32_t>(b >> 32) ^ bits[1][lane] ^ key0;
      bits[2][lane] = static_cast<std::uint32_t>(a >> 32) ^ bits[3][lane] ^ key1;
      bits[1][lane] = static_cast<std::uint32_t>(b);
      bits[3][lane] = static_cast<std::uint32_t>(a);
    }
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
}

}  // namespace headlab::inline HEADLAB_SCALAR
