// Tables of heads of a model: what each writes through W_O, how far each is from known patterns;
// and the corrections, which are sentences and no table.
// Read next: lessons_text.cc.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/lessons_text.h"
#include "headlab/report/table.h"
#include "report/shades.h"

namespace headlab {
namespace {

std::string distance_text(double distance) {
  return std::isfinite(distance) ? fixed(distance, 3) : "-";
}

}  // namespace

std::string writes_text(const std::vector<HeadWrite>& writes) {
  Texts table({"head", "|z|", "|z W_O|", "share of all", "|W_O|"});
  for (const HeadWrite& write : writes)
    table.add({headlab::head_text(write.head), fixed(write.output, 3), fixed(write.written, 3),
               percent(write.share, 1), fixed(write.weights, 3)});
  return table.to_string();
}

std::string likeness_text(const LikenessReport& report, std::string_view first) {
  const auto patterns = known_patterns();
  std::size_t sorted_by = patterns.size();
  std::vector<std::string> header = {"head"};
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    header.push_back(std::string("to ") + patterns[p].name);
    if (first == patterns[p].name) sorted_by = p;
  }
  header.push_back("most like");
  std::vector<PatternDistances> heads = report.heads;
  if (sorted_by < patterns.size())
    std::ranges::stable_sort(heads, [&](const PatternDistances& a, const PatternDistances& b) {
      return a.distances[sorted_by] < b.distances[sorted_by];
    });
  Texts table(header);
  for (const PatternDistances& head : heads) {
    std::vector<std::string> cells = texts_of(head.distances, distance_text);
    cells.push_back(head.like ? patterns[*head.like].name : "-");
    table.add(row_of(headlab::head_text(head.head), cells));
  }
  std::vector<std::vector<std::string>> shown;  // a row for each kind of attention
  for (const PatternDistances& head : report.heads) {
    std::vector<std::string> last = texts_of(head.of_uniform, distance_text);
    if (std::ranges::find(shown, last) != shown.end()) continue;
    shown.push_back(last);
    last.push_back("-");
    table.add(row_of(text("uniform in ", head.head.layer), last));
  }
  return text(table.to_string(),
              "\nmean Jensen-Shannon distance of rows: 0 the same, 0.833 nothing in common; most "
              "like: nearest\nof those from which the head is less than half as far as uniform "
              "attention is; uniform: below 0.2\n");
}

std::string known_patterns_text(const std::vector<std::string>& tokens, Shades shades) {
  const Shades shown = shades == Shades::cividis ? Shades::gray : shades;  // cells of one line
  std::vector<std::int32_t> ids;
  for (const std::string& token : tokens)
    ids.push_back(static_cast<std::int32_t>(std::ranges::find(tokens, token) - tokens.begin()));
  const std::size_t width = std::max<std::size_t>(2 * tokens.size() + 3, 12);
  std::vector<std::string> lines(tokens.size() + 1, "   ");
  std::string meanings;
  for (std::size_t t = 0; t < tokens.size(); ++t) lines[t + 1] = padded(tokens[t], 3);
  for (const KnownPattern& known : known_patterns()) {
    const Matrix pattern = known_pattern(known.name, {.queries = ids, .keys = ids});
    lines[0] += padded(known.name, width);
    for (Index t = 0; t < pattern.rows(); ++t) {
      std::string& line = lines[static_cast<std::size_t>(t) + 1];
      for (const double weight : row_of(pattern, t)) line += cell_text({weight}, 2, shown);
      line += std::string(width - 2 * tokens.size(), ' ');
    }
    meanings += text(padded(known.name, 11), known.meaning, "\n");
  }
  std::string all;
  for (const std::string& line : lines) all += trimmed_line(line);
  return text(all, "\nqueries down, keys across; every query sees itself and what is before\n\n",
              meanings);
}

std::string corrections_text(std::string_view topic) {
  std::string all;
  for (const Correction& correction : corrections()) {
    if (!topic.empty() && topic != correction.topic) continue;
    const std::string of = topic.empty() ? text("(", correction.topic, ") ") : "";
    all += wrapped(text("said:  ", of, correction.claim), "       ") +
           wrapped(text("is so: ", correction.fact, " (", correction.source, ")"), "       ");
  }
  return all.empty() ? all : "what articles say, and what is so:\n\n" + all;
}

}  // namespace headlab
