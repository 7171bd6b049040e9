// Replacement and cleaning of run folders. Files of a run are recognised by their content, so this
// file does not depend on the files that analyses write. A run is replaced in one step. Its lock
// file is next to its folder, because the folder may be exchanged for another while the lock is
// held. A process requests each lock once and shares it, because a run that is made, trained and
// measured passes through functions that each request it. Read next: run.cc; base/files.cc,
// FileLock.
#include "lab/runs/run_folder.h"
#include "headlab/core/base/json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/file_lock.h"
#include "lab/runs/exchange.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <system_error>

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kRunFiles = {"config.json",          "metrics.jsonl",
                                                       "heads.jsonl",          "state.safetensors",
                                                       "model.safetensors",    "best.safetensors",
                                                       "snapshots.safetensors"};

/// Returns whether a file begins like the JSON or the pages that this library writes. A part of
/// that beginning is enough: a process may have died while it wrote the first line of a log.
bool is_stamped(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;  // a pipe may never end
  const std::string_view stamp =
      file.extension() == ".html" ? "<!doctypehtml><!--headlabpage" : "{\"headlab\":";
  std::ifstream in(file, std::ios::binary);
  std::string begin;
  for (char c = 0; begin.size() < stamp.size() && in.get(c);) {
    if (c != ' ' && c != '\n') begin += c;
  }
  return !begin.empty() && stamp.starts_with(begin);
}

/// Returns the temporary files of a killed writer of a run's file.
bool is_leftover(const fs::path& file) {
  if (!is_temporary(file)) return false;
  const std::string extension = fs::path(temporary_target(file)).extension();
  return extension == ".json" || extension == ".jsonl" || extension == ".safetensors" ||
         extension == ".html";
}

bool belongs_to_run(const fs::path& file) { return is_run_file(file) || is_leftover(file); }

/// Returns whether this library wrote the file of a model: its metadata names the config that it
/// belongs to.
bool is_own_model(const fs::path& file) {
  try {
    return is_there(file) && TensorReader(file).header().metadata.contains("config");
  } catch (const Error&) {
    return false;
  }
}

/// Returns whether a folder holds a run, or one that was never finished: config.json is written
/// last, after the state, or the model of a run that was imported.
bool holds_run(const fs::path& folder) {
  if (is_stamped(folder / "config.json")) return true;
  const bool begun =
      is_there(folder / "state.safetensors") || is_own_model(folder / "model.safetensors");
  return begun && std::ranges::all_of(files_in(folder), belongs_to_run);
}

/// Returns whether a process died while it made the run: config.json is written last, and the state
/// first.
bool was_never_finished(const fs::path& folder) {
  if (is_there(folder / "config.json") || !is_there(folder / "state.safetensors") ||
      !std::ranges::all_of(files_in(folder), belongs_to_run)) {
    return false;
  }
  try {
    return Trainer::steps_in(read_safetensors(folder / "state.safetensors")) == 0;
  } catch (const Error&) {
    return false;
  }
}

/// Returns whether the folder can be renamed: not if it is, or holds, the current folder, to which
/// relative paths refer, or if the folder above it cannot be written.
bool can_be_moved(const fs::path& folder) {
  const bool is_current = (fs::current_path() / "").string().starts_with((folder / "").string());
  return !is_current && ::access(folder.parent_path().c_str(), W_OK) == 0;
}

/// Names that a folder has while another run takes its place: the new run is made in the first. The
/// old one waits under the second where the file system cannot exchange folders (files.cc).
constexpr std::string_view kBeingReplaced = ".being-replaced";
fs::path being_replaced(fs::path path) { return path += kBeingReplaced; }
fs::path set_aside(fs::path path) { return path += kBeingAside; }

/// Empties the folder that an exchange left next to a run: files that do not belong to a run are
/// moved back to `path`, the rest is deleted.
void absorb(const fs::path& beside, const fs::path& path) {
  std::error_code ignored;
  refuse_link(beside);  // its target would be emptied
  for (const fs::path& file : files_in(beside)) {
    if (!belongs_to_run(file) && !is_there(path / file.filename())) {
      fs::rename(file, path / file.filename(), ignored);
    }
  }
  clear_folder(beside);
  remove_quietly(beside);
  if (is_there(beside)) {
    tell_user(text(beside.string(), " is left of the run that was replaced: delete it"));
  }
}

}  // namespace

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) files.push_back(entry.path());
  return files;
}

bool is_run_file(const fs::path& file) {
  const std::string name = file.filename().string();
  return std::ranges::find(kRunFiles, name) != kRunFiles.end() ||
         ((name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".html")) &&
          is_stamped(file));
}

void remove_leftovers(const fs::path& folder) {
  for (const fs::path& file : files_in(folder)) {
    if (is_leftover(file)) remove_quietly(file);
  }
}

fs::path lock_file_of(const fs::path& file) {
  return file.parent_path() / text(".", file.filename().string(), ".lock");
}

