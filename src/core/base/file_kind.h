// Names for files of another kind than the one that is wanted: an archive, a page of HTML, the
// pointer that git-lfs leaves. They are recognized by their first bytes, so that a reader can name
// the mistake instead of a byte that it did not expect.
// Read next: json_parse.cc; src/lab/data/token_file.cc.
#pragma once

#include <string_view>

namespace headlab {

/// What Windows' programs write before UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct FileKind {
  std::string_view begin;  // the first bytes
  const char* name;        // "a gzip archive"
  const char* hint;        // how to get what was wanted
};

/// The kind of a file that is neither tokens, JSON, text nor a model; nullptr for all others.
const FileKind* foreign_kind(std::string_view bytes);

}  // namespace headlab
