// Pictures in tests: their items, their words, and whether everything lies inside. A picture is
// compared with the SVG of a golden file.
// Read next: figures_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlab/app/report/picture.h"
#include "headlab/core/base/text.h"
#include "support/golden_text.h"

namespace headlab::drawn {

template <class Kind>
std::vector<Kind> all_of(const Picture& picture) {
  std::vector<Kind> found;
  for (const Item& item : picture.items)
    if (const Kind* one = std::get_if<Kind>(&item)) found.push_back(*one);
  return found;
}

inline std::string words_of(const Picture& picture) {
  std::string words;
  for (const TextItem& item : all_of<TextItem>(picture)) words += item.text + "\n";
  return words;
}

inline bool says(const Picture& picture, const std::string& words) {
  return words_of(picture).find(words) != std::string::npos ||
         picture.sentence.find(words) != std::string::npos;
}

/// Lines of more than 4,000 bytes are long lists of cells: their first and last 200 bytes.
inline std::string without_long_lines(const std::string& drawn) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(drawn, '\n')) {
    if (line.size() <= 4000) {
      lines.emplace_back(line);
      continue;
    }
    lines.emplace_back(line.substr(0, 200));
    lines.push_back(text("... ", line.size(), " bytes in all ..."));
    lines.emplace_back(line.substr(line.size() - 200));
  }
  return join(lines, "\n");
}

/// Everything lies inside the picture, whose SVG is that of the golden file.
inline void expect_drawn(const Picture& picture, const std::string& golden) {
  expect_golden(golden + ".svg", without_long_lines(svg(picture, "")));
  const auto inside = [&](const Point& p) {
    EXPECT_GE(p.x, -1e-9);
    EXPECT_LE(p.x, picture.width + 1e-9);
    EXPECT_GE(p.y, -1e-9);
    EXPECT_LE(p.y, picture.height + 1e-9);
  };
  for (const TextItem& item : all_of<TextItem>(picture)) inside(item.at);
  for (const LineItem& item : all_of<LineItem>(picture))
    for (const Point& point : item.points) inside(point);
  for (const DotItem& item : all_of<DotItem>(picture)) inside(item.at);
  for (const MapItem& item : all_of<MapItem>(picture)) {
    inside({item.box.x, item.box.y});
    inside({item.box.x + item.box.w, item.box.y + item.box.h});
  }
}

/// No text reaches beyond the sides of the picture, nor a turned one beyond its top.
inline void expect_inside(const Picture& picture) {
  for (const TextItem& item : all_of<TextItem>(picture)) {
    const double length = text_width(item.text, item.size, item.bold);
    double before = 0;  // of the text, before its anchor
    if (item.anchor == Anchor::middle) before = length / 2;
    if (item.anchor == Anchor::end) before = length;
    if (item.turn == 0) {
      EXPECT_GE(item.at.x - before, -1e-9) << item.text;
      EXPECT_LE(item.at.x - before + length, picture.width + 1e-9) << item.text;
    } else {
      EXPECT_GE(item.at.y + before - length, -1e-9) << item.text;
    }
  }
}

}  // namespace headlab::drawn
