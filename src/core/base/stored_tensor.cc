// Conversion between tensors of a safetensors file and numbers. Values are converted from any
// floating-point or integer dtype to the requested type. Sizes are checked before any byte is read.
// Read next: safetensors.cc.
#include "core/base/stored_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

struct Dtype {
  std::string_view name;
  std::size_t size;
};
constexpr Dtype kDtypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},
                             {"I64", 8}, {"I32", 4}, {"U8", 1},  {"BOOL", 1}};

template <class From, class To, class Convert>
std::vector<To> converted(const StoredTensor& tensor, const Convert& convert) {
  std::vector<To> values(tensor.bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(convert(value));
  }
  return values;
}

template <class From, class To>
std::vector<To> converted(const StoredTensor& tensor) {
  return converted<From, To>(tensor, [](From value) { return value; });
}

/// Converts bfloat16, which is the upper half of a float.
float float_of_upper_half(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace

float float_of_half(std::uint16_t half) {
  const std::uint32_t exponent = half >> 10 & 31U;
  const std::uint32_t fraction = half & 1023U;
  if (exponent == 31) {
    const float infinite = std::numeric_limits<float>::infinity();
    if (fraction != 0) return std::numeric_limits<float>::quiet_NaN();
    return (half & 0x8000U) != 0 ? -infinite : infinite;
  }
  const float size = exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F
                                   : std::ldexp(static_cast<float>(1024 + fraction),
                                                static_cast<int>(exponent) - 25);
  return (half & 0x8000U) != 0 ? -size : size;
}

std::size_t element_size(std::string_view dtype) {
  return named("dtype", dtype, kDtypes, &Dtype::name).size;
}

std::int64_t checked_product(std::int64_t size, const std::vector<std::int64_t>& shape) {
  const bool empty = std::ranges::count(shape, 0) > 0;
  std::int64_t product = size;
  for (const std::int64_t extent : shape) {
    require(extent >= 0, "the shape has a negative size ", extent);
    if (empty) continue;
    require(product <= INT64_MAX / extent, "the shape has more elements than a file can hold");
    product *= extent;
  }
  return empty ? 0 : product;
}

void check_size(const StoredTensor& tensor, std::uint64_t bytes) {
  const std::size_t size = element_size(tensor.dtype);
  const auto needed = checked_product(static_cast<std::int64_t>(size), tensor.shape);
  require(static_cast<std::uint64_t>(needed) == bytes, "its dtype ", tensor.dtype,
          " and shape need ", needed, " bytes, but it has ", bytes);
}

std::int64_t StoredTensor::count() const { return checked_product(1, shape); }

template <class Number>
std::vector<Number> StoredTensor::numbers() const {
  check_size(*this, bytes.size());
  constexpr bool kWhole = std::is_integral_v<Number>;
  if (!kWhole && dtype == "F32") return converted<float, Number>(*this);
  if (!kWhole && dtype == "F64") return converted<double, Number>(*this);
  if (!kWhole && dtype == "F16") return converted<std::uint16_t, Number>(*this, float_of_half);
  if (!kWhole && dtype == "BF16") {
    return converted<std::uint16_t, Number>(*this, float_of_upper_half);
  }
  if (kWhole && dtype == "I64") return converted<std::int64_t, Number>(*this);
  if (kWhole && dtype == "I32") return converted<std::int32_t, Number>(*this);
  if (kWhole && element_size(dtype) == 1) return converted<std::uint8_t, Number>(*this);
  throw Error(text("cannot convert tensor '", name, "': it holds ", dtype,
                   kWhole ? ", not whole numbers" : ", not real numbers"));
}

template <class Number>
StoredTensor StoredTensor::of(std::string name, std::vector<std::int64_t> shape,
                              std::span<const Number> values) {
  const char* real = sizeof(Number) == 4 ? "F32" : "F64";
  const char* dtype = std::is_integral_v<Number> ? "I64" : real;
  StoredTensor tensor{std::move(name), dtype, std::move(shape), {}};
  const std::int64_t count = tensor.count();
  require(static_cast<std::uint64_t>(count) == values.size(), "cannot store tensor '", tensor.name,
          "': its shape needs ", count, " values, got ", values.size());
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return tensor;
}

template std::vector<float> StoredTensor::numbers() const;
template std::vector<double> StoredTensor::numbers() const;
template std::vector<std::int64_t> StoredTensor::numbers() const;
template StoredTensor StoredTensor::of(std::string, std::vector<std::int64_t>,
                                       std::span<const float>);
template StoredTensor StoredTensor::of(std::string, std::vector<std::int64_t>,
                                       std::span<const double>);
template StoredTensor StoredTensor::of(std::string, std::vector<std::int64_t>,
                                       std::span<const std::int64_t>);

}  // namespace headlab
