// The hand-written half of a page: the files of src/app/report/page, which the build embeds
// unchanged in the library. CMakeLists.txt makes the source that defines this table.
// Private to this layer. Read next: page_html.h.
#pragma once

#include <span>
#include <string_view>

namespace headlab {

struct PageFile {
  std::string_view name, text;
};
/// Returns the files by their names, without folders; no two are equal.
std::span<const PageFile> page_files();

}  // namespace headlab
