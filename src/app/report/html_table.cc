// Tables as HTML, for pages without scripts.
// The cells are the same texts as on a terminal, with the special characters of HTML escaped.
// Read next: cell_text.cc, which makes the cells.
#include "app/report/shown_columns.h"
#include "headlab/app/report/result_text.h"
#include "headlab/lab/results/words.h"

namespace headlab {

std::string html_of(const Table& table) {
  const std::vector<ShownColumn> columns = shown_columns(table);
  std::string html = "<table><caption>" + html_text(table.title) + "</caption><thead><tr>";
  for (const ShownColumn& column : columns) {
    html += "<th scope=\"col\">" + html_text(column.title) + "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; !columns.empty() && r < columns[0].cells.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      html += (c == 0 ? "<tr><th scope=\"row\">" : "<td>") + html_text(columns[c].cells[r]) +
              (c == 0 ? "</th>" : "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

}  // namespace headlab
