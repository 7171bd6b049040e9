// Files. A file is written to a temporary name beside it, synced, and renamed: a reader sees the old file
// or the new one, never half, whenever the process or the machine dies.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// All bytes of the file. Error that names the path and the reason of the system.
std::string read_file(const std::filesystem::path& path);

/// Replaces the file as one step. Error (disk full, no permission ...) leaves the old file as it was, and
/// no temporary file behind.
void write_file(const std::filesystem::path& path, std::string_view bytes);
/// The same, with the parts written one after the other.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts);

/// Adds `line` and a newline at the end of the file, in one write, and syncs it.
void append_line(const std::filesystem::path& path, std::string_view line);

/// Makes the directory and its parents. Error in words.
void make_directories(const std::filesystem::path& path);

}  // namespace headlab
