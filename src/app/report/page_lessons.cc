// The lessons without scripts: the texts of src/app/report/page/lessons/lessons.html with tables of
// the program. With scripts the page shows the same texts next to its own computations. Read next:
// lab/heads/lessons/lessons.h.
#include <algorithm>

#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "app/report/results.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/lessons/lessons.h"

namespace headlab {

/// Returns the text between `begin` and the first of `end` after it; "" without `begin`.
static std::string between(std::string_view line, std::string_view begin, std::string_view end) {
  const std::size_t found = line.find(begin);
  if (found == line.npos) return "";
  const std::string_view rest = line.substr(found + begin.size());
  return std::string(rest.substr(0, rest.find_first_of(end)));
}

std::vector<GlossaryTerm> glossary() {
  std::vector<GlossaryTerm> all;
  for (const std::string_view line : split(file_text("lessons.html"), '\n')) {
    // <dt data-see="COMMAND">NAMES</dt><dd>SHORT</dd><dd>EXACT <a ...
    if (!line.starts_with("<dt")) continue;
    const std::string_view definitions = line.substr(line.find("</dt>"));
    const std::string_view more =
        definitions.substr(std::min(definitions.find("</dd>"), definitions.size()));
    std::string exact = between(more, "<dd>", "<");
    if (exact.empty()) continue;  // the caption of a picture has one meaning
    if (exact.back() == ' ') exact.pop_back();
    GlossaryTerm term{.names = {},
                      .meaning = text(between(definitions, "<dd>", "<"), " ", exact),
                      .see = between(line.substr(0, line.find('>')), "data-see=\"", "\"")};
    const std::string names = between(line, ">", "<");
    for (const std::string_view name : split(names, ',')) {
      term.names.emplace_back(name.substr(name.find_first_not_of(' ')));
    }
    all.push_back(std::move(term));
  }
  return all;
}

std::string lessons_html() {
  std::string html;
  for (const HtmlPiece& piece : html_pieces(file_text("lessons.html"))) {
    html += piece.text;
    if (piece.placeholder == "models") html += html_of(published_models_table());
    if (piece.placeholder == "patterns") html += html_of(known_patterns_table());
    if (piece.placeholder == "corrections") html += html_of(corrections_table());
  }
  return html;
}

}  // namespace headlab