void remove_stale_files(const fs::path& folder) {
  std::vector<fs::path> leftovers = files_in(folder);
  std::erase_if(leftovers, [](const fs::path& file) { return !is_leftover(file); });
  if (leftovers.empty()) return;
  try {
    const RunLock lock = lock_run(folder);  // a training writes without locks of files
    for (const fs::path& leftover : leftovers) {
      if (FileLock(lock_file_of(folder / temporary_target(leftover))).held()) {
        remove_quietly(leftover);
      }
    }
  } catch (const Error&) {  // another process writes the run, or it is read-only: the next command
                            // cleans up
  }
}

fs::path run_around(const fs::path& file) {
  std::error_code ignored;
  fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (is_stamped(folder / "config.json") || is_stamped(folder / "grid.json")) return folder;
  }
  return {};
}

Links links_of(const fs::path& file) {
  const fs::path run = run_around(file);
  if (run.empty()) return Links::follow;
  std::error_code ignored;
  fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();
  for (; folder != run; folder = folder.parent_path()) refuse_link(folder);
  return Links::replace;
}

void clear_folder(const fs::path& path) {
  remove_quietly(path / "config.json");
  for (const fs::path& file : files_in(path)) {
    if (belongs_to_run(file)) remove_quietly(file);
  }
}

bool is_beside_replaced(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.ends_with(kBeingReplaced) || name.ends_with(kBeingAside);
}

void recover(const fs::path& path) {
  std::error_code ignored;
  if (!is_there(set_aside(path)) || fs::is_symlink(set_aside(path), ignored)) return;
  if (is_there(path)) {
    absorb(set_aside(path), path);
  } else {
    fs::rename(set_aside(path), path, ignored);
  }
}

void replace_folder(const fs::path& path, const std::function<void(const fs::path&)>& fill) {
  std::error_code ignored;
  const fs::path there = fs::canonical(path, ignored);
  const fs::path beside = being_replaced(there);
  if (there.empty() || files_in(there).empty() || !can_be_moved(there)) {
    fill(path);
    return;
  }
  absorb(beside, there);  // of a process that was killed here
  bool is_exchanged = false;
  try {
    fill(beside);
    is_exchanged = exchange_directories(there, beside);
  } catch (const Error&) {
    absorb(beside, there);
    throw;
  }
  absorb(beside, there);
  if (!is_exchanged) fill(path);
}

RunLock lock_run(const fs::path& path) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<const FileLock>> locks;  // of this process
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(fs::absolute(path, ignored) / "", ignored);
  const fs::path whole = folder.has_filename() ? folder : folder.parent_path();
  const std::lock_guard guard(mutex);
  if (RunLock mine = locks[whole].lock()) return mine;
  const fs::path file = lock_file_of(whole);
  fs::create_directories(whole.parent_path(), ignored);
  const bool there = fs::is_directory(whole.parent_path(), ignored);
  if (!there || ::access(whole.parent_path().c_str(), W_OK) != 0) {
    if (there) {  // else no run can be there either
      tell_user(text(path.string(), " is not locked against other processes: the folder above it ",
                     "cannot be written"));
    }
    return nullptr;
  }
  auto lock = std::make_shared<const FileLock>(file);
  if (!lock->held()) {
    throw RunBusy(text("cannot write ", path.string(), ": it is being written by ", lock->holder()),
                  "wait until it has ended, or take another folder");
  }
  if (!lock->is_certain()) {
    tell_user(text(path.string(), " lies on a file system without locks: see to it yourself ",
                   "that one process alone writes it"));
  }
  locks[whole] = lock;
  return lock;
}

/// Throws an Error for a name that is not UTF-8, or leaves no room for those of the files next to
/// the run.
static void check_name(const fs::path& path) {
  std::size_t position = 0;
  if (!valid_utf8(path.string(), position)) {
    throw Error(text("cannot write a run to '", path.string(), "': the name is not UTF-8"),
                "choose a name in UTF-8: results repeat it in JSON");
  }
  constexpr std::size_t kLongestName = 255, kMost = kLongestName - kBeingReplaced.size();
  const fs::path whole = (path / "").lexically_normal().parent_path();
  const std::size_t length = whole.filename().string().size();
  if (length <= kMost) return;
  throw Error(text("cannot write a run to ", path.string(), ": its name has ", length,
                   " bytes, and at most ", kMost, " are possible"),
              "choose a shorter name");
}

void check_run_folder(const fs::path& path, Existing existing) {
  std::error_code ignored;
  check_name(path);
  if (!is_there(path)) return;
  require(fs::is_directory(path, ignored), "cannot write a run to ", path.string(),
          ": it is not a folder");
  if (std::ranges::all_of(files_in(path), is_leftover) || was_never_finished(path)) return;
  if (existing == Existing::refuse) {
    throw FolderTaken("cannot write a run to " + path.string() + ": it already exists",
                      "replace it, or name another folder");
  }
  if (!holds_run(path)) {
    throw Error(text("cannot replace ", path.string(), ": it is not empty and holds no run"),
                "name another folder, or remove what it holds");
  }
}

}  // namespace headlab
