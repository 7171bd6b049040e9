// The table of commands, and what happens around each: its result is printed, and an error becomes
// `error: ...`, `hint: ...` and an exit status, whichever command it came from. Adding a command is
// a file with its function, the function's name below, and a row. Read next: eval.cc.
#include "cli/commands.h"

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>

#include "cli/terminal.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/report/table.h"
#include "headlab/train/run.h"

namespace headlab::cli {

using Body = Result(Invocation& call);
/// Each in the file of its name.
Body train, eval, sample, heads, ablate, circuits, attribute, patch, prune, curve, reproduce, sweep,
    bench, check, list;

std::span<const Command> commands() {
  static const std::vector<Command> table = {
      {"train", "train a model on a task",
       "headlab train --task relations --heads 8 --out runs/full", "", train},
      {"eval", "loss and accuracy of a run on held-out examples", "headlab eval runs/full", "RUN",
       eval},
      {"sample", "continue a text", "headlab sample runs/text --prompt \"The fox\"", "RUN", sample},
      {"heads", "what each head looks at, scored against the truth", "headlab heads runs/full",
       "RUN", heads},
      {"ablate", "what it costs to silence heads", "headlab ablate runs/full --kind mean", "RUN",
       ablate},
      {"circuits", "what the weights of heads match, copy and read", "headlab circuits runs/full",
       "RUN", circuits},
      {"attribute", "what each part of a model adds to the right answer's logit",
       "headlab attribute runs/full", "RUN", attribute},
      {"patch", "which activations of another input bring its answer back",
       "headlab patch runs/full", "RUN", patch},
      {"prune", "remove heads and show what it costs",
       "headlab prune runs/full --method greedy --keep 4 --finetune 1000 --out runs/pruned", "RUN",
       prune},
      {"curve", "compare pruning methods: loss against heads kept, beside the best subset",
       "headlab curve runs/full --finetune 1000", "RUN [RUN ...]", curve},
      {"reproduce", "the pruning experiments of two papers, on a run",
       "headlab reproduce voita runs/full", "michel|voita RUN", reproduce},
      {"sweep", "train a grid of runs over heads and seeds, and compare them",
       "headlab sweep --task relations --heads 1,2,3,4,5,8 --seeds 5 --out sweeps/knee", "", sweep},
      {"bench", "time a training step beside the machine's limits",
       "headlab bench step --config toy", join(benchmark_names(), "|"), bench},
      {"check", "compare every gradient with central differences", "headlab check", "", check},
      {"list", "list tasks, scores or pruning methods", "headlab list tasks",
       "tasks|scores|methods", list},
  };
  return table;
}

namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

const Command& find_command(const std::string& name) {
  require_known("command", name, command_names());
  return *std::ranges::find(commands(), name, &Command::name);
}

std::string program_help() {
  std::string help =
      "headlab: train toy transformers, see what each attention head does, remove those that do "
      "nothing.\n\n"
      "example: headlab train --task relations --heads 8 --out runs/full && headlab heads "
      "runs/full\n\n"
      "commands (headlab COMMAND --help says more):\n";
  for (const Command& command : commands())
    help += text("  ", padded(command.name, 9), "  ", command.summary, "\n");
  return help;
}

/// What the command found. The library speaks of settings and folders; here that becomes flags and
/// commands.
Result result_of(Invocation& call) {
  try {
    return call.command().run(call);
  } catch (const HelpWanted& help) {
    return {.text = help.text};
  } catch (const FolderTaken& error) {
    throw Error(
        error.what(),
        "use --force to replace it, or another --out; `headlab train --resume` continues a run");
  } catch (const MissingRun& error) {
    throw Error(error.what(), "give the folder that `headlab train --out` wrote");
  } catch (const UsageError& error) {
    throw UsageError(call.in_flags(error.what()), call.in_flags(error.hint()));
  } catch (const Error& error) {
    throw Error(call.in_flags(error.what()), call.in_flags(error.hint()));
  }
}

int run_command(const std::string& name, std::span<const std::string> words) {
  Invocation call(find_command(name), words);
  const Result result = result_of(call);
  if (!call.json()) print(result.text);
  if (call.json() && !result.json.is_null()) print(result.json.dump(2) + "\n");
  if (!result.note.empty()) note(result.note);
  return result.status;
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty()) {
    throw UsageError("missing command", text("known: ", join(command_names(), ", "),
                                             "; headlab --help shows an example"));
  }
  const std::string& first = words[0];
  const bool help = first == "--help" || first == "-h" || first == "help";
  if (help && words.size() > 1) return run_command(words[1], std::vector<std::string>{"--help"});
  if (!help && first != "--version") return run_command(first, std::span(words).subspan(1));
  print(help ? program_help() : text("headlab ", version(), "\n"));
  return 0;
}

int report(const char* what, const std::string& hint, int status) {
  note(text("error: ", what));
  if (!hint.empty()) note("hint: " + hint);
  return status;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  try {
    return run_words(words);
  } catch (const UsageError& error) {
    return report(error.what(), error.hint(), 2);
  } catch (const Error& error) {
    return report(error.what(), error.hint(), 1);
  } catch (const std::bad_alloc&) {
    return report("out of memory", "use a smaller batch, length or model", 1);
  } catch (const std::exception& error) {
    return report(error.what(), "", 1);
  }
}

Result reproducible(const Invocation& call, Json json, const std::string& text,
                    const std::filesystem::path& file) {
  const std::string command = call.again();
  json["command"] = command;
  if (!file.empty()) write_file(file, json.dump(2) + "\n");
  return {.json = std::move(json), .text = text + "again: " + command + "\n"};
}

void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  as_usage([&] { throw unknown_name(kind, name, known); });
}

Setting named_text(std::string name, std::string placeholder, std::string& value,
                   std::string help) {
  Settings one;
  one.text(std::move(name), value, std::move(help));
  Setting setting = one.all().front();
  setting.placeholder = std::move(placeholder);
  return setting;
}

HeadId parse_head(const std::string& flag, const std::string& name) {
  HeadId id;
  char dot = 0, rest = 0;
  std::istringstream in(name);
  if (!(in >> id.layer >> dot >> id.head) || dot != '.' || (in >> rest)) {
    throw UsageError(text(flag, " ", name, ": a head is LAYER.HEAD, such as 0.2"),
                     "`headlab heads RUN` lists them");
  }
  return id;
}

}  // namespace headlab::cli
