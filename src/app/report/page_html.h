// The frame of a page: the skeleton of src/app/report/page/page.html with what is put into it, and
// the policy that lets a browser run the scripts of this page and nothing else, fetch nothing, and
// apply no style but its own. Private to this layer. Read next: page_html.cc.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// A file of page_files(). Error if there is none.
std::string_view file_text(std::string_view name);
/// JSON that may stand inside a script element: `<` as \u003c, the separators U+2028 and U+2029 as
/// their escapes.
std::string json_for_html(std::string json);

/// A piece of a skeleton: its own text, and the name of the placeholder {{NAME}} that follows.
struct HtmlPiece {
  std::string placeholder;  // "" at the end
  std::string_view text;
};
/// Error for a placeholder that does not end.
std::vector<HtmlPiece> html_pieces(std::string_view skeleton);

/// The Content-Security-Policy for a document without its data: the SHA-256 of every style and
/// script element that bears no attribute.
std::string content_security_policy(std::string_view html);

/// The whole document, with what fills the placeholders title, static, data and lessons.
/// {{file:NAME}} is a file of page_files(), {{script:NAME}} a module and all that it imports as one
/// script, {{csp}} the policy. Error for a placeholder that is not known.
std::string html_page(std::map<std::string, std::string> filling);

/// The bytes of the document that are the same in all pages: markup, style and scripts.
std::size_t html_code_size();

}  // namespace headlab
