// Reading and writing safetensors (safetensors.h). Reading has two steps: `read_layout` turns the
// header into tensors with validated positions, then each tensor reads its bytes. Read next:
// headlab/core/model/checkpoint.h, which assigns the tensors to parameters.
#include "headlab/core/base/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <unordered_set>

#include "core/base/digest.h"
#include "core/base/stored_tensor.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are stored as memory holds them");

constexpr std::uint64_t kMostHeader = 100'000'000;  // bytes; the reference implementation's limit
constexpr std::uint64_t kMostTensors = 100'000;
constexpr std::string_view kMetadata = "__metadata__", kChecksum = "checksum";
constexpr std::string_view kUnknownSum = "0000000000000000";  // placeholder while the checksum is
                                                              // being computed

/// A tensor without its bytes, and the position of these in the data.
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
  for (const Json& extent : entry.at("shape").items()) {
    place.tensor.shape.push_back(extent.integer());
  }
  const Json::Array& offsets = entry.at("data_offsets").items();
  require(offsets.size() == 2, "data_offsets has ", offsets.size(), " numbers instead of 2");
  const std::int64_t begin = offsets[0].integer(), end = offsets[1].integer();
  require(0 <= begin && begin <= end, "data_offsets [", begin, ", ", end, "] are out of order");
  place.begin = static_cast<std::uint64_t>(begin);
  place.end = static_cast<std::uint64_t>(end);
  check_size(place.tensor, place.end - place.begin);
  return place;
}

/// Sorts by position. Error unless the tensors fill the data exactly, one after the other.
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
    in_context("tensor '" + entry.first + "'", [&] {
      if (entry.first != kMetadata) {
        return layout.places.push_back(read_place(entry.first, entry.second));
      }
      if (entry.second.is_null()) return;  // the reference implementation treats it as no metadata
      for (const auto& [key, value] : entry.second.members()) layout.metadata[key] = value.string();
    });
  }
  check_places(layout.places, data_size);
  return layout;
}

/// Function that returns `count` bytes of a file from `begin` on.
using ReadBytes = std::function<std::string(std::uint64_t begin, std::uint64_t count)>;

/// The header of a file; positions count from the beginning of the file.
struct Header {
  std::string bytes;
  Layout layout;
};

Header read_header(const ReadBytes& read, std::uint64_t size) {
  require(size >= 8, "it has ", size,
          " bytes, too few for the length of a header: it is truncated");
  std::uint64_t length = 0;
  std::memcpy(&length, read(0, 8).data(), sizeof length);
  require(length <= kMostHeader, "the header would have ", length, " bytes (limit ", kMostHeader,
          "): this is no safetensors file");
  require(length <= size - 8, "the header has ", length, " bytes, but only ", size - 8,
          " follow: it is truncated");
  std::string bytes = read(8, length);
  Layout layout = read_layout(bytes, size - 8 - length);
  for (Place& place : layout.places) {
    place.begin += 8 + length;
    place.end += 8 + length;
  }
  return {std::move(bytes), std::move(layout)};
}

/// Computes the checksum of the header, with zeros in place of the checksum, and of all data after
/// it.
template <class Places, class Data>
std::string checksum_of(std::string_view header, const Places& places, const Data& data) {
  Checksum sum;
  sum.add(header);
  for (const auto& place : places) sum.add(data(place));
  return sum.text();
}

/// Returns whether there is a checksum, and removes it from the metadata. Error if it differs from
/// that of the data that data(place) returns.
template <class Data>
bool check_sum(Header& header, const Data& data) {
  auto& metadata = header.layout.metadata;
  const auto stored = metadata.find(std::string(kChecksum));
  if (stored == metadata.end()) return false;
  const std::string sum = std::exchange(stored->second, std::string(kUnknownSum));
  std::string bytes = header.bytes;
  const std::size_t at = sum.size() == kUnknownSum.size() ? bytes.find(sum) : bytes.npos;
  if (at != bytes.npos) bytes.replace(at, sum.size(), kUnknownSum);
  require(at != bytes.npos && checksum_of(bytes, header.layout.places, data) == sum,
          "its checksum is not that of its bytes: the file is damaged");
  metadata.erase(stored);
  return true;
}

TensorFile read_tensors(const ReadBytes& read, std::uint64_t size) {
  Header header = read_header(read, size);
  TensorFile file;
  for (Place& place : header.layout.places) {
    place.tensor.bytes = read(place.begin, place.end - place.begin);
  }
  file.checked =
      check_sum(header, [](const Place& place) { return std::string_view(place.tensor.bytes); });
  file.metadata = std::move(header.layout.metadata);
  for (Place& place : header.layout.places) file.tensors.push_back(std::move(place.tensor));
  return file;
}

