// The lessons without scripts: the texts of src/app/report/page/lessons/lessons.html with tables of
// the program. With scripts the page shows the same texts next to its own computations. Read next:
// lab/heads/lessons/lessons.h.
#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "headlab/app/report/finding_text.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/bench/cost.h"
#include "headlab/lab/heads/lessons/lessons.h"

namespace headlab {

std::vector<std::array<std::string, 2>> glossary() {
  std::vector<std::array<std::string, 2>> all;
  for (const std::string_view line : split(file_text("lessons.html"), '\n')) {
    // <dt, term</dt, <dd, in a word</dd, <dd, exactly <a ...
    const std::vector<std::string_view> tags = split(line, '>');
    const bool has_two_meanings = tags.size() > 5 && tags[0] == "<dt" && tags[4] == "<dd";
    if (!has_two_meanings) {
      continue;
    }
    const std::string term(tags[1].substr(0, tags[1].find('<')));
    const std::string_view in_a_word = tags[3].substr(0, tags[3].find('<'));
    const std::string_view exactly = tags[5].substr(0, tags[5].find(" <"));
    all.push_back({term, text(in_a_word, " ", exactly)});
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
