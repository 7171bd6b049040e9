// The skeleton is cut at its placeholders once, and nothing that is put in is ever searched again:
// a token or a name that looks like a placeholder stays what it is. The policy is computed before
// the data are put in. Read next: page.cc.
#include "report/page_html.h"

#include <algorithm>

#include "headlab/base/digest.h"
#include "headlab/base/error.h"
#include "report/page_files.h"

namespace headlab {
namespace {

std::string_view file_text(std::string_view name) {
  const auto file = std::ranges::find(page_files(), name, &PageFile::name);
  require(file != page_files().end(), "a page has no file ", name);
  return file->text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// " 'sha256-...'" for each element `tag` of the document.
std::string hashes_of(std::string_view html, const std::string& tag) {
  std::string sources;
  const std::string open = "<" + tag + ">", close = "</" + tag + ">";
  for (std::size_t at = 0; (at = html.find(open, at)) != std::string_view::npos;) {
    at += open.size();
    const auto digest = sha256(html.substr(at, html.find(close, at) - at));
    sources += " 'sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
    sources += "'";
  }
  return sources.empty() ? " 'none'" : sources;
}

/// The skeleton with its files, without policy and data.
std::string code_of(const std::vector<HtmlPiece>& pieces) {
  std::string html;
  for (const HtmlPiece& piece : pieces) {
    html += piece.text;
    if (piece.placeholder.starts_with("file:"))
      html += file_text(std::string_view(piece.placeholder).substr(5));
  }
  return html;
}

std::string_view filling_of(const std::string& placeholder, const HtmlFilling& filling,
                            std::string_view policy) {
  if (placeholder.starts_with("file:")) return file_text(std::string_view(placeholder).substr(5));
  if (placeholder == "csp") return policy;
  if (placeholder == "title") return filling.title;
  if (placeholder == "static") return filling.fixed;
  if (placeholder == "lessons") return filling.lessons;
  require(placeholder == "data", "the skeleton of a page asks for {{", placeholder,
          "}}, which nothing fills");
  return filling.data;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      case '\0':
        html += "\xEF\xBF\xBD";
        break;  // U+FFFD: HTML has no NUL
      default:
        html += c;
    }
  }
  return html;
}

std::string json_for_html(std::string json) {
  replace_all(json, "<", "\\u003c");
  replace_all(json, "\xE2\x80\xA8", "\\u2028");
  replace_all(json, "\xE2\x80\xA9", "\\u2029");
  return json;
}

std::vector<HtmlPiece> html_pieces(std::string_view skeleton) {
  std::vector<HtmlPiece> pieces;
  while (!skeleton.empty()) {
    const std::size_t open = std::min(skeleton.find("{{"), skeleton.size());
    HtmlPiece& piece = pieces.emplace_back(HtmlPiece{"", skeleton.substr(0, open)});
    skeleton.remove_prefix(open);
    if (skeleton.empty()) break;
    const std::size_t close = skeleton.find("}}");
    require(close != std::string_view::npos, "a placeholder of the skeleton of a page has no end");
    piece.placeholder = skeleton.substr(2, close - 2);
    skeleton.remove_prefix(close + 2);
  }
  return pieces;
}

std::string content_security_policy(std::string_view html) {
  return text("default-src 'none'; script-src", hashes_of(html, "script"), "; style-src",
              hashes_of(html, "style"),
              "; img-src data: blob:; base-uri 'none'; form-action 'none'");
}

std::string html_page(const HtmlFilling& filling) {
  const std::vector<HtmlPiece> pieces = html_pieces(file_text("page.html"));
  const std::string policy = content_security_policy(code_of(pieces));
  std::string html;
  for (const HtmlPiece& piece : pieces) {
    html += piece.text;
    if (!piece.placeholder.empty()) html += filling_of(piece.placeholder, filling, policy);
  }
  return html;
}

std::size_t html_code_size() { return code_of(html_pieces(file_text("page.html"))).size(); }

}  // namespace headlab
