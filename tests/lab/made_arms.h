// Arms that tests make up, and what is said of them.
//
// Read next: compare_test.cc; emergence_test.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/studies/compare.h"

namespace headlab {

/// An arm of seeds 0, 1, ...
inline Arm arm(const std::string& name, const std::vector<double>& values) {
  Arm made{name, {}, values};
  for (std::size_t i = 0; i < values.size(); ++i) made.seeds.push_back(static_cast<Index>(i));
  return made;
}

inline Json cell(const Result& found, const char* key, std::size_t row = 0) {
  return found.table("comparisons").cells(key).at(row);
}

}  // namespace headlab
