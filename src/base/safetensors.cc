// Reading and writing safetensors (safetensors.h). Reading has two steps: `read_layout` turns the
// header into tensors with checked places, then each takes its bytes. Read next:
// model/checkpoint.h, which gives the tensors their meaning.
#include "headlab/base/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/digest.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/json.h"

namespace headlab {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are stored as memory holds them");

constexpr std::uint64_t kMostHeader = 100'000'000;  // bytes; the reference implementation's limit
constexpr std::uint64_t kMostTensors = 100'000;
constexpr std::string_view kMetadata = "__metadata__", kChecksum = "checksum";
constexpr std::string_view kUnknownSum = "0000000000000000";  // while it is being computed

struct Dtype {
  std::string_view name;
  std::size_t size;
};
constexpr Dtype kDtypes[] = {{"F64", 8}, {"F32", 4}, {"I64", 8},
                             {"I32", 4}, {"U8", 1},  {"BOOL", 1}};

std::size_t element_size(std::string_view dtype) {
  std::vector<std::string> known;
  for (const Dtype& entry : kDtypes) {
    if (entry.name == dtype) return entry.size;
    known.emplace_back(entry.name);
  }
  throw unknown_name("dtype", dtype, known);
}

/// size x the product of the shape. Error if a size is negative or the result exceeds 2^63 - 1.
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

/// A tensor without its bytes, and where these are in the data.
struct Place {
  StoredTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

struct Layout {
  std::map<std::string, std::string> metadata;
  std::vector<Place> places;
};

Place read_place(const std::string& name, const Json& entry) {
  constexpr std::string_view kKeys[] = {"dtype", "shape", "data_offsets"};
  for (const auto& [key, value] : entry.members()) {
    require(std::ranges::count(kKeys, key) == 1, "it has an unknown key '", key, "'");
  }
  Place place;
  place.tensor.name = name;
  place.tensor.dtype = entry.at("dtype").string();
  for (const Json& extent : entry.at("shape").items())
    place.tensor.shape.push_back(extent.integer());
  const Json::Array& offsets = entry.at("data_offsets").items();
  require(offsets.size() == 2, "data_offsets has ", offsets.size(), " numbers instead of 2");
  const std::int64_t begin = offsets[0].integer(), end = offsets[1].integer();
  require(0 <= begin && begin <= end, "data_offsets [", begin, ", ", end, "] are out of order");
  place.begin = static_cast<std::uint64_t>(begin);
  place.end = static_cast<std::uint64_t>(end);
  check_size(place.tensor, place.end - place.begin);
  return place;
}

/// Sorts by place. Error unless the tensors fill the data exactly, one after the other.
void check_places(std::vector<Place>& places, std::uint64_t data_size) {
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t filled = 0;
  for (const Place& place : places) {
    require(place.begin >= filled, "tensor '", place.tensor.name, "' overlaps the one before it");
    require(place.begin == filled, "there is a hole before tensor '", place.tensor.name, "'");
    require(place.end <= data_size, "the file ends inside tensor '", place.tensor.name,
            "': it is truncated");
    filled = place.end;
  }
  require(filled == data_size, data_size - filled, " bytes follow the last tensor");
}

Layout read_layout(std::string_view header, std::uint64_t data_size) {
  require(header.starts_with('{'), "the header is not a JSON object");
  const auto brackets = std::ranges::count(header, '{');
  require(static_cast<std::uint64_t>(brackets) <= kMostTensors, "the header lists ", brackets,
          " tensors; a model of this library has fewer than ", kMostTensors);
  const Json json = Json::parse(header, "header");
  Layout layout;
  for (const Json::Member& entry : json.members()) {
    in_context(text("tensor '", entry.first, "'"), [&] {
      if (entry.first != kMetadata)
        return layout.places.push_back(read_place(entry.first, entry.second));
      for (const auto& [key, value] : entry.second.members()) layout.metadata[key] = value.string();
    });
  }
  check_places(layout.places, data_size);
  return layout;
}

/// Of the header, with zeros where the checksum is to stand, and of all data after it.
std::string checksum_of(std::string_view header, const TensorFile& file) {
  Checksum sum;
  sum.add(header);
  for (const StoredTensor& tensor : file.tensors) sum.add(tensor.bytes);
  return sum.text();
}

/// Error if the file has a checksum and it is another one.
void check_sum(TensorFile& file, std::string header) {
  const auto stored = file.metadata.find(std::string(kChecksum));
  if (stored == file.metadata.end()) return;
  const std::string sum = std::exchange(stored->second, std::string(kUnknownSum));
  const std::size_t place = sum.size() == kUnknownSum.size() ? header.find(sum) : header.npos;
  if (place != header.npos) header.replace(place, sum.size(), kUnknownSum);
  require(place != header.npos && checksum_of(header, file) == sum,
          "its checksum is not that of its bytes: the file is damaged");
  file.metadata.erase(stored);
  file.checked = true;
}

TensorFile read_tensors(std::string_view bytes) {
  require(bytes.size() >= 8, "it has ", bytes.size(),
          " bytes, too few for the length of a header: it is truncated");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  require(length <= kMostHeader, "the header would have ", length, " bytes (limit ", kMostHeader,
          "): this is no safetensors file");
  require(length <= bytes.size() - 8, "the header has ", length, " bytes, but only ",
          bytes.size() - 8, " follow: it is truncated");
  const std::string_view data = bytes.substr(8 + length);
  Layout layout = read_layout(bytes.substr(8, length), data.size());

  TensorFile file;
  file.metadata = std::move(layout.metadata);
  for (Place& place : layout.places) {
    place.tensor.bytes = data.substr(place.begin, place.end - place.begin);
    file.tensors.push_back(std::move(place.tensor));
  }
  check_sum(file, std::string(bytes.substr(8, length)));
  return file;
}

std::string write_header(const TensorFile& file) {
  Json header = Json::object();
  Json& metadata = header[kMetadata] = Json::object({{std::string(kChecksum), kUnknownSum}});
  for (const auto& [key, value] : file.metadata)
    if (key != kChecksum) metadata[key] = value;
  std::unordered_set<std::string> names;
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : file.tensors) {
    require(tensor.name != kMetadata, "a tensor cannot be named '", kMetadata, "'");
    require(names.insert(tensor.name).second, "two tensors are named '", tensor.name, "'");
    in_context(text("tensor '", tensor.name, "'"),
               [&] { check_size(tensor, tensor.bytes.size()); });
    Json entry = Json::object();
    entry["dtype"] = tensor.dtype;
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = std::vector<std::uint64_t>{end, end + tensor.bytes.size()};
    end += tensor.bytes.size();
    header.members().emplace_back(tensor.name, std::move(entry));
  }
  std::string bytes = header.dump();
  bytes.append((8 - bytes.size() % 8) % 8, ' ');  // so that the data is aligned
  require(bytes.size() <= kMostHeader, "the header would have more than ", kMostHeader, " bytes");
  return bytes;
}

template <class From, class To>
std::vector<To> converted(const StoredTensor& tensor) {
  std::vector<To> values(tensor.bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

}  // namespace

std::int64_t StoredTensor::count() const { return checked_product(1, shape); }

template <class Number>
std::vector<Number> StoredTensor::numbers() const {
  check_size(*this, bytes.size());
  constexpr bool kWhole = std::is_integral_v<Number>;
  if (!kWhole && dtype == "F32") return converted<float, Number>(*this);
  if (!kWhole && dtype == "F64") return converted<double, Number>(*this);
  if (kWhole && dtype == "I64") return converted<std::int64_t, Number>(*this);
  if (kWhole && dtype == "I32") return converted<std::int32_t, Number>(*this);
  if (kWhole && element_size(dtype) == 1) return converted<std::uint8_t, Number>(*this);
  throw Error(text("tensor '", name, "' holds ", dtype,
                   kWhole ? ", not whole numbers" : ", not real numbers"));
}

template <class Number>
StoredTensor StoredTensor::of(std::string name, std::vector<std::int64_t> shape,
                              std::span<const Number> values) {
  const char* dtype = std::is_integral_v<Number> ? "I64" : sizeof(Number) == 4 ? "F32" : "F64";
  StoredTensor tensor{std::move(name), dtype, std::move(shape), {}};
  const std::int64_t count = tensor.count();
  require(static_cast<std::uint64_t>(count) == values.size(), "tensor '", tensor.name,
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

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

const StoredTensor& TensorFile::at(std::string_view name) const {
  if (const StoredTensor* tensor = find(name)) return *tensor;
  const std::string nearest = nearest_name(name, texts_of(tensors, &StoredTensor::name));
  throw Error(text("there is no tensor '", name, "'"),
              nearest.empty() ? "" : text("there is '", nearest, "'"));
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path), path.string());
}

TensorFile parse_safetensors(std::string_view bytes, std::string_view source) {
  return in_context(text("cannot read the tensors of '", source, "'"),
                    [&] { return read_tensors(bytes); });
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  std::string header = write_header(file);
  header.replace(header.find(kUnknownSum), kUnknownSum.size(), checksum_of(header, file));
  const auto prefix = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
  std::vector<std::string_view> parts = {{prefix.data(), prefix.size()}, header};
  for (const StoredTensor& tensor : file.tensors) parts.push_back(tensor.bytes);
  write_file(path, parts);
}

}  // namespace headlab
