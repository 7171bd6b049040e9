// Looking for lines in text. Read next: heads_text_test.cc.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace headlab {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The first line that holds all of these; "" if there is none.
inline std::string line_with(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& line : lines_of(text))
    if (std::all_of(parts.begin(), parts.end(),
                    [&](const std::string& part) { return line.find(part) != line.npos; }))
      return line;
  return "";
}

}  // namespace headlab
