// The frame of a page: placeholders, escaping, the policy, and what hand-written files may hold.
// Read next: src/app/report/page_html.h.
#include "app/report/page_html.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/report/encoding.h"
#include "app/report/page_files.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "headlab/lab/results/words.h"

namespace headlab { namespace {

TEST(HtmlText, LeavesNoMarkup) {
  EXPECT_EQ(html_text("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(html_text(std::string("\0", 1)), "\xEF\xBF\xBD");
}

TEST(JsonForHtml, CannotEndItsElement) {
  const std::string token = "</script><img onerror=x> \xE2\x80\xA8 \xE2\x80\xA9";
  const std::string json = json_for_html(Json(token).dump());
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(json.find("\xE2\x80"), std::string::npos);
  EXPECT_EQ(Json::parse(json).string(), token);
}

TEST(HtmlPieces, AreTextAndPlaceholders) {
  const std::vector<HtmlPiece> pieces = html_pieces("a{{b}}c{{file:d.js}}");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].text, "a");
  EXPECT_EQ(pieces[0].placeholder, "b");
  EXPECT_EQ(pieces[1].placeholder, "file:d.js");
  EXPECT_EQ(html_pieces("x")[0].placeholder, "");
  EXPECT_THROW(html_pieces("a{{b"), Error);
}

const std::map<std::string, std::string> kEmpty = {{"title", "t"},
                                                   {"static", ""},
                                                   {"lessons", ""},
                                                   {"data", ""}};

TEST(HtmlPage, FillsNothingIntoWhatItFilledIn) {
  const std::string html = html_page(
      {{"title", "{{data}}"}, {"static", "{{csp}}"}, {"lessons", ""}, {"data", "{{title}}"}});
  for (const char* kept : {"<title>{{data}}</title>", "{{csp}}", "{{title}}"})
    EXPECT_NE(html.find(kept), std::string::npos) << kept;
}

/// The text between the first <tag> and its end.
std::string inside(const std::string& html, const std::string& tag) {
  const std::size_t begin = html.find("<" + tag + ">") + tag.size() + 2;
  return html.substr(begin, html.find("</" + tag + ">", begin) - begin);
}

TEST(HtmlPage, AllowsItsOwnScriptAndStyleAlone) {
  const std::string html = html_page(kEmpty);
  const std::size_t at = html.find("content=\"default-src 'none'; ");
  ASSERT_NE(at, std::string::npos);
  const std::string policy = html.substr(at, html.find('>', at) - at);
  for (const char* tag : {"script", "style"}) {
    const auto digest = sha256(inside(html, tag));
    const std::string bytes(digest.begin(), digest.end());
    const std::string source = text(tag, "-src 'sha256-", base64(bytes), "'");
    EXPECT_NE(policy.find(source), std::string::npos) << tag;
  }
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(policy.find("base-uri 'none'; form-action 'none'"), std::string::npos);
}

/// Counts the occurrences of a part in a text.
int times(std::string_view whole, std::string_view part) {
  int count = 0;
  for (std::size_t at = 0; (at = whole.find(part, at)) != whole.npos; at += part.size()) ++count;
  return count;
}

TEST(PageFiles, AreJoinedToOneScript) {
  const std::string script = inside(html_page(kEmpty), "script");
  EXPECT_EQ(times(script, "\nimport ") + times(script, "\nexport ") + times(script, "\n//"), 0);
  for (const char* once : {"function* forwardSteps(", "function attend(", "const learnView ="})
    EXPECT_EQ(times(script, once), 1) << once;
  EXPECT_LT(script.find("class Model {"), script.find("class Run {"))
      << "what a module needs first";
}

TEST(PageFiles, HaveAtMostFourHundredLines) {
  for (const PageFile& file : page_files())
    EXPECT_LE(std::ranges::count(file.text, '\n'), 400) << file.name;
}

TEST(PageFiles, FetchNothingAndRunNoText) {
  for (const PageFile& file : page_files()) {
    for (const char* word : {"http:", "https:", " src=", "@import", "eval(", "innerHTML",
                             "outerHTML", "insertAdjacentHTML", "document.write", "localStorage",
                             "XMLHttpRequest", "fetch(", "<link", "style=\"", " onclick="})
      EXPECT_EQ(file.text.find(word), std::string_view::npos) << file.name << " holds " << word;
    if (!file.name.ends_with(".html")) {
      EXPECT_EQ(file.text.find("</script"), std::string_view::npos) << file.name;
      EXPECT_EQ(file.text.find("</style"), std::string_view::npos) << file.name;
    }
  }
}

}  // namespace
}  // namespace headlab
