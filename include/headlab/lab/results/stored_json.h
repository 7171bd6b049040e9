// Results and logs as files: JSON objects with a checksum, so that damage is noticed. A result is a
// file, which is replaced as a whole; a log has a line for each object and grows. Read next:
// table.h, what results hold.
#pragma once

#include <filesystem>
#include <string_view>

#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"

namespace headlab {

/// Returns an object that begins with "headlab": VERSION, as every file and every result does.
Json stamped(Json::Object members = {});

/// Throws an Error if a later version, by its first two numbers, wrote the object, because its keys
/// may have another meaning. Objects without a version are accepted.
void require_known_version(const Json& json, std::string_view source);

/// Returns the object with a checksum of all its other members appended as "checksum", the form in
/// which results and lines of logs are stored.
Json sealed(Json object);
/// Parses sealed text and removes the checksum. Error if the checksum is wrong: the text is
/// damaged. `checked` becomes false if there is none, as in files of earlier versions.
Json unsealed(std::string_view json, std::string_view source, bool& checked);

/// Appends `line` and a newline to the file in one write, and syncs it; creates the file if
/// necessary. On an error (a newline inside `line`, a symbolic link, disk full ...) the file does
/// not change.
void append_line(const std::filesystem::path& path, std::string_view line);

/// Write JSON objects with a checksum: a result as a file, and a line of a log.
void write_json(const std::filesystem::path& path, const Json& object,
                Links links = Links::replace);
void append_json(const std::filesystem::path& path, const Json& object);
/// Returns the object of a file that `write_json` wrote. Error if it is damaged. Prints a note if
/// it has no checksum, as files of earlier versions.
Json read_json(const std::filesystem::path& path);
/// Returns a number of an object; NaN if it is null, as in a log where nothing was measured, or
/// missing, as in logs of earlier versions.
double number_or_nan(const Json& object, std::string_view key);
/// Prints a note that damage of this file cannot be detected.
void note_unchecked(const std::filesystem::path& path);

}  // namespace headlab
