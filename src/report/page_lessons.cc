// The lessons without scripts: the texts of src/report/page/lessons.html, in which a placeholder
// {{KIND:NAME}} becomes a table that the program computes here by heads/lessons.h. With scripts the
// page shows the same texts beside what it computes itself. Read next: heads/lessons.h.
#include <algorithm>
#include <regex>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/heads/lessons.h"
#include "headlab/report/finding_text.h"
#include "report/page_files.h"
#include "report/page_html.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

std::string row_text(const Matrix& matrix, Index row, int decimals) {
  std::vector<std::string> cells;
  for (Index i = 0; i < matrix.columns(); ++i) cells.push_back(fixed(matrix(row, i), decimals));
  return join(cells, " ");
}

Table inputs_table(const std::string&) {
  const LessonWorld& world = lesson_world("five-tokens");
  Table table{.columns = {{"token", "token"}, {"q", "q"}, {"k", "k"}, {"v", "v"}},
              .title = "The five tokens: head 1 has the first two columns, head 2 the others"};
  for (Index t = 0; t < world.q.rows(); ++t)
    table.rows.push_back({world.tokens[t], row_text(world.q, t, 1), row_text(world.k, t, 1),
                          row_text(world.v, t, 1)});
  return table;
}

Table weights_table(const std::string& name) {
  const LessonWorld& world = lesson_world(name);
  const std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  Table table{.columns = {{"query", "query"}}, .title = "Attention on " + join(world.tokens, " ")};
  for (std::size_t h = 0; h < heads.size(); ++h)
    table.columns.push_back({text("weights.", h), text("weights of head ", h + 1)});
  table.columns.insert(table.columns.end(), {{"average", "average"}, {"output", "output"}});
  const Matrix average = average_weights(heads), output = concatenated(heads);
  for (Index t = 0; t < world.q.rows(); ++t) {
    Json::Array& row = table.rows.emplace_back(1, Json(world.tokens[t]));
    for (const HeadSteps& one : heads) row.emplace_back(row_text(one.weights, t, 4));
    row.emplace_back(row_text(average, t, 4));
    row.emplace_back(row_text(output, t, 4));
  }
  return table;
}

Table silence_table(const std::string& name) {
  const LessonWorld& world = lesson_world(name);
  const std::vector<HeadSteps> heads = attend_in_heads(world.q, world.k, world.v, world.heads);
  Table table{.columns = {{"silent", "silent"},
                          {"identity", "W_O the identity", "", 4},
                          {"mixes", "W_O mixes", "", 4}},
              .title =
                  "By how much the output of all tokens changes in L2 when a head is silenced"};
  for (std::size_t h = 0; h < heads.size(); ++h)
    table.rows.push_back({text("head ", h + 1),
                          change_when_silent(heads, h, identity(world.v.columns())),
                          change_when_silent(heads, h, world.W_O)});
  return table;
}

Table models_table(const std::string&) {
  Table table{.columns = {{"model", "model"},
                          {"d", "d"},
                          {"heads", "heads"},
                          {"kv_heads", "kv_heads"},
                          {"d_k", "d_k"},
                          {"parameters", "parameters", "", kGrouped},
                          {"source", "source"}},
              .title = "Attention of published models: parameters of one layer without biases"};
  for (const PublishedModel& m : published_models())
    table.rows.push_back({m.name, m.d_model, m.heads, m.kv_heads, m.d_head,
                          // W_Q and W_O, W_K and W_V
                          2 * m.d_model * m.d_head * (m.heads + m.kv_heads), m.source});
  return table;
}

Table corrections_table(const std::string&) {
  Table table{.columns = {{"claim", "they say"}, {"fact", "what is so"}, {"source", "by"}},
              .title = "What articles say, and what is so"};
  for (const Correction& one : corrections())
    table.rows.push_back({one.claim, one.fact, one.source});
  return table;
}

struct LessonTable {
  const char* kind;
  Table (*make)(const std::string& name);
};
constexpr LessonTable kLessonTables[] = {
    {"inputs", inputs_table}, {"weights", weights_table},         {"silence", silence_table},
    {"models", models_table}, {"corrections", corrections_table},
};

std::string lesson_table(const std::string& placeholder) {
  const std::size_t colon = std::min(placeholder.find(':'), placeholder.size());
  const std::string kind = placeholder.substr(0, colon);
  const auto table =
      std::ranges::find_if(kLessonTables, [&](const LessonTable& one) { return one.kind == kind; });
  require(table != std::end(kLessonTables), "lessons.html asks for {{", placeholder,
          "}}, which nothing fills");
  return html_of(table->make(colon < placeholder.size() ? placeholder.substr(colon + 1) : ""));
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
