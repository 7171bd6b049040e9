// Results of analyses, stored in the folder of the run they describe. A file holds the latest
// result, and under "others" earlier results of the same command with other settings, as long as
// they describe the same weights: a second analysis adds to the first. Read next: heads.cc,
// ablate.cc.
#include <algorithm>
#include <memory>
#include <system_error>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/file_lock.h"
#include "lab/runs/run_folder.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the settings that determine the result, without those for display and storage.
Json deciding_settings(const Invocation& call) {
  Json::Object kept;
  for (const Setting& setting : call.settings().all()) {
    if (setting.changes_result) {
      kept.emplace_back(setting.name, setting.get());
    }
  }
  return kept;
}

/// Returns the results in the file for these weights with other settings.
Json::Array others_in(const fs::path& file, const Json& found) {
  std::error_code ignored;
  const bool is_foreign = fs::is_symlink(file, ignored) && links_of(file) == Links::replace;
  if (is_foreign || is_written_in_place(file) || !fs::is_regular_file(file, ignored)) return {};
  Json before;
  try {
    before = read_json(file);
    in_context(text("cannot read ", file.string()), [&] { check_schema(before); });
  } catch (const Error& error) {
    note(text("note: ", error.what(), ": it is replaced"));
    return {};
  }
  Json::Array all, others;
  if (const Json* older = before.find("others")) all = older->items();
  std::erase_if(before.members(), [](const Json::Member& one) { return one.first == "others"; });
  all.insert(all.begin(), std::move(before));
  for (Json& one : all) {
    const Json *weights = one.find("weights"), *options = one.find("options");
    if (weights == nullptr || *weights != found.at("weights")) {
      note(text("note: what ", file.string(), " held described other weights: it is replaced"));
      return others;
    }
    if (options == nullptr || *options != found.at("options")) others.push_back(std::move(one));
  }
  return others;
}

/// Throws an Error if a file belongs to a run, unless the same command made it: a result (`json`)
/// or the page.
void require_own(const Invocation& call, const fs::path& file, bool json) {
  std::error_code ignored;
  if (is_written_in_place(file, links_of(file))) return;
  if (fs::is_symlink(file, ignored) && links_of(file) == Links::replace) return;
  const fs::path target = fs::weakly_canonical(file, ignored);
  if (!is_run_file(target) || !is_there(target)) return;
  if (target.extension() == ".html" && call.command().name == std::string("page")) return;
  std::string said;  // PROGRAM COMMAND ...
  if (json && target.extension() == ".json") {
    const Json there = Json::parse(read_file(target), target.string());
    if (const Json* command = there.find("command")) said = command->string();
  }
  const std::size_t name = said.starts_with(program_call() + " ")
                               ? program_call().size()
                               : std::min(said.find(' '), said.size());
  if (!said.substr(name).starts_with(text(" ", call.command().name, " "))) {
    throw Error("cannot write " + file.string() +
                    ": it belongs to a run, and another command made it",
                "pass another file to --out");
  }
}

/// Returns the lock of a result's file after waiting for it; none if it cannot be created, or is
/// not needed because the file is a device. First deletes the leftovers of a writer that died.
std::unique_ptr<FileLock> lock_of(const fs::path& file) {
  if (is_written_in_place(file)) return nullptr;
  const fs::path beside = lock_file_of(file);
  if (!run_around(file).empty()) remove_stale_files(file.parent_path());
  try {
    auto lock = std::make_unique<FileLock>(beside);
    for (; !lock->held(); lock = std::make_unique<FileLock>(beside)) wait_a_moment();
    return lock;
  } catch (const Error& error) {  // a file that cannot be written is reported when it is written
    if (is_there(beside)) note(text("note: kept without a lock: ", error.what()));
    return nullptr;
  }
}

}  // namespace

/// Returns the error of a result that could not be stored.
static Error unwritten_because(const Invocation& call, const Run& run, const Error& error) {
  if (was_replaced(run)) {
    return Error(text("cannot keep the result: ", run.path.string(), " was replaced meanwhile"),
                 "repeat the command");
  }
  return Error(text("cannot keep the result: ", error.what()),
               call.settings().find("out") ? "keep it in another place with --out FILE"
                                           : "make the run's folder writable");
}

/// Throws an Error if a file is that of the result for the run's own task.
static void require_not_of_run(const Run& run, const fs::path& file, const std::string& name) {
  std::error_code ignored;
  const fs::path own = fs::weakly_canonical(result_file(run, name), ignored);
  if (name.empty() || fs::weakly_canonical(file, ignored) != own) return;
  throw Error(text("cannot write --out ", file.string(),
                   ": this file is for the result of the run's own task"),
              "pass another file to --out");
}

/// Stores a result. Several commands may do so at once: each waits for the one before it.
Output store_result(const Invocation& call, const Run& run, Output found, const std::string& name) {
  const std::string out = call.value("out");
  const fs::path file = out.empty() ? result_file(run, name) : fs::path(out);
  const bool is_other = !run.other_task.empty();
  if (is_other && !out.empty()) require_not_of_run(run, file, name);
  const bool has_file = !out.empty() || (!name.empty() && !is_other);
  const bool keeps = call.keeps_results && has_file;
  const auto lock = keeps ? lock_of(file) : nullptr;
  Json options = deciding_settings(call);
  if (is_other) options["task"] = run.other_task;
  if (is_other && !has_file) {
    found.note = "note: the result of another task is kept only with --out FILE";
  }
  add_fact(found, "options", std::move(options));
  add_fact(found, "step", run.step < 0 ? Json() : Json(run.step));
  add_fact(found, "weights", weights_hash(run.model));
  add_fact(found, "run", identity_of(run.config));
  Output output = reproducible(call, std::move(found));
  if (!keeps) return output;
  try {
    require(!was_replaced(run), "cannot keep the result: the run was replaced meanwhile");
    require_own(call, file, true);
    Json kept = output.json;
    if (Json::Array others = others_in(file, kept); !others.empty()) kept["others"] = others;
    write_json(file, kept, out.empty() ? Links::replace : links_of(file));
  } catch (const Error& error) {
    output.unwritten = unwritten_because(call, run, error);
  }
  return output;
}

Output store_result(const Invocation& call, const Run& run, const Result& found,
                    const std::string& words, const std::string& name) {
  call.check_table(found.tables);  // a wrong command line changes no file
  return store_result(call, run, output_of(found, "\n" + words), name);
}

void check_out(const Invocation& call, const fs::path& file) {
  require_own(call, file, false);
  const fs::path folder = file.parent_path();
  require(folder.empty() || fs::is_directory(folder), "cannot write ", file.string(),
          ": there is no folder ", folder.string());
}

void write_out(const Invocation& call, const fs::path& file, std::string_view bytes) {
  require_own(call, file, bytes.starts_with('{'));
  const Links links = links_of(file);
  const auto lock = links == Links::replace ? lock_of(file) : nullptr;
  write_file(file, bytes, links);
}

void keep_as(const fs::path& file, Output& output) {
  try {
    const auto lock = lock_of(file);
    write_json(file, output.json);
  } catch (const Error& error) {
    output.unwritten = error;
  }
}

std::string replaced_text(const fs::path& folder) {
  return text(harmless(folder.string()),
              " exists now: add --force to replace it, or choose another --out");
}

}  // namespace headlab::cli
