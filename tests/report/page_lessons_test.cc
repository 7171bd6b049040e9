// The lessons of a page: what they compute is what the program computes and what articles print,
// and without scripts they are texts and tables. Read next: lessons_test.mjs;
// src/app/report/page_lessons.cc.
#include <iterator>
#include <numeric>
#include <regex>
#include <sstream>

#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/results/words.h"
#include "lab/heads/scores/scored_queries.h"
#include "report/page_core.h"

namespace headlab { namespace {

Json results_of_example(const WorkedExample& worked, Index count) {
  const std::vector<HeadSteps> heads = attend_in_heads(worked.q, worked.k, worked.v, count);
  Json steps = Json::array(), ablated = Json::array();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    steps.push_back(to_json(heads[h]));
    ablated.push_back(change_when_ablated(heads, h, identity(worked.v.columns())));
  }
  return Json::object({{"name", worked.name},
                       {"heads", count},
                       {"steps", std::move(steps)},
                       {"ablated", std::move(ablated)},
                       {"diversity", diversity_of(heads)}});
}

/// A row of a known pattern: the wanted keys in equal shares, or none.
std::vector<double> known_row(const ScoreEntry& score, const PatternQuery& query) {
  std::vector<double> row;
  for (Index s = 0; s < std::ssize(query.keys); ++s) row.push_back(score.from.weight(query, s));
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight = sum > 0 ? weight / sum : 0;
  return row;
}

/// Rows of known patterns on a few tokens, as the lesson must draw them.
Json known_results() {
  const std::vector<std::int32_t> tokens = {3, 1, 3, 2, 1, 3};
  Json all = Json::array();
  for (const ScoreEntry& score : score_table()) {
    if (score.from.known.rule == nullptr) continue;
    for (const bool causal : {false, true}) {
      Json rows = Json::array();
      for (Index t = 0; t < 6; ++t) {
        const auto keys = std::span(tokens).first(causal ? static_cast<std::size_t>(t) + 1 : 6);
        std::vector<double> row = known_row(score, {.t = t,
                                                    .token = tokens[static_cast<std::size_t>(t)],
                                                    .keys = keys,
                                                    .facts = {}});
        row.resize(6);
        rows.push_back(row);
      }
      all.push_back(Json::object(
          {{"name", score.name}, {"tokens", tokens}, {"causal", causal}, {"weights", rows}}));
    }
  }
  return all;
}

constexpr const char* kLessons[] = {"vectors", "numbers", "budget",    "patterns",
                                    "many",    "true",    "exercises", "glossary"};

using PageLessons = PageCore;

TEST_F(PageLessons, ComputeWhatTheProgramComputesAndArticlesPrint) {
  Json examples = Json::array();
  for (const WorkedExample& worked : worked_examples())
    for (const Index count : {1, 2, 4}) examples.push_back(results_of_example(worked, count));
  const Json expected = Json::object({{"worlds", std::move(examples)}, {"known", known_results()}});
  expect_read(make_textbook(), "lessons_test.mjs", expected);
}

TEST(Textbook, NeedsNoRunAndIsTheSameEachTime) {
  const PageOptions options{.command = "headlab page --textbook"};
  const Page book = make_textbook({}, "", options);
  EXPECT_EQ(book.html, make_textbook({}, "", options).html);
  EXPECT_LE(book.html.size(), 500'000u);
  EXPECT_TRUE(book.sources.empty());
  EXPECT_NE(book.html.find("headlab page --textbook"), std::string::npos);
}

TEST(Textbook, IsTextAndTablesWithoutScripts) {
  const std::string html = lessons_html();
  for (const char* lesson : kLessons)
    EXPECT_NE(html.find(text("id=\"lesson-", lesson, "\"")), std::string::npos);
  for (const char* shown : {"GPT-3 175B", "other occurrences of the query's token"})
    EXPECT_NE(html.find(html_text(shown)), std::string::npos) << shown;
  EXPECT_EQ(html.find("{{"), std::string::npos);
  EXPECT_EQ(html.find(">GPT-3 175B<"), html.rfind(">GPT-3 175B<")) << "one table of models";
}

TEST(Textbook, NamesEveryCorrection) {
  const std::string html = lessons_html();
  for (const Json& claim : corrections_table().cells("claim"))
    EXPECT_NE(html.find(html_text(claim.string())), std::string::npos) << claim.string();
}

/// What is folded behind "More" is for specialists, and not counted.
TEST(Textbook, HasLessonsOfAtMostHundredTwentyWords) {
  const std::regex folded("<details class=\"more\">[^]*?</details>");
  const std::string html = std::regex_replace(lessons_html(), folded, "");
  for (const char* lesson : kLessons) {
    const std::size_t begin = html.find(text("id=\"lesson-", lesson, "\""));
    const std::string section = html.substr(begin, html.find("</section>", begin) - begin);
    std::string words;
    const std::regex paragraph("<p>([^]*?)</p>");
    for (std::sregex_iterator it(section.begin(), section.end(), paragraph), end; it != end; ++it)
      words += (*it)[1].str() + " ";
    std::istringstream stream(words);
    const auto count = std::distance(std::istream_iterator<std::string>(stream), {});
    EXPECT_LE(count, 120) << lesson;
    EXPECT_GE(count, 10) << lesson;
  }
}

}  // namespace
}  // namespace headlab
