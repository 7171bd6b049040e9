// Recognition of files of the wrong kind: an archive, an HTML page, a git-lfs pointer. They are
// recognised by their first bytes, so that a reader can name the mistake instead of an unexpected
// byte. Read next: token_file.cc.
#pragma once

#include <string_view>

#include "headlab/core/base/json.h"

namespace headlab {

struct FileKind {
  std::string_view begin;  // the first bytes
  const char* name;        // "a gzip archive"
  const char* hint;        // how to get the intended file
};

/// Returns the kind of a file that is neither tokens, JSON, text nor a model; nullptr for all
/// others.
const FileKind* foreign_kind(std::string_view bytes);

/// Parses JSON of a file that users provide. Errors: those of Json::parse; a file of another kind,
/// with the way to the intended one.
Json parse_data(std::string_view json, std::string_view source);

}  // namespace headlab
