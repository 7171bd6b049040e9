// Checksums of JSON objects, and logs to which lines are appended (stored_json.h). A line that
// could not be written as a whole is taken back, so a log holds whole lines. Read next:
// headlab/core/base/files.h.
#include "headlab/lab/results/stored_json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/descriptor.h"
#include "core/base/digest.h"
#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/lab/results/words.h"

namespace headlab {

using std::filesystem::path;

Json sealed(Json object) {
  const std::string sum = fingerprint(object.dump());
  object["checksum"] = sum;
  return object;
}

Json unsealed(std::string_view json, std::string_view source, bool& checked) {
  Json object = Json::parse(json, source);
  const Json* sum = object.is_object() ? object.find("checksum") : nullptr;
  checked = checked && sum != nullptr;
  if (sum == nullptr) return object;
  const Json said = *sum;
  std::erase_if(object.members(), [](const Json::Member& m) { return m.first == "checksum"; });
  if (said == Json(fingerprint(object.dump()))) return object;
  throw Error(text("cannot read ", source,
                   ": it is damaged, its checksum is that of another content"),
              "restore it from a copy, or repeat the command that wrote it");
}

void append_line(const path& file, std::string_view line) {
  require(line.find('\n') == line.npos, "cannot write a line to '", file.string(),
          "': it has a newline inside");
  std::string bytes(line);
  bytes += '\n';
  Descriptor descriptor(open_file(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW));
  struct stat status {};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &status) != 0) {
    fail("write", file, errno);
  }
  int code = write_all(descriptor.number(), bytes);
  const bool regular = S_ISREG(status.st_mode);
  if (code == 0 && regular) code = sync_file(descriptor.number());
  if (code == 0) return;
  if (regular && ::ftruncate(descriptor.number(), status.st_size) != 0) {
    fail("take half a line back from", file, errno);
  }
  fail("write", file, code);
}

void write_json(const path& file, const Json& object, Links links) {
  write_file(file, sealed(object).dump(2) + "\n", links);
}

void append_json(const path& file, const Json& object) { append_line(file, sealed(object).dump()); }

Json read_json(const path& file) {
  bool checked = true;
  Json json = unsealed(read_file(file), file.string(), checked);
  if (!checked) note_unchecked(file);
  return json;
}

double number_or_nan(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  const bool is_known = value != nullptr && value->is_number();
  return is_known ? value->number() : std::numeric_limits<double>::quiet_NaN();
}

void note_unchecked(const path& file) {
  tell_user(text(file.string(), " has no checksum, or does not say of which run it is: an earlier ",
                 "version wrote it, and damage cannot be seen"));
}

Json stamped(Json::Object members) {
  members.emplace(members.begin(), "headlab", version());
  return Json::object(std::move(members));
}

void require_known_version(const Json& json, std::string_view source) {
  const auto numbers = [](const std::string& release) {
    std::pair<int, int> parts{0, 0};
    std::sscanf(release.c_str(), "%d.%d", &parts.first, &parts.second);
    return parts;
  };
  const Json* stamp = json.is_object() ? json.find("headlab") : nullptr;
  if (stamp == nullptr || !stamp->is_string() || numbers(stamp->string()) <= numbers(version())) {
    return;
  }
  throw Error(text("cannot read ", source, ": it was written by headlab ", stamp->string(),
                   ", and this is ", version()),
              "use that version, or a later one");
}

}  // namespace headlab
