// The hand-written half of a page: the files of src/app/report/page, which the build puts into the
// library as they stand. CMakeLists.txt makes the source that defines this.
// Private to this layer. Read next: page_html.h.
#pragma once

#include <span>
#include <string_view>

namespace headlab {

struct PageFile {
  std::string_view name, text;
};
/// In the order of their names.
std::span<const PageFile> page_files();

}  // namespace headlab
