// The lessons without scripts: the texts of src/app/report/page/lessons.html with tables of the
// program. With scripts the page shows the same texts next to its own computations. Read next:
// heads/lessons.h.
#include "headlab/base/text.h"
#include "headlab/bench/cost.h"
#include "headlab/heads/lessons.h"
#include "headlab/report/finding_text.h"
#include "report/page_html.h"
#include "report/page_parts.h"

namespace headlab {

std::vector<std::array<std::string, 2>> glossary() {
  std::vector<std::array<std::string, 2>> all;
  for (const std::string_view line : split(file_text("lessons.html"), '\n')) {
    const auto tags = split(line, '>');  // <dt, term</dt, <dd, in a word</dd, <dd, exactly <a ...
    const auto inside = [&](int i) { return tags[i].substr(0, tags[i].find(i < 5 ? "<" : " <")); };
    if (tags[0] == "<dt") all.push_back({std::string(inside(1)), text(inside(3), " ", inside(5))});
  }
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
