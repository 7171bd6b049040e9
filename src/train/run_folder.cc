// How a run comes into a folder. The state is one file, so that no two files can disagree after a
// crash, and config.json is written last, so that a folder with a config.json is a whole run. A run
// that is replaced gives way in one step. What belongs to a run is recognised by its content, so
// this file need not know what analysis writes. Read next: run.cc.
#include "train/run_folder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/model/checkpoint.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kRunFiles = {"config.json", "metrics.jsonl",
                                                       "state.safetensors", "model.safetensors"};

/// Whether a file begins as all JSON does that this library writes. Half of that beginning counts:
/// a process may have died while it wrote the first line of a log.
bool is_stamped(const fs::path& file) {
  constexpr std::string_view stamp = "{\"headlab\":";
  std::ifstream in(file, std::ios::binary);
  std::string begin;
  for (char c = 0; begin.size() < stamp.size() && in.get(c);)
    if (c != ' ' && c != '\n') begin += c;
  return !begin.empty() && stamp.starts_with(begin);
}

bool is_leftover(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t end = name.find(".tmp-");
  const std::string extension = fs::path(name.substr(0, end)).extension();
  return end != std::string::npos && name.find_first_not_of("0123456789-", end + 5) == name.npos &&
         (extension == ".json" || extension == ".jsonl" || extension == ".safetensors");
}

bool belongs_to_run(const fs::path& file) { return is_run_file(file) || is_leftover(file); }

bool holds_run(const fs::path& folder) {
  std::error_code ignored;
  return is_stamped(folder / "config.json") ||  // or one that was never finished
         (fs::exists(folder / "state.safetensors", ignored) &&
          std::ranges::all_of(files_in(folder), belongs_to_run));
}

/// Deletes the files of the run at `path`, which check_run_folder has allowed: config.json first,
/// so that what is left of it is no run.
void clear_folder(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path / "config.json", ignored);
  for (const fs::path& file : files_in(path))
    if (belongs_to_run(file)) fs::remove(file, ignored);
}

/// Whether the folder can be renamed without pulling the ground from under relative paths.
bool can_be_moved(const fs::path& folder) {
  return !(fs::current_path() / "").string().starts_with((folder / "").string());
}

/// Empties the folder that an exchange left beside a run: files that are no run's go back to
/// `path`, the rest is deleted.
void absorb(const fs::path& beside, const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& file : files_in(beside))
    if (!belongs_to_run(file) && !fs::exists(path / file.filename(), ignored))
      fs::rename(file, path / file.filename(), ignored);
  clear_folder(beside);
  fs::remove(beside, ignored);
}

/// Makes `path` by `fill`. A run that is there is replaced as one step: the new one is filled
/// beside it and the two are exchanged, so that a full disk or a kill leaves one of them whole.
template <class Fill>
void replace_folder(const fs::path& path, const Fill& fill) {
  std::error_code ignored;
  const fs::path there = fs::canonical(path, ignored);
  fs::path beside = there;
  beside += ".being-replaced";
  if (there.empty() || files_in(there).empty() || !can_be_moved(there)) {
    fill(path);
    return;
  }
  absorb(beside, there);  // of a process that was killed here
  try {
    fill(beside);
    exchange_directories(there, beside);
  } catch (const Error&) {
    absorb(beside, there);
    throw;
  }
  absorb(beside, there);
}

std::string config_text(const Run& run) {
  RunConfig config = run.config;
  Json json = stamped();
  const Settings settings = settings_of(config);
  for (const Setting& setting : settings.all()) json[setting.name] = setting.get();
  return json.dump(2) + "\n";
}

/// A run in memory becomes a run on disk.
Run written(Run run, Existing existing) {
  const Trainer trainer(run.model, *run.task, run.config.train);
  write_new_run(run, trainer, existing);
  return run;
}

}  // namespace

bool is_run_file(const fs::path& file) {
  const std::string name = file.filename().string();
  return std::ranges::find(kRunFiles, name) != kRunFiles.end() ||
         ((name.ends_with(".json") || name.ends_with(".jsonl")) && is_stamped(file));
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) files.push_back(entry.path());
  return files;
}

void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& file : files_in(folder))
    if (is_leftover(file)) fs::remove(file, ignored);
}

void save_state(const Run& run, const Trainer& trainer, const RunCallbacks& callbacks) {
  TensorFile file;
  file.metadata["headlab"] = version();
  trainer.store(file);
  if (callbacks.store_extra) callbacks.store_extra(file);
  write_safetensors(state_file(run), file);
}

void check_run_folder(const fs::path& path, Existing existing) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  require(fs::is_directory(path, ignored), path.string(), " exists and is no folder");
  if (std::ranges::all_of(files_in(path), is_leftover)) return;
  if (existing == Existing::refuse)
    throw FolderTaken(path.string() + " exists already", "replace it, or take another folder");
  require(holds_run(path), path.string(),
          " is not empty and holds no run; only a run can be replaced");
}

Run create_run(const fs::path& path, RunConfig config, Existing existing) {
  std::unique_ptr<Task> task = fit_to_task(config);
  config.validate();
  Transformer model = initial_model(config);
  return written({path, std::move(config), std::move(task), std::move(model)}, existing);
}

Run create_run(const fs::path& path, RunConfig config, const Transformer& model,
               Existing existing) {
  std::unique_ptr<Task> task = fit_to_task(config);
  require(model.config().shape() == config.model.shape(), "the model does not fit the task ",
          config.task,
          ": architecture, vocab, length, source_length and targets must be the task's");
  config.model = model.config();
  config.validate();
  return written({path, std::move(config), std::move(task), model.clone()}, existing);
}

void write_new_run(Run& run, const Trainer& trainer, Existing existing) {
  const fs::path path = run.path;
  const std::string settings = config_text(run);
  check_run_folder(path, existing);
  const auto fill = [&](const fs::path& folder) {
    run.path = folder;
    make_directories(folder);
    clear_folder(folder);
    save_state(run, trainer);
    write_model(model_file(run), run.model);
    write_file(config_file(run), settings);
  };
  replace_folder(path, fill);
  run.path = path;
}

void save_config(const Run& run) { write_file(config_file(run), config_text(run)); }

}  // namespace headlab
