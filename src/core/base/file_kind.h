// Recognition of files of the wrong kind: an archive, an HTML page, a git-lfs pointer. They are
// recognised by their first bytes, so that a reader can name the mistake instead of an unexpected
// byte. Read next: json_parse.cc; src/lab/data/token_file.cc.
#pragma once

#include <string_view>

namespace headlab {

/// Bytes that Windows programs write before UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct FileKind {
  std::string_view begin;  // the first bytes
  const char* name;        // "a gzip archive"
  const char* hint;        // how to get the intended file
};

/// Returns the kind of a file that is neither tokens, JSON, text nor a model; nullptr for all
/// others.
const FileKind* foreign_kind(std::string_view bytes);

}  // namespace headlab
