// The directory at the end of the archive says where each file lies; bytes between files are
// passed over. Names, sizes and checksums of the directory are compared with the files, so that a
// damaged archive is refused.
// Read next: npy_read.cc.
#include "lab/results/npz.h"

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "lab/results/little_endian.h"

namespace headlab {
namespace {

/// Returns numbers one after the other, each of `width` bytes, little endian.
std::string numbers(int width, std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) {
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return bytes;
}

/// A file as the directory at the end of the archive lists it.
struct Entry {
  std::string file, name;  // "tokens.npy" and "tokens"
  std::uint64_t flags, method, crc, stored, size, place;
  std::size_t next;  // where the next entry begins
};

Entry entry_at(std::string_view bytes, std::size_t at) {
  require(bytes_at(bytes, at, 4) == "PK\1\2", "its list of arrays is damaged");
  const std::size_t name_size = number_at(bytes, at + 28, 2);
  const std::size_t more = number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  Entry entry;
  entry.file = bytes_at(bytes, at + 46, name_size);
  entry.name = entry.file;
  if (entry.name.ends_with(".npy")) entry.name.resize(entry.name.size() - 4);
  entry.flags = number_at(bytes, at + 8, 2);
  entry.method = number_at(bytes, at + 10, 2);
  entry.crc = number_at(bytes, at + 16, 4);
  entry.stored = number_at(bytes, at + 20, 4);
  entry.size = number_at(bytes, at + 24, 4);
  entry.place = number_at(bytes, at + 42, 4);
  entry.next = at + 46 + name_size + more;
  return entry;
}

/// Returns the bytes of a file, whose checksum is compared with the stated one.
std::string_view content_of(std::string_view bytes, const Entry& entry) {
  require((entry.flags & 1) == 0, "it is encrypted");
  require(entry.method == 0, "it is compressed: write it with numpy.savez");
  require(entry.size < 0xFFFFFFFF && entry.place < 0xFFFFFFFF, "it is larger than 4 GB");
  require(entry.stored == entry.size, "its list of arrays states two sizes for it");
  require(bytes_at(bytes, entry.place, 4) == "PK\3\4", "it does not begin where the list says");
  const std::size_t name_size = number_at(bytes, entry.place + 26, 2);
  require(bytes_at(bytes, entry.place + 30, name_size) == entry.file,
          "it has another name than in the list");
  const std::size_t begin = entry.place + 30 + name_size + number_at(bytes, entry.place + 28, 2);
  const std::string_view content = bytes_at(bytes, begin, entry.size);
  if (crc32(content) != entry.crc) {
    throw Error("its bytes do not fit their checksum (CRC-32): the file is damaged",
                "copy it again, or save it again with numpy.savez");
  }
  return content;
}

/// Bytes between the files of an archive: a header before each, and the directory at the end.
struct Archive {
  std::vector<std::string> headers{};
  std::string directory{};

  /// Returns all bytes in their order. They live as long as the archive and the files.
  std::vector<std::string_view> parts(
      const std::vector<std::pair<std::string, std::string>>& files) const {
    std::vector<std::string_view> all;
    for (std::size_t i = 0; i < files.size(); ++i) {
      all.emplace_back(headers[i]);
      all.emplace_back(files[i].second);
    }
    all.emplace_back(directory);
    return all;
  }
};

Archive archive_of(const std::vector<std::pair<std::string, std::string>>& files) {
  constexpr std::uint64_t kVersion = 20, kDay = 1 << 5 | 1;  // 1980-01-01
  Archive archive;
  std::string& entries = archive.directory;
  std::uint64_t end = 0;
  for (const auto& [array, file] : files) {
    const std::string name = array + ".npy";
    const std::string about = numbers(2, {kVersion, 0, 0, 0, kDay}) +
                              numbers(4, {crc32(file), file.size(), file.size()}) +
                              numbers(2, {name.size(), 0});
    entries += "PK\1\2" + numbers(2, {kVersion}) + about + numbers(2, {0, 0, 0}) +
               numbers(4, {0, end}) + name;
    archive.headers.push_back("PK\3\4" + about + name);
    end += archive.headers.back().size() + file.size();
  }
  require(end + entries.size() < 0xFFFFFFFF && files.size() < 0xFFFF,
          "an archive of arrays holds at most 4 GB and 65534 arrays");
  entries += "PK\5\6" + numbers(2, {0, 0, files.size(), files.size()}) +
             numbers(4, {entries.size(), end}) + numbers(2, {0});
  return archive;
}

}  // namespace

std::map<std::string, WholeNumbers, std::less<>> read_npz(std::string_view bytes) {
  const std::size_t end = bytes.rfind("PK\5\6");
  require(end != bytes.npos, "it is not an archive of arrays, or its end is missing");
  require(end + 22 + number_at(bytes, end + 20, 2) == bytes.size(),
          "its end is missing, or something follows it");
  const std::size_t directory = number_at(bytes, end + 16, 4);
  std::map<std::string, WholeNumbers, std::less<>> arrays;
  std::size_t at = directory;
  for (std::size_t files = number_at(bytes, end + 10, 2); files > 0; --files) {
    const Entry entry = entry_at(bytes, at);
    WholeNumbers array = in_context(entry.name, [&] { return read_npy(content_of(bytes, entry)); });
    require(arrays.emplace(entry.name, std::move(array)).second, "it holds the array ", entry.name,
            " twice");
    at = entry.next;
  }
  require(at - directory == number_at(bytes, end + 12, 4), "its list of arrays is damaged");
  return arrays;
}

std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& files) {
  const Archive archive = archive_of(files);
  std::string bytes;
  for (const std::string_view part : archive.parts(files)) bytes += part;
  return bytes;
}

void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& files) {
  const Archive archive =
      in_context(text("cannot write ", path.string()), [&] { return archive_of(files); });
  write_file(path, archive.parts(files));
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      remainders[i] = i;
      for (int bit = 0; bit < 8; ++bit) {
        remainders[i] = remainders[i] >> 1 ^ (remainders[i] & 1) * 0xEDB88320;
      }
    }
    return remainders;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 255];
  }
  return ~crc;
}

}  // namespace headlab
