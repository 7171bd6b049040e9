// `headlab page`: writes a run, several side by side, or a sweep as one HTML file that works
// without a network and contains the model itself. What is cheap to measure and missing is measured
// first and stored in the run (measure.cc); for other data that a view lacks, the command that
// writes it is printed. With --patterns, the page shows the patterns of any model; with
// --playground it trains models of its own. Read next: measure.h, app/report/page.h.

#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/measure.h"
#include "app/report/results.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

struct PageFlags {
  PageOptions options;
  std::string out;
  bool check = false, textbook = false, playground = false, measure = true;
  StoredPatternFlags stored;

  Flags settings() {
    Flags s;
    s.group("output");
    s.naming(ValueKind::file, "out", out, "page to write (default: RUN/report.html)");
    s.real("budget", options.megabytes, 0.1, 1000,
           "largest size in MB; the page lists parts that are left out");
    s.group("what");
    s.integer("examples", options.examples, 1, 512, "held-out examples that the page shows");
    s.boolean("weights", options.weights, "embed the model");
    s.boolean("measure", measure, "first measure what is missing and cheap");
    s.boolean("textbook", textbook, "write the lessons on small models instead of a run");
    s.boolean("playground", playground, "write a page that trains on these TASKs in the browser");
    s.boolean("check", check, "write nothing; list the parts of the page");
    stored.add_to(s);
    s.excludes({"out"}, {flag_given("check")});
    s.excludes({"weights", "textbook", "playground", "measure"}, {flag_given("patterns")});
    s.excludes({"weights", "textbook", "examples", "budget", "measure"},
               {flag_given("playground")});
    s.excludes({"measure"}, {flag_given("textbook")});
    return s;
  }
};

/// Returns the commands for data that is written only during training: they repeat the run bit for
/// bit with all of it, in another folder next to it, which has a page of its own. This is not
/// possible for a pruned run or a trial of a sweep.
std::string training_command(const Run& run, const std::string& file) {
  const bool in_training = file == "heads.jsonl" || file == "snapshots.safetensors";
  const bool in_sweep = is_there(run.path / "cell.json");
  if (!in_training || in_sweep || !run.config.parent.empty()) return "";
  const std::string folder = shell_word(run.path.string() + "-tracked");
  return text("headlab train --config ", shell_word((run.path / "config.json").string()),
              run.config.track_heads == 0 ? " --track-heads 10" : "",
              run.config.keep_weights == 0 ? " --keep-weights 40" : "", " --out ", folder,
              " && headlab page ", folder);
}

std::string writer_of(const Run& run, const std::string& file) {
  const ResultEntry& entry = named("file", file, result_table(), &ResultEntry::file);
  if (!entry.describes_run) return training_command(run, file);
  return text("headlab ", entry.command, " ", shell_word(name_of(run)),
              entry.flags.empty() ? "" : " ", entry.flags);
}

Page page_of_stored(const Invocation& call, const PageFlags& flags) {
  const StoredPatterns patterns = flags.stored.read(call);
  Json heads = scores_of_stored(call, patterns, {}).json;
  heads["command"] =
      text(program_call(), " heads", call.flags_again({"out", "examples", "budget", "check"}));
  const std::string name = std::filesystem::path(flags.stored.files.patterns).filename().string();
  return make_page(patterns, {.name = name, .heads = heads}, flags.options);
}

/// Returns the tasks of a playground. Arguments may list several, separated by commas: a part
/// begins a task unless it is a parameter of the one before, NAME=VALUE.
std::vector<std::string> played_tasks(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {"relations", "induction", "sort", "english"};
  std::vector<std::string> tasks;
  for (const std::string& argument : arguments) {
    bool is_first = true;
    for (const std::string_view part : split(argument, ',')) {
      const std::string_view start = part.substr(0, part.find(':'));
      const bool is_parameter = start.find('=') != start.npos;
      const bool is_program = !is_first && tasks.back().starts_with("command:");
      if (is_first || !(is_parameter || is_program)) {
        tasks.emplace_back(part);
      } else {
        tasks.back() += text(",", part);
      }
      is_first = false;
    }
  }
  return tasks;
}

Page page_of(const Invocation& call, const PageFlags& flags) {
  const std::vector<std::string>& names = call.positionals();
  if (flags.stored.wanted()) return page_of_stored(call, flags);
  if (flags.textbook) return textbook(flags.options);
  if (flags.playground) {
    const std::vector<std::string> tasks = played_tasks(names);
    const AllowedCommands allowed(tasks);
    return make_playground(tasks, flags.options);
  }
  return make_page({names.begin(), names.end()}, flags.options);
}

/// Returns the file to write if --out names none. UsageError if there is no run.
std::string default_file(const Invocation& call, const PageFlags& flags) {
  const std::vector<std::string>& names = call.positionals();
  if (flags.stored.wanted()) {
    return std::filesystem::path(flags.stored.files.patterns).replace_extension(".html").string();
  }
  if (flags.textbook) return "textbook.html";
  if (flags.playground) return "playground.html";
  if (names.empty() || names[0].empty()) {
    throw UsageError("missing argument RUN|SWEEP",
                     "name a run, or `headlab page --textbook` or `headlab page --playground`");
  }
  return (std::filesystem::path(names[0]) / "report.html").string();
}

/// Measures what the runs lack; nothing for other pages, and if nothing is to be written.
std::vector<Measured> measured_for(const Invocation& call, const PageFlags& flags) {
  const bool shows_runs = !flags.stored.wanted() && !flags.textbook && !flags.playground;
  if (!shows_runs || !flags.measure || flags.check) return {};
  std::vector<Measured> measured = measure_missing(call.positionals());
  set_quiet(call.given("quiet"));
  say_when_interrupted();
  return measured;
}

}  // namespace

Output page(Invocation& call) {
  PageFlags flags;
  call.read(flags.settings());
  flags.options.command = call.again("out");
  flags.options.writer = writer_of;
  const std::vector<std::string>& names = call.positionals();
  if (flags.textbook && !names.empty()) {
    throw UsageError(text("unexpected argument '", names[0], "': --textbook needs no run"),
                     "headlab page --textbook");
  }
  const std::string otherwise = default_file(call, flags);
  if (flags.out.empty()) flags.out = otherwise;
  if (call.given("out") && !flags.check) check_out(call, flags.out);
  const std::vector<Measured> measured = measured_for(call, flags);
  Json measured_json = Json::array();
  std::string lines;
  for (const Measured& one : measured) {
    if (one.found) flags.options.unkept.push_back({one.run, one.file, *one.found});
    lines += one.said + "\n";
    measured_json.push_back(
        Json::object({{"run", one.run}, {"file", one.file}, {"said", one.said}}));
  }
  const Page page = page_of(call, flags);
  if (!flags.check) write_out(call, flags.out, page.html);
  Result found = result_of(page);
  found.about["measured"] = std::move(measured_json);
  found.about["path"] = flags.check ? Json() : Json(flags.out);
  return reproducible(call, found,
                      (lines.empty() ? "" : "\n" + lines) + missing_text(page) +
                          (flags.check ? "\n" : "\n" + flags.out + "\n"));
}

}  // namespace headlab::cli
