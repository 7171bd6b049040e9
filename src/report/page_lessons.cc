// The lessons without scripts: the texts of src/report/page/lessons.html, in which a placeholder
// {{KIND:NAME}} becomes a table that the program computes here by heads/lessons.h. With scripts the
// page shows the same texts beside what it computes itself. Read next: heads/lessons.h.
#include <algorithm>
#include <cmath>
#include <regex>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/heads/lessons.h"
#include "report/page_files.h"
#include "report/page_html.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

using HtmlRow = std::vector<std::string>;

/// The first cell of each row names it.
std::string html_table(const std::string& caption, const HtmlRow& head,
                       const std::vector<HtmlRow>& rows) {
  std::string html = "<table><caption>" + html_text(caption) + "</caption><thead><tr>";
  for (const std::string& title : head) html += "<th scope=\"col\">" + html_text(title) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const HtmlRow& row : rows) {
    html += "<tr><th scope=\"row\">" + html_text(row[0]) + "</th>";
    for (std::size_t i = 1; i < row.size(); ++i) html += "<td>" + html_text(row[i]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string row_text(const Matrix& matrix, Index row, int decimals) {
  std::vector<std::string> cells;
  for (Index i = 0; i < matrix.columns(); ++i) cells.push_back(fixed(matrix(row, i), decimals));
  return join(cells, " ");
}

std::string inputs_table(const std::string&) {
  const LessonWorld& world = lesson_world("five-tokens");
  std::vector<HtmlRow> rows;
  for (Index t = 0; t < world.q.rows(); ++t)
    rows.push_back({world.tokens[static_cast<std::size_t>(t)], row_text(world.q, t, 1),
                    row_text(world.k, t, 1), row_text(world.v, t, 1)});
  return html_table("The five tokens: head 1 has the first two columns, head 2 the others",
                    {"token", "q", "k", "v"}, rows);
}

std::string weights_table(const std::string& name) {
  const LessonWorld& world = lesson_world(name);
  const std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  HtmlRow head = {"query"};
  for (std::size_t h = 0; h < heads.size(); ++h) head.push_back(text("weights of head ", h + 1));
  head.insert(head.end(), {"average", "output"});
  const Matrix average = average_weights(heads), output = concatenated(heads);
  std::vector<HtmlRow> rows;
  for (Index t = 0; t < world.q.rows(); ++t) {
    HtmlRow& row = rows.emplace_back(HtmlRow{world.tokens[static_cast<std::size_t>(t)]});
    for (const HeadSteps& one : heads) row.push_back(row_text(one.weights, t, 4));
    row.push_back(row_text(average, t, 4));
    row.push_back(row_text(output, t, 4));
  }
  return html_table(text("Attention on ", join(world.tokens, " ")), head, rows);
}

std::string silence_table(const std::string& name) {
  const LessonWorld& world = lesson_world(name);
  const std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  std::vector<HtmlRow> rows;
  for (std::size_t h = 0; h < heads.size(); ++h)
    rows.push_back({text("head ", h + 1),
                    fixed(change_when_silent(heads, h, identity(world.v.columns())), 4),
                    fixed(change_when_silent(heads, h, world.W_O), 4)});
  return html_table("By how much the output of all tokens changes in L2 when a head is silenced",
                    {"silent", "W_O the identity", "W_O mixes"}, rows);
}

std::string models_table(const std::string&) {
  std::vector<HtmlRow> rows;
  for (const PublishedModel& m : published_models())
    rows.push_back({m.name, text(m.d_model), text(m.heads), text(m.kv_heads), text(m.d_head),
                    // W_Q and W_O, W_K and W_V
                    grouped(2 * m.d_model * m.d_head * (m.heads + m.kv_heads)), m.source});
  return html_table("Attention of published models: parameters of one layer without biases",
                    {"model", "d", "heads", "kv_heads", "d_k", "parameters", "source"}, rows);
}

std::string entropy_table(const std::string&) {
  const RandomWorld& world = random_world("entropy");
  std::vector<HtmlRow> rows;
  const auto heads = random_heads(world, world.heads[0], world.seed);
  for (std::size_t h = 0; h < heads.size(); ++h)
    rows.push_back({text("head ", h + 1), fixed(entropy_of(heads[h]), 3),
                    fixed(100 * focus_of(heads[h]), 1) + " %"});
  const std::size_t keys = world.tokens.size();
  return html_table(text("Heads with random weights on ", join(world.tokens, " "), ": ln ", keys,
                         " = ", fixed(std::log(keys), 3), " is uniform"),
                    {"", "entropy", "focus"}, rows);
}

std::string diversity_table(const std::string&) {
  const RandomWorld& world = random_world("diversity");
  std::vector<HtmlRow> rows;
  for (const Index heads : world.heads)
    rows.push_back({text(heads), fixed(diversity_of(random_heads(world, heads, world.seed)), 4)});
  return html_table("Diversity of heads with random weights: mean Jensen-Shannon distance",
                    {"heads", "diversity"}, rows);
}

std::string corrections_table(const std::string&) {
  std::vector<HtmlRow> rows;
  for (const Correction& one : corrections()) rows.push_back({one.claim, one.fact, one.source});
  return "<div class=\"corrections table\" tabindex=\"0\" role=\"region\" aria-label=\"corrections"
         "\">" +
         html_table("What articles say, and what is so", {"they say", "what is so", "by"}, rows) +
         "</div>\n";
}

struct LessonTable {
  const char* kind;
  std::string (*make)(const std::string& name);
};
constexpr LessonTable kLessonTables[] = {
    {"inputs", inputs_table},           {"weights", weights_table}, {"silence", silence_table},
    {"models", models_table},           {"entropy", entropy_table}, {"diversity", diversity_table},
    {"corrections", corrections_table},
};

std::string lesson_table(const std::string& placeholder) {
  const std::size_t colon = std::min(placeholder.find(':'), placeholder.size());
  const std::string kind = placeholder.substr(0, colon);
  const auto table =
      std::ranges::find_if(kLessonTables, [&](const LessonTable& one) { return one.kind == kind; });
  require(table != std::end(kLessonTables), "lessons.html asks for {{", placeholder,
          "}}, which nothing fills");
  return table->make(colon < placeholder.size() ? placeholder.substr(colon + 1) : "");
}

std::string_view lessons_text() {
  const auto file = std::ranges::find(page_files(), "lessons.html", &PageFile::name);
  require(file != page_files().end(), "a page has no lessons");
  return file->text;
}

}  // namespace

std::vector<std::array<std::string, 2>> glossary() {
  static const std::regex term("<dt>([^<]*)</dt><dd>([^<]*)</dd><dd>([^<]*) <a");
  const std::string html(lessons_text());
  std::vector<std::array<std::string, 2>> all;
  for (std::sregex_iterator at(html.begin(), html.end(), term), end; at != end; ++at)
    all.push_back({(*at)[1], text((*at)[2].str(), " ", (*at)[3].str())});
  return all;
}

std::string lessons_html() {
  std::string html;
  for (const HtmlPiece& piece : html_pieces(lessons_text())) {
    html += piece.text;
    if (!piece.placeholder.empty()) html += lesson_table(piece.placeholder);
  }
  return html;
}

}  // namespace headlab
