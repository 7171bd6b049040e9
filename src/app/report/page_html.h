// The frame of a page: the skeleton of src/app/report/page/page.html with the inserted texts, and
// the policy that lets a browser run the scripts of this page and nothing else, fetch nothing, and
// apply no style but its own. Private to this layer. Read next: page_html.cc.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Returns a file of page_files(). Error if there is none.
std::string_view file_text(std::string_view name);
/// Returns JSON that is safe inside a script element: `<` as \u003c, the separators U+2028 and
/// U+2029 as their escapes.
std::string json_for_html(std::string json);

/// Piece of a skeleton: its own text, and the name of the placeholder {{NAME}} that follows.
struct HtmlPiece {
  std::string placeholder;  // "" at the end
  std::string_view text;
};
/// Splits a skeleton. Error for a placeholder that does not end.
std::vector<HtmlPiece> html_pieces(std::string_view skeleton);

/// Returns the Content-Security-Policy for a document without its data: the SHA-256 of every style
/// and script element that has no attribute.
std::string content_security_policy(std::string_view html);

/// Returns the document of a skeleton, a file of page_files(), with the given texts for its own
/// placeholders, such as title and data. {{file:NAME}} is a file of page_files(), {{script:NAME}} a
/// module and all its imports as one script, {{csp}} the policy. Error for an unknown placeholder.
std::string html_page(std::map<std::string, std::string> filling,
                      std::string_view skeleton = "page.html");

/// Returns the bytes of the document that are the same in all pages: markup, style and scripts.
std::size_t html_code_size();

}  // namespace headlab
