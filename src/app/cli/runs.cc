// `headlab runs`: lists the runs below a folder, one per line: their settings, progress and
// results, and which results describe other weights than the current ones. Only reads. Read next:
// lab/runs/run.h.
#include <algorithm>
#include <set>

#include "app/cli/commands.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/runs/run_folder.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// Adds the folders at or below `folder` that hold a run. Error if it cannot be read; unreadable
/// folders below it are counted and reported in a note.
void find_runs(const fs::path& folder, std::set<fs::path>& runs, Index& unread) {
  std::error_code failed, ignored;
  if (!fs::is_directory(folder, ignored) && ignored != std::errc::permission_denied) {
    throw Error("cannot list runs: there is no folder " + folder.string(),
                "name a folder with runs");
  }
  if (is_beside_replaced(folder)) return;
  if (fs::exists(folder / "state.safetensors", ignored)) runs.insert(folder);
  std::vector<fs::path> below;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) below.push_back(at->path());
  }
  require(!failed, "cannot read ", folder.string(), ": ", failed.message());
  for (const fs::path& path : below) {
    try {
      find_runs(path, runs, unread);
    } catch (const Error& error) {
      ++unread;
      note(text("note: ", error.what()));
    }
  }
}

/// Returns the log entry for the step of the state; null if it was not evaluated there.
Json in_log(const std::vector<Json>& log, Index step, const char* key) {
  const auto line =
      std::ranges::find(log, Json(step), [](const Json& at) { return at.at("step"); });
  return line == log.end() ? Json() : line->at(key);
}

/// Returns the settings that a user may give; lists as texts, so that runs of one table have the
/// same types.
Json settings_json(RunConfig config) {
  Json all = user_settings_of(config).to_json();
  for (Json::Member& setting : all.members()) {
    if (setting.second.is_array()) setting.second = setting.second.dump();
  }
  return all;
}

/// Returns a remark: "pruned from runs/full; heads.json describes earlier weights".
std::string remarks(const Run& run, const std::vector<std::string>& outdated) {
  std::vector<std::string> parts;
  const std::string ended = ended_text(run);
  if (!ended.empty()) {
    parts.push_back("ended early: " + ended);
  } else if (run.step != run.config.train.steps) {
    parts.emplace_back("not finished");
  }
  if (!run.config.parent.empty()) parts.push_back("pruned from " + run.config.parent);
  for (const std::string& sentence : lost_text(run)) parts.push_back(sentence);
  for (const std::string& name : outdated) parts.push_back(name + " describes earlier weights");
  return join(parts, "; ");
}

/// A run in the list.
struct ListedRun {
  std::string path, task;
  Index heads = 0, parameters = 0, step = 0, steps = 0;
  std::int64_t seed = 0;
  Json loss{}, accuracy{};  // of the last step; null if it was not evaluated there
  std::string remarks, parent;
  std::vector<std::string> outdated;  // files of results that describe other weights
  Json settings = Json::object();
};

ListedRun describe(const fs::path& path) {
  const Run run = open_run(path, Access::look);
  const std::vector<Json> log = read_log(metrics_file(run), identity_of(run.config));
  const std::vector<std::string> outdated = outdated_results(run);
  return {.path = path.string(),
          .task = run.config.task.substr(0, run.config.task.find(':')),
          .heads = std::ssize(all_heads(run.model)),
          .parameters = run.model.parameter_count(),
          .step = run.step,
          .steps = run.config.train.steps,
          .seed = run.config.train.seed,
          .loss = in_log(log, run.step, "loss"),
          .accuracy = in_log(log, run.step, "accuracy"),
          .remarks = remarks(run, outdated),
          .parent = run.config.parent,
          .outdated = outdated,
          .settings = settings_json(run.config)};
}

/// A run, or the reason why it is left out.
struct Described {
  std::optional<ListedRun> run{};
  std::string error{};
};

