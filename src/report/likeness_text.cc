// Tables of heads of a model: what each writes through W_O, how far each is from known patterns;
// and the corrections, which are sentences and no table.
// Read next: lessons_text.cc.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/lessons_text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kLine = 100;  // columns of running text

/// Words in lines of at most kLine columns, each after the first begun with `indent`.
std::string wrapped(const std::string& words, const std::string& indent) {
  std::string all, line;
  for (const std::string_view word : split(words, ' ')) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > kLine) {
      all += line + "\n";
      line = indent + std::string(word);
    } else {
      line += (line.empty() ? "" : " ") + std::string(word);
    }
  }
  return all + line + "\n";
}

std::string distance_text(double distance) {
  return std::isfinite(distance) ? fixed(distance, 3) : "-";
}

}  // namespace

std::string writes_text(const std::vector<HeadWrite>& writes) {
  Table table({"head", "|z|", "|z W_O|", "share of all", "|W_O|"});
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
  Table table(header);
  for (const PatternDistances& head : heads) {
    std::vector<std::string> cells = texts_of(head.distances, distance_text);
    cells.push_back(patterns[head.nearest].name);
    table.add(row_of(headlab::head_text(head.head), cells));
  }
  std::vector<std::string> last = texts_of(report.of_uniform, distance_text);
  last.push_back("-");
  table.add(row_of("uniform", last));
  return text(table.to_string(),
              "\nmean Jensen-Shannon distance of rows: 0 the same, 0.833 nothing in common; below "
              "what uniform\nattention has, a head is nearer than one that looks everywhere "
              "alike\n");
}

std::string known_patterns_text(const std::vector<std::string>& tokens, Shades shades) {
  std::vector<std::int32_t> ids;
  for (const std::string& token : tokens)
    ids.push_back(static_cast<std::int32_t>(std::ranges::find(tokens, token) - tokens.begin()));
  std::vector<std::vector<Scalar>> weights;
  std::vector<SmallMap> maps;
  std::string meanings;
  for (const KnownPattern& known : known_patterns()) {
    const Matrix pattern = known_pattern(known.name, {.queries = ids, .keys = ids});
    weights.emplace_back(pattern.values().begin(), pattern.values().end());
    maps.push_back({known.name, pattern.rows(), pattern.columns(), {}});
    meanings += text(padded(known.name, 11), known.meaning, "\n");
  }
  for (std::size_t i = 0; i < maps.size(); ++i) maps[i].weights = weights[i];
  return text(small_maps({{join(tokens, " "), maps}}, shades), "\n", meanings);
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
