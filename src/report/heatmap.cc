#include "headlab/report/heatmap.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

constexpr std::size_t kCell = 2;          // columns of a cell
constexpr std::size_t kWidestLabel = 12;  // longer tokens are cut
constexpr std::array<std::string_view, 6> kShades = {"  ", "· ", "░░", "▒▒", "▓▓", "██"};

std::string cell(double weight, bool color) {
  if (color) {  // 232 black ... 255 white
    const int gray = 232 + static_cast<int>(std::clamp(weight, 0.0, 1.0) * 23);
    return weight == 0 ? "  " : text("\033[48;5;", gray, "m  \033[0m");
  }
  const std::array<double, 5> limits = {1e-6, 0.05, 0.25, 0.5, 0.75};
  const auto shade = std::upper_bound(limits.begin(), limits.end(), weight) - limits.begin();
  return std::string(kShades[static_cast<std::size_t>(shade)]);
}

/// The tokens of the columns, written downwards, one line for each of their characters.
std::string column_labels(const std::vector<std::string>& sources, std::size_t margin) {
  std::vector<std::vector<std::string>> characters;
  std::size_t height = 1;
  for (const std::string& source : sources) {
    std::vector<std::string> split;
    for (const char byte : source) {
      if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80 && !split.empty()) {
        split.back() += byte;
      } else {
        split.emplace_back(1, byte);
      }
    }
    split.resize(std::min(split.size(), kWidestLabel));
    height = std::max(height, split.size());
    characters.push_back(std::move(split));
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row(margin, ' ');
    for (const auto& label : characters) {
      const std::size_t skipped = height - label.size();
      row += padded(line >= skipped ? label[line - skipped] : "", kCell);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

}  // namespace

std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options) {
  require(weights.size() == destinations.size() * sources.size(), "a heatmap of ",
          destinations.size(), " x ", sources.size(), " cells got ", weights.size(), " weights");
  std::size_t label = 0;
  for (const std::string& destination : destinations) {
    label = std::max(label, std::min(kWidestLabel, display_width(destination)));
  }
  std::string out = column_labels(sources, label + 2);
  for (std::size_t t = 0; t < destinations.size(); ++t) {
    const auto row = weights.subspan(t * sources.size(), sources.size());
    out += padded(destinations[t], label, true) + " │";
    for (const Scalar weight : row) {
      out += cell(static_cast<double>(weight), options.color);
    }
    const double largest =
        row.empty() ? 0 : static_cast<double>(*std::max_element(row.begin(), row.end()));
    out += "│ " + fixed(largest, 2) + "\n";
  }
  return out;
}

}  // namespace headlab::inline HEADLAB_SCALAR