/// Calls body(); its errors state that they concern the tensors of a file.
template <class Body>
decltype(auto) about_file(std::string_view source, const Body& body) {
  return in_context(text("cannot read the tensors of '", source, "'"), body);
}

std::string write_header(const TensorFile& file, const std::vector<std::string_view>& data) {
  Json header = Json::object();
  Json& metadata = header[kMetadata] = Json::object({{std::string(kChecksum), kUnknownSum}});
  for (const auto& [key, value] : file.metadata) {
    if (key != kChecksum) metadata[key] = value;
  }
  std::unordered_set<std::string> names;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const StoredTensor& tensor = file.tensors[i];
    require(tensor.name != kMetadata, "cannot write tensors: '", kMetadata,
            "' must not be the name of one");
    require(names.insert(tensor.name).second, "cannot write tensors: two tensors are named '",
            tensor.name, "'");
    in_context("tensor '" + tensor.name + "'", [&] { check_size(tensor, data[i].size()); });
    Json entry = Json::object();
    entry["dtype"] = tensor.dtype;
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = std::vector<std::uint64_t>{end, end + data[i].size()};
    end += data[i].size();
    header.members().emplace_back(tensor.name, std::move(entry));
  }
  std::string bytes = header.dump();
  bytes.append((8 - bytes.size() % 8) % 8, ' ');  // aligns the data
  require(bytes.size() <= kMostHeader, "cannot write tensors: the header would have more than ",
          kMostHeader, " bytes");
  return bytes;
}

}  // namespace

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

const StoredTensor& TensorFile::at(std::string_view name) const {
  if (const StoredTensor* tensor = find(name)) return *tensor;
  const std::string nearest = nearest_name(name, texts_of(tensors, &StoredTensor::name));
  throw Error(text("cannot find the tensor '", name, "'"),
              nearest.empty() ? "" : text("there is '", nearest, "'"));
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  const FileReader file(path);
  // Small files are read at once: a system call for each tensor costs more than a copy.
  if (file.size() < 1 << 16) return parse_safetensors(file.read(0, file.size()), path.string());
  const auto read = [&](auto begin, auto count) { return file.read(begin, count); };
  return about_file(path.string(), [&] { return read_tensors(read, file.size()); });
}

TensorFile parse_safetensors(std::string_view bytes, std::string_view source) {
  return about_file(source, [&] {
    return read_tensors([&](auto begin,
                            auto count) { return std::string(bytes.substr(begin, count)); },
                        bytes.size());
  });
}

TensorReader::TensorReader(const std::filesystem::path& path)
    : file_(std::make_unique<FileReader>(path)) {
  const auto read = [&](auto begin, auto count) { return file_->read(begin, count); };
  about_file(path.string(), [&] {
    Header header = read_header(read, file_->size());
    header_.checked = check_sum(header, [&](const auto& place) {
      return read(place.begin, place.end - place.begin);
    });
    header_.metadata = std::move(header.layout.metadata);
    for (Place& place : header.layout.places) {
      begin_[place.tensor.name] = place.begin;
      header_.tensors.push_back(std::move(place.tensor));
    }
  });
}

std::vector<float> TensorReader::floats(std::string_view name) const {
  constexpr std::uint64_t kPiece = 1 << 20;
  const StoredTensor& tensor = header_.at(name);
  const auto count = static_cast<std::uint64_t>(tensor.count());
  const std::uint64_t begin = begin_.at(tensor.name);
  const std::uint64_t end = begin + count * element_size(tensor.dtype);
  std::vector<float> values;
  values.reserve(count);
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    StoredTensor piece = tensor;
    piece.bytes = file_->read(at, std::min(kPiece, end - at));
    piece.shape = {static_cast<std::int64_t>(piece.bytes.size() / element_size(piece.dtype))};
    const std::vector<float> some = piece.numbers<float>();
    values.insert(values.end(), some.begin(), some.end());
  }
  return values;
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file, Links links) {
  const auto views = mapped(file.tensors, [](const StoredTensor& tensor) {
    return std::string_view(tensor.bytes);
  });
  write_safetensors(path, file, views, links);
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file,
                       const std::vector<std::string_view>& views, Links links) {
  std::string header = write_header(file, views);
  header.replace(header.find(kUnknownSum), kUnknownSum.size(),
                 checksum_of(header, views, [](std::string_view bytes) { return bytes; }));
  const auto prefix = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
  std::vector<std::string_view> parts = {{prefix.data(), prefix.size()}, header};
  parts.insert(parts.end(), views.begin(), views.end());
  write_file(path, parts, links);
}

}  // namespace headlab
