// The table of commands, and what happens around each: an error becomes `error: ...`, `hint: ...`
// and an exit status, whichever command it came from. Adding a command is a function and a row
// here. Read next: train.cc.
#include <array>
#include <cstdio>
#include <exception>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/cli/command.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

constexpr std::array kCommands = {
    Command{"train", "train a model on a task",
            "headlab train --task relations --heads 8 --out runs/full", train_command},
    Command{"eval", "loss and accuracy of a run on held-out examples", "headlab eval runs/full",
            eval_command},
    Command{"sample", "continue a text", "headlab sample runs/text --prompt \"The fox\"",
            sample_command},
    Command{"heads", "what each head looks at, scored against the truth", "headlab heads runs/full",
            heads_command},
    Command{"ablate", "what it costs to silence heads", "headlab ablate runs/full --kind mean",
            ablate_command},
    Command{"circuits", "what the weights of heads match, copy and read",
            "headlab circuits runs/full", circuits_command},
    Command{"attribute", "what each part of a model adds to the right answer's logit",
            "headlab attribute runs/full", attribute_command},
    Command{"patch", "which activations of another input bring its answer back",
            "headlab patch runs/full", patch_command},
    Command{"prune", "remove heads and show what it costs",
            "headlab prune runs/full --method greedy --keep 4 --finetune 1000 --out runs/pruned",
            prune_command},
    Command{"curve", "compare pruning methods: loss against heads kept, beside the best subset",
            "headlab curve runs/full --finetune 1000", curve_command},
    Command{"reproduce", "the pruning experiments of two papers, on a run",
            "headlab reproduce voita runs/full", reproduce_command},
    Command{"sweep", "train a grid of runs over heads and seeds, and compare them",
            "headlab sweep --task relations --heads 1,2,3,4,5,8 --seeds 5 --out sweeps/knee",
            sweep_command},
    Command{"bench", "time a training step beside the machine's limits",
            "headlab bench step --config toy", bench_command},
    Command{"check", "compare every gradient with central differences", "headlab check",
            check_command},
    Command{"list", "list tasks, scores or pruning methods", "headlab list tasks", list_command},
};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

const Command& find_command(std::string_view name) {
  for (const Command& command : kCommands)
    if (name == command.name) return command;
  const Error unknown = unknown_name("command", name, command_names());
  throw UsageError(unknown.what(), unknown.hint());
}

std::string program_help() {
  std::string help =
      "headlab: train toy transformers, see what each attention head does, remove those that do "
      "nothing.\n\n"
      "example: headlab train --task relations --heads 8 --out runs/full && headlab heads "
      "runs/full\n\n"
      "commands (headlab COMMAND --help says more):\n";
  for (const Command& command : kCommands)
    help += text("  ", padded(command.name, 9), "  ", command.summary, "\n");
  return help;
}

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    throw UsageError("missing command", text("known: ", join(command_names(), ", "),
                                             "; headlab --help shows an example"));
  }
  const std::string& first = arguments[0];
  const bool help = first == "--help" || first == "-h" || first == "help";
  if (help && arguments.size() > 1) {  // headlab help train
    const std::vector<std::string> flag = {"--help"};
    return find_command(arguments[1]).run(flag);
  }
  if (help) {
    print(program_help());
    return 0;
  }
  if (first == "--version") {
    print(text("headlab ", version(), "\n"));
    return 0;
  }
  return find_command(first).run(Arguments(arguments).subspan(1));
}

int report(const char* what, const std::string& hint, int status) {
  note(text("error: ", what));
  if (!hint.empty()) note("hint: " + hint);
  return status;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run_program(const std::vector<std::string>& arguments) {
  try {
    return run_command(arguments);
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

Signature signature_of(const char* command, std::vector<std::string> positionals) {
  return {std::move(positionals), find_command(command).example};
}

int print_help(const char* command, const std::string& positionals, const Settings& settings) {
  const Command& entry = find_command(command);
  print(text("example: ", entry.example, "\n\n", entry.summary, "\n\nusage: headlab ", command,
             positionals.empty() ? "" : " ", positionals, " [flags]\n", flags_help(settings)));
  return 0;
}

std::string again(const char* command, Arguments arguments) {
  std::string line = text("headlab ", command);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = arguments[i].substr(0, arguments[i].find('='));
    if (flag == "--threads" && flag.size() == arguments[i].size())
      ++i;  // with its value
    else if (flag != "--threads" && flag != "--json" && flag != "--force")
      line += " " + shell_word(arguments[i]);
  }
  return line;
}

}  // namespace headlab::cli
