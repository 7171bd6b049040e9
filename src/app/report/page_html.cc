// HTML of a page. The skeleton is cut at its placeholders once, and inserted text is never searched
// again: a token or a name that looks like a placeholder stays unchanged. The policy is computed
// before the data are inserted. Read next: page.cc.
#include "app/report/page_html.h"

#include <algorithm>
#include <set>

#include "app/report/encoding.h"
#include "app/report/page_files.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
std::string_view file_text(std::string_view name) {
  const auto file = std::ranges::find(page_files(), name, &PageFile::name);
  require(file != page_files().end(), "cannot assemble the page: it has no file ", name);
  return file->text;
}

namespace {

/// Adds a module to a script after those that it imports, each once: without its imports, the word
/// `export`, indentation, and lines of comment.
void add_script_module(std::string_view name, std::set<std::string_view>& known,
                       std::string& script) {
  if (!known.insert(name).second) return;
  std::string own;
  bool imports = false;
  for (std::string_view line : split(file_text(name), '\n')) {
    imports = imports || line.starts_with("import ");
    if (imports) {
      imports = !line.ends_with(";");
      if (!imports) {
        add_script_module(line.substr(line.rfind('/') + 1, line.rfind('\'') - line.rfind('/') - 1),
                          known, script);
      }
    } else if (const std::size_t begin = line.find_first_not_of(' ');
               begin != line.npos && !line.substr(begin).starts_with("//")) {
      line.remove_prefix(line.starts_with("export ") ? 7 : begin);
      own += line;
      own += '\n';
    }
  }
  script += own;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  while (at != text.npos) {
    text.replace(at, from.size(), to);
    at = text.find(from, at + to.size());
  }
}

/// Returns " 'sha256-...'" for each element `tag` of the document.
std::string hashes_of(std::string_view html, const std::string& tag) {
  std::string sources;
  const std::string open = "<" + tag + ">";
  const std::string close = "</" + tag + ">";
  std::size_t at = html.find(open);
  while (at != html.npos) {
    const std::size_t begin = at + open.size();
    const auto digest = sha256(html.substr(begin, html.find(close, begin) - begin));
    sources += " 'sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
    sources += "'";
    at = html.find(open, begin);
  }
  return sources.empty() ? " 'none'" : sources;
}

/// Returns the text of a placeholder {{file:NAME}} or {{script:NAME}}; empty for any other.
std::string code_of(std::string_view placeholder) {
  std::string code;
  std::set<std::string_view> known;
  if (placeholder.starts_with("file:")) code = file_text(placeholder.substr(5));
  if (placeholder.starts_with("script:")) add_script_module(placeholder.substr(7), known, code);
  return code;
}

/// Returns the skeleton with its files, without policy and data.
std::string code_of(const std::vector<HtmlPiece>& pieces) {
  std::string html;
  for (const HtmlPiece& piece : pieces) {
    html += piece.text;
    html += code_of(piece.placeholder);
  }
  return html;
}

}  // namespace

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
    require(close != std::string_view::npos,
            "cannot assemble the page: a placeholder of its skeleton has no end");
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

std::string html_page(std::map<std::string, std::string> filling, std::string_view skeleton) {
  const std::vector<HtmlPiece> pieces = html_pieces(file_text(skeleton));
  filling["csp"] = content_security_policy(code_of(pieces));
  std::string html;
  for (const auto& [placeholder, text] : pieces) {
    html += text;
    const auto found = filling.find(placeholder);
    require(placeholder.empty() || found != filling.end() ||
                placeholder.find(':') != placeholder.npos,
            "cannot assemble the page: its skeleton asks for {{", placeholder,
            "}}, which nothing fills");
    html += found != filling.end() ? found->second : code_of(placeholder);
  }
  return html;
}

std::size_t html_code_size() { return code_of(html_pieces(file_text("page.html"))).size(); }

}  // namespace headlab
