// Opening of one file or of the files that an index names (sharded_reader.h). The index is compared
// with the files in both directions, so that a file of another version is noticed. Read next:
// layouts.cc.
#include "lab/layouts/sharded_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Throws an Error if a file begins like another kind that users mistake for safetensors; the
/// length of its header would be impossible.
void refuse_other_kinds(std::string_view begin) {
  constexpr struct {
    std::string_view begin, kind, hint;
  } kKinds[] = {{"version https://git-lfs", "it is a pointer of git-lfs, not the file itself",
                 "fetch the file: git lfs pull"},
                {"{", "it is JSON, not safetensors",
                 "name the model's folder or its .safetensors file"},
                {"<", "it begins with '<' as a web page does, not safetensors",
                 "download the file itself: a page was saved in its place"},
                {"PK\x03\x04", "it is a zip archive, as torch.save writes it, not safetensors",
                 "convert it: safetensors.torch.save_model"},
                {"\x80\x02", "it is a Python pickle, not safetensors",
                 "convert it: safetensors.torch.save_model"},
                {"GGUF", "it is GGUF, not safetensors", "use the safetensors of the same model"},
                {"\x89HDF", "it is HDF5, not safetensors",
                 "use the safetensors of the same model"}};
  constexpr std::size_t kNoLength = 7;  // a header's length is small: byte 7 of a file is 0
  if (begin.size() <= kNoLength || begin[kNoLength] == '\0') return;
  for (const auto& [start, kind, hint] : kKinds) {
    if (begin.starts_with(start)) throw Error(std::string(kind), std::string(hint));
  }
}

/// Returns model.safetensors of a folder, or the index of its shards. Error if there is neither, or
/// both.
std::filesystem::path weights_in(const std::filesystem::path& folder) {
  const std::filesystem::path whole = folder / "model.safetensors";
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  if (is_there(whole) && is_there(index)) {
    throw Error(text("cannot read ", folder.string(), ": it holds both model.safetensors and ",
                     index.filename().string(), ", which may be two models"),
                text("name the one that is meant: ", whole.string(), " or ", index.string()));
  }
  if (is_there(whole)) return whole;
  if (is_there(index)) return index;
  std::string hint = "name a folder that holds one of them, or the .safetensors file";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".bin" || extension == ".pt" || extension == ".pth") {
      hint = text("convert ", entry.path().filename().string(),
                  " in Python: safetensors.torch.save_model(model, 'model.safetensors')");
    }
  }
  throw Error(text("cannot read ", folder.string(), ": it holds neither model.safetensors nor ",
                   index.filename().string()),
              hint);
}

/// Throws an Error unless an index names a file of its own folder.
void require_own_file(const std::filesystem::path& index, const std::string& name) {
  const bool is_name = !name.empty() && name != "." && name != ".." &&
                       name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
  if (!is_name) {
    throw Error(text("cannot read ", index.string(), ": it names the file '",
                     headlab::harmless(name), "'"),
                "let the index name files of its own folder only");
  }
}

}  // namespace

ShardedReader::ShardedReader(const std::filesystem::path& path) {
  const std::filesystem::path file = std::filesystem::is_directory(path) ? weights_in(path) : path;
  if (file.string().ends_with(".index.json")) {
    add_all(file);
  } else {
    add(file);
  }
}

/// Adds the tensors of a file.
void ShardedReader::add(const std::filesystem::path& path) {
  const auto about_file = text("cannot read the tensors of '", path.string(), "'");
  const FileReader file(path);
  in_context(about_file,
             [&] { refuse_other_kinds(file.read(0, std::min<std::uint64_t>(file.size(), 32))); });
  const TensorReader& reader = files_.emplace_back(path);
  for (const StoredTensor& tensor : reader.header().tensors) {
    const Place place{files_.size() - 1, tensors_.size()};
    const bool is_new = places_.emplace(tensor.name, place).second;
    require(is_new, about_file, ": another file holds '", tensor.name, "' too");
    tensors_.push_back(tensor);
  }
}

/// Adds the tensors of the files that an index names.
void ShardedReader::add_all(const std::filesystem::path& index) {
  const Json json = Json::parse(read_file(index), index.string());
  std::map<std::string, std::set<std::string>> files;
  for (const auto& [name, file] : json.at("weight_map").members()) {
    require_own_file(index, file.string());
    files[file.string()].insert(name);
  }
  require(!files.empty(), "cannot read ", index.string(), ": it names no file");
  for (const auto& [file, expected] : files) {
    add(index.parent_path() / file);
    std::set<std::string> held;
    for (const StoredTensor& tensor : files_.back().header().tensors) held.insert(tensor.name);
    for (const std::string& name : expected) {
      require(held.contains(name), "cannot read ", index.string(), ": it says that ", file,
              " holds ", name, ", but it does not");
    }
    for (const std::string& name : held) {
      require(expected.contains(name), "cannot read ", index.string(), ": it does not name ", name,
              ", which ", file, " holds");
    }
  }
}

const StoredTensor* ShardedReader::find(std::string_view name) const {
  const auto found = places_.find(std::string(name));
  return found == places_.end() ? nullptr : &tensors_[found->second.tensor];
}

std::vector<float> ShardedReader::floats(const std::string& name) const {
  const auto found = places_.find(name);
  require(found != places_.end(), "cannot find the tensor '", name, "'");
  return files_[found->second.file].floats(name);
}

}}  // namespace headlab
