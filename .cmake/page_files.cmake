# Writes page_files.cc into the build folder: the scripts, styles and texts of src/app/report/page
# as a table of names, without their folders, and raw strings. The compiler gives a literal with the suffix sv its length:
# clang++ counts the characters of others one by one and gives up at a million. Read by
# CMakeLists.txt.

file(GLOB_RECURSE page_files CONFIGURE_DEPENDS src/app/report/page/*.js
  src/app/report/page/*.css src/app/report/page/*.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_files})
set(page_entries "")
foreach(file IN LISTS page_files)
  get_filename_component(name ${file} NAME)
  file(READ ${file} page_text)
  string(APPEND page_entries "    {\"${name}\", R\"headlab(${page_text})headlab\"sv},\n")
endforeach()
file(CONFIGURE OUTPUT page_files.cc @ONLY CONTENT [[
#include "app/report/page_files.h"

namespace headlab {

std::span<const PageFile> page_files() {
  using namespace std::string_view_literals;
  static constexpr PageFile files[] = {
@page_entries@  };
  return files;
}

}  // namespace headlab
]])
