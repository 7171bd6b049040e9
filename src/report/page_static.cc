// A page without its scripts: in the preview of a mail, in a reader's mode, in a pager. Pictures
// are vectors: one path for each shade of a head's mean pattern, its cells as runs of a row. Read
// next: page.cc.
#include <algorithm>
#include <array>
#include <cmath>

#include "headlab/base/text.h"
#include "report/page_html.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

/// Cividis from light to dark at 1/8, 2/8 ... 1 of its range, as the page with scripts has it:
/// readable without colours too (Nunez et al. 2018).
constexpr std::array<const char*, 8> kMapShades = {"#fee838", "#dec958", "#bcae6c", "#9c9474",
                                                   "#7d7c78", "#60646e", "#3b496c", "#00224e"};
constexpr Index kMapCells = 16;   // at most, in a row and in a column
constexpr Index kMostMaps = 128;  // of more heads there are no pictures here

std::string verdict_html(const Json& pieces) {
  std::string html = "<p id=\"verdict\">";
  for (const Json& piece : pieces.items()) html += html_text(piece.at("text").string());
  return html + "</p>\n";
}

std::string cell_html(const Json* value) {
  if (value == nullptr || value->is_null()) return "<td>-</td>";
  return "<td>" + (value->is_number() ? fixed(value->number(), 3) : html_text(value->string())) +
         "</td>";
}

std::string relation_row(const Json& relation) {
  const Json& best = relation.at("best");
  std::string html = "<tr><th scope=\"row\">" + html_text(relation.at("name").string()) + "</th>";
  if (best.is_null()) return html + "<td colspan=\"7\">no head can do it</td></tr>\n";
  html += text("<td>", best.at("layer").integer(), ".", best.at("head").integer(), "</td>");
  for (const char* name : {"mass", "top1", "lift", "null", "p"}) html += cell_html(best.find(name));
  return html + (relation.at("owner").is_null() ? "<td>no owner</td>" : "<td>owner</td>") +
         "</tr>\n";
}

std::string scores_html(const Json& reports) {
  const Json* heads = reports.find("heads");
  if (heads == nullptr) return "";
  std::string html =
      "<table id=\"scores-table\"><caption>The best head for each relation, on held-out "
      "examples</caption>\n<thead><tr>";
  for (const char* title : {"relation", "head", "mass", "top-1", "lift", "chance", "p", "verdict"})
    html += text("<th scope=\"col\">", title, "</th>");
  html += "</tr></thead>\n<tbody>\n";
  for (const Json& relation : heads->at("relations").items()) html += relation_row(relation);
  return html + "</tbody></table>\n";
}

/// A mean pattern in at most 16 x 16 cells: the largest weight of each, as a shade from 0 to 8.
struct CoarseMap {
  Index rows, columns;
  std::vector<int> shades;

  CoarseMap(const RunStudy::Module& module, Index head) {
    const auto pool = [](Index size) { return (size + kMapCells - 1) / kMapCells; };
    const Index by = std::max({pool(module.rows), pool(module.columns), Index{1}});
    rows = (module.rows + by - 1) / by, columns = (module.columns + by - 1) / by;
    shades.resize(rows * columns);
    const float* weights = module.mean_pattern.data() + head * module.rows * module.columns;
    for (Index t = 0; t < module.rows; ++t) {
      for (Index s = 0; s < module.columns; ++s) {
        int& shade = shades[t / by * columns + s / by];
        const float weight = weights[t * module.columns + s];
        shade = std::max(shade, static_cast<int>(std::lround(8 * std::sqrt(weight))));
      }
    }
  }
  /// The cells of one shade as the data of a path.
  std::string path_of(int shade) const {
    std::string path;
    for (Index row = 0; row < rows; ++row) {
      for (Index from = 0, to = 0; from < columns; from = to + 1) {
        for (to = from; to < columns && shades[row * columns + to] == shade;) ++to;
        if (to > from) path += text("M", from, " ", row, "h", to - from, "v1h", from - to, "z");
      }
    }
    return path;
  }
};

std::string map_svg(const RunStudy::Module& module, Index place, const std::string& head) {
  const CoarseMap map(module, place);
  std::string svg =
      text("<figure><svg viewBox=\"0 0 ", map.columns, " ", map.rows,
           "\" width=\"96\" height=\"96\" role=\"img\" aria-label=\"mean pattern of head ", head,
           "\"><path fill=\"#ffffff\" d=\"M0 0h", map.columns, "v", map.rows, "h-", map.columns,
           "z\"/>");
  for (int shade = 1; shade <= 8; ++shade) {
    const std::string path = map.path_of(shade);
    if (!path.empty()) svg += text("<path fill=\"", kMapShades[shade - 1], "\" d=\"", path, "\"/>");
  }
  return svg + "</svg><figcaption>" + head + "</figcaption></figure>";
}

std::string maps_html(const Json& modules, const RunStudy& study) {
  Index heads = 0;
  for (const RunStudy::Module& module : study.modules) heads += module.heads;
  if (heads == 0 || heads > kMostMaps) return "";
  std::string html = "<div id=\"maps\">\n";
  for (std::size_t m = 0; m < study.modules.size(); ++m) {
    const Json::Array& numbers = modules.items()[m].at("heads").items();
    html += "<div>";
    for (std::size_t place = 0; place < numbers.size(); ++place)
      html += map_svg(study.modules[m], static_cast<Index>(place),
                      text(m, ".", numbers[place].integer()));
    html += "</div>\n";
  }
  return html + "</div>\n";
}

}  // namespace

std::string static_html(const Json& run, const RunStudy& study) {
  return verdict_html(run.at("verdict")) + scores_html(run.at("reports")) +
         maps_html(run.at("modules"), study);
}

}  // namespace headlab
