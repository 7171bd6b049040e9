// What the tests of this folder share: to which layer a file belongs. Read next: tree_test.cc, what
// holds for every file; budget_test.cc, how many lines a layer may have.
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