std::vector<Described> describe_all(const std::vector<fs::path>& paths) {
  std::vector<Described> all(paths.size());
  parallel_for(std::ssize(paths), [&](Index i) {
    try {
      all[i].run = describe(paths[i]);
    } catch (const Error& error) {
      all[i].error = error.what();
    }
  });
  return all;
}

Table runs_table(const std::vector<ListedRun>& runs = {}) {
  using Row = ListedRun;
  Fields<Row> fields;
  fields.add(Column("run", "run", "its folder").no_legend(), &Row::path);
  fields.add(Column("task", "task", "task of the run").no_legend(), &Row::task);
  fields.add(Column("heads", "heads", "number of heads").no_legend(), &Row::heads);
  fields.add(Column("parameters", "parameters", "number of parameters")
                 .shown_as(Form::grouped)
                 .no_legend(),
             &Row::parameters);
  fields.add(Column("step", "step", "steps trained so far").no_legend(), &Row::step);
  fields.add(Column("steps", "of", "steps in all").no_legend(), &Row::steps);
  fields.add(Column("seed", "seed", "random seed of the run").no_legend(), &Row::seed);
  fields.add(Column("loss", "loss", "held out, nats per target").no_legend(), &Row::loss);
  fields.add(Column("accuracy", "accuracy", "share of targets that are right").fixed(4).no_legend(),
             &Row::accuracy);
  fields.add(Column("remarks", "remarks", "remarks").no_legend(), &Row::remarks);
  fields.add(Column("parent", "parent", "the run from which it was pruned").hidden(), &Row::parent);
  fields.add(Column("outdated", "outdated", "files that describe earlier weights").hidden(),
             &Row::outdated);
  RunConfig config;
  const Settings settings = user_settings_of(config);
  for (const Setting& setting : settings.all()) {
    if (setting.shorthand) continue;
    fields.add(Column("settings." + setting.name, setting.name, setting.help).hidden(),
               [name = setting.name](const Row& row) {
                 const Json* value = row.settings.find(name);
                 return value == nullptr ? Json() : *value;
               });
  }
  return fields.table({.name = "runs"}, runs);
}

/// Returns the table of the runs in these folders, and the number of runs that cannot be read.
Output listed_runs(const std::vector<ListedRun>& all, Index unread,
                   const std::vector<std::string>& folders) {
  const Result found{.about = stamped({{"unread", unread}}), .tables = {runs_table(all)}};
  Output output = output_of(found);
  if (all.empty()) {
    output.text = text("there is no run ", unread > 0 ? "that can be read " : "", "below ",
                       join(folders, ", "), "\n");
  }
  if (unread > 0) {
    output.status = 1;
    output.text += text(unread, " could not be read\n");
  }
  return output;
}

}  // namespace

Result runs_shape() { return {.tables = {runs_table()}}; }

Output runs(Invocation& call) {
  PictureFlags picture;
  Flags settings;
  picture.add_to(settings);
  call.read(settings);
  picture.units();
  std::vector<std::string> folders = call.positionals();
  if (folders.empty()) folders = {"runs"};
  std::vector<ListedRun> all;
  std::vector<RunLosses> losses;
  std::set<fs::path> found_runs;
  Index unread = 0;
  for (const std::string& folder : folders) find_runs(folder, found_runs, unread);
  const std::vector<fs::path> paths(found_runs.begin(), found_runs.end());
  std::vector<Described> described = describe_all(paths);
  for (std::size_t i = 0; const fs::path& path : paths) {
    Described& one = described[i++];
    std::size_t position = 0;
    if (one.run && call.json() && !valid_utf8(path.string(), position)) {
      one = {.error = "its name is not UTF-8, so it has no place in JSON"};
    }
    if (!one.run) {
      ++unread;
      note(text("note: ", path.string(), " is left out: ", one.error));
      continue;
    }
    all.push_back(std::move(*one.run));
    if (picture.wanted()) {
      losses.push_back(losses_of(path.filename().string(), read_log(path / "metrics.jsonl")));
    }
  }
  return with_picture(call, picture, listed_runs(all, unread, folders),
                      [&](double units) { return losses_figure(losses, units); });
}

}  // namespace headlab::cli
