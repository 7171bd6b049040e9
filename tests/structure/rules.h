// Shared by the tests of this folder: the layer that a file belongs to. Read next: tree_test.cc,
// the rules that hold for every file. Paths are relative to the project and use slashes.
#pragma once

#include <string>
#include <string_view>

namespace headlab::structure {

/// The layer that a file of src/ or include/headlab/ belongs to; empty for headlab.h.
inline std::string layer_of(std::string_view path) {
  for (const std::string_view root : {"src/", "include/headlab/"}) {
    if (!path.starts_with(root)) continue;
    path.remove_prefix(root.size());
    return path.find('/') != path.npos ? std::string(path.substr(0, path.find('/'))) : "";
  }
  return {};
}

}  // namespace headlab::structure
