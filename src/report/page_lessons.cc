// The lessons without scripts: the texts of src/report/page/lessons.html with tables of the
// program. With scripts the page shows the same beside what it computes itself. Read next:
// heads/lessons.h.
#include <regex>

#include "headlab/base/text.h"
#include "headlab/bench/cost.h"
#include "headlab/heads/lessons.h"
#include "headlab/report/finding_text.h"
#include "report/page_html.h"
#include "report/page_parts.h"

namespace headlab {

std::vector<std::array<std::string, 2>> glossary() {
  static const std::regex term("<dt>([^<]*)</dt><dd>([^<]*)</dd><dd>([^<]*) <a");
  const std::string html(file_text("lessons.html"));
  std::vector<std::array<std::string, 2>> all;
  for (std::sregex_iterator at(html.begin(), html.end(), term), end; at != end; ++at)
    all.push_back({(*at)[1], text((*at)[2].str(), " ", (*at)[3].str())});
  return all;
}

std::string lessons_html() {
  std::string html;
  for (const HtmlPiece& piece : html_pieces(file_text("lessons.html"))) {
    html += piece.text;
    if (piece.placeholder == "models") html += html_of(published_cost());
    if (piece.placeholder == "patterns") html += html_of(known_patterns_table());
    if (piece.placeholder == "corrections") html += html_of(corrections_table());
  }
  return html;
}

}  // namespace headlab
