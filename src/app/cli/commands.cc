// The table of commands, and the help that is made from it. To add a command, write a file with its
// function, declare the function below, and add a row. Everything around a command is in
// program.cc. Read next: eval.cc, the shortest command on a run.
#include "app/cli/commands.h"

#include "app/cli/advice.h"
#include "app/report/results.h"
#include "headlab/lab/results/words.h"

#include <algorithm>
#include <deque>

namespace headlab::cli {

using Body = Output(Invocation& call);
/// Functions of the commands, each in the file of its name.
Body train, eval, patch, sample, heads, pattern, history, ablate, circuits, analysis, prune, curve,
    page, sweep, compare, bench, cost, list, explain, show, runs, start, completion, import_command,
    export_command;
/// The tables of results that this folder makes; the registry has all others.
Result runs_shape(), show_shape(), pattern_shape(), list_shape();

constexpr const char *kTrain = "training", *kLook = "inspection", *kWhy = "causal analysis",
                     *kRemove = "pruning";

using Times = Positional::Times;
using Arguments = std::vector<Positional>;
constexpr Placeholder kRun{"RUN", ValueKind::run}, kTask{"TASK", ValueKind::task},
    kFolder{"DIR", ValueKind::folder}, kArm{"ARM", ValueKind::run},
    kSweep{"SWEEP", ValueKind::folder}, kGroup{"SWEEP/GROUP", ValueKind::folder},
    kHead{"LAYER.HEAD", ValueKind::heads}, kTopic{"TOPIC", ValueKind::topic},
    kWord{"WORD", ValueKind::other}, kPath{"PATH", ValueKind::other},
    kLine{"LINE", ValueKind::other};
const Positional kMoreRuns{.names = {kRun}, .times = Times::repeated};

const Arguments kNothing{}, kOneRun{{.names = {kRun}}}, kRuns{kMoreRuns};
const Arguments kFolders{{.names = {kFolder}, .times = Times::repeated}};
const Arguments kOnePath{{.names = {kPath}}};
const Arguments kOneTask{{.names = {kTask}}};
const Arguments kArms{{.names = {kArm}}, {.names = {kArm}, .times = Times::repeated}};
const Arguments kRunAndHead{{.names = {kRun}},
                            {.names = {kHead}, .choices = {"all"}, .times = Times::optional}};
const Arguments kShown{{.names = {kRun, kSweep, kTask}, .times = Times::optional},
                       {.names = {kRun, kTask}, .times = Times::repeated}};
const Arguments kExplained{{.names = {kTopic, kWord}, .times = Times::optional},
                           {.names = {kRun, kWord}, .times = Times::repeated}};
const Arguments kCurves{{.names = {kRun, kGroup}}, kMoreRuns};
const Arguments kTours{{.choices = {"relations", "english"}, .times = Times::optional}};
const Arguments kLists{
    {.choices = {"tasks", "kinds", "scores", "verdicts", "methods", "columns", "files"},
     .times = Times::optional}};
const Arguments kShells{{.choices = {"bash", "zsh", "fish", "words"}},
                        {.names = {kLine}, .times = Times::optional}};

/// Commands of the table of analyses, before those that remove heads.
std::vector<Command> with_analyses(std::vector<Command> all) {
  static std::deque<std::string> examples;
  for (const Analysis& row : analyses()) {
    examples.push_back("headlab " + row.name + " runs/full");
    all.insert(std::ranges::find(all, kRemove, &Command::want),
               {row.name.c_str(), kWhy, row.meaning.c_str(), examples.back().c_str(), kOneRun,
                analysis});
  }
  return all;
}

std::vector<Command> table = with_analyses({
    // in the order of help
    {"start", kTrain, "a tour of six commands on one small run", "headlab start", kTours, start},
    {"train", kTrain, "train a model on a task",
     "headlab train --task relations --heads 8 --out runs/full", kNothing, train},
    {"eval", kTrain, "loss and accuracy on held-out data", "headlab eval runs/full", kOneRun, eval},
    {"sample", kTrain, "continue a text", "headlab sample runs/text", kOneRun, sample},
    {"sweep", kTrain, "train a grid of runs over heads and seeds, and compare them",
     "headlab sweep --heads 1,2,3,4,5,8 --seeds 10 --out sweeps/knee", kNothing, sweep},
    {"compare", kTrain, "compare runs, groups or pruning methods over seeds, with tests",
     "headlab compare sweeps/knee/heads=1 sweeps/knee/heads=4", kArms, compare},
    {"runs", kTrain, "list runs", "headlab runs runs", kFolders, runs, runs_shape},
    {"import", kTrain, "read a model that was trained elsewhere as a run",
     "headlab import gpt2 --task tokens:file=val.bin --out runs/gpt2", kOnePath, import_command},
    {"export", kTrain, "write a run in another checkpoint format",
     "headlab export runs/text --to huggingface-gpt2 --out exported", kOneRun, export_command},
    {"bench", kTrain, "time, pace and memory of a training step", "headlab bench --config toy",
     kNothing, bench},
    {"show", kLook, "show an example of a task with its ground truth, and its settings",
     "headlab show relations", kOneTask, show, show_shape},
    {"heads", kLook, "score every head on every relation", "headlab heads runs/full", kRuns, heads},
    {"pattern", kLook, "attention patterns of one head or all, on an example or your own input",
     "headlab pattern runs/full 0.2", kRunAndHead, pattern, pattern_shape},
    {"history", kLook, "when each role emerged in training (after `train --track-heads`)",
     "headlab history runs/full", kOneRun, history},
    {"page", kLook, "write a run as one interactive HTML file that works offline",
     "headlab page runs/full", kShown, page},
    {"explain", kLook, "explain a word, or attention step by step", "headlab explain five-tokens",
     kExplained, explain},
    {"list", kLook, "list tasks, model parts, scores, conclusions, methods, columns, files",
     "headlab list tasks", kLists, list, list_shape},
    {"completion", kLook, "print a completion script for a shell", "headlab completion bash",
     kShells, completion},
    {"cost", kLook, "parameters, operations and memory of attention",
     "headlab cost --d-model 512 --heads 8 --length 1024", kNothing, cost},
    {"ablate", kWhy, "ablate heads and measure the loss", "headlab ablate runs/full", kOneRun,
     ablate},
    {"circuits", kWhy, "QK and OV circuits, from the weights alone", "headlab circuits runs/full",
     kOneRun, circuits},
    {"patch", kWhy, "activation patching: which activations restore or break an answer",
     "headlab patch runs/full", kOneRun, patch},
    {"prune", kRemove, "remove heads and measure the loss",
     "headlab prune runs/full --keep 4 --finetune 1000", kOneRun, prune},
    {"curve", kRemove, "compare pruning methods with each other and with the best subset",
     "headlab curve runs/full --finetune 1000", kCurves, curve},
});

std::span<const Command> commands() { return table; }

/// Number of commands of another program, which are the last rows.
std::ptrdiff_t own_count = 0;

void set_own_commands(const std::vector<Command>& own) {
  static const std::size_t ours = table.size();
  table.resize(ours);
  table.insert(table.end(), own.begin(), own.end());
  own_count = std::ssize(own);
}

/// Throws a UsageError with the command that was meant, if the word is a common one for it.
static void refuse_other_name(const std::string& word) {
  std::string call = call_for_word(word);
  if (word == "commands" || word == "usage" || word == "?") call = program_call() + " --help";
  if (const Command* meant = command_meant_by(word)) call = call_of(*meant);
  if (!call.empty()) throw UsageError(text("unknown command '", word, "'"), call);
}

const Command& find_command(const std::string& name) {
  if (name == "version" || name == "-v") {
    throw UsageError(text("unknown command '", name, "'; did you mean '--version'?"));
  }
  const bool is_there = std::ranges::count(commands(), name, &Command::name) > 0;
  if (!is_there) refuse_other_name(name);
  require_known("command", name, texts_of(commands(), &Command::name));
  return *std::ranges::find(commands(), name, &Command::name);
}

std::vector<std::string> table_names(const Command& command) {
  return command.shape == nullptr ? tables_of(command.name)
                                  : texts_of(command.shape().tables, &Table::name);
}

bool has_tables(const Command& command) {
  if (command.shape != nullptr) return true;
  return std::ranges::any_of(result_table(), [&](const ResultEntry& entry) {
    return entry.command == command.name && entry.shape != nullptr;
  });
}

HelpWanted help_of(const Command& command) {
  const std::vector<std::string> words = {"--help"};
  Invocation call(command, words);
  try {
    command.run(call);
  } catch (const HelpWanted& help) {
    return help;
  }
  return {};
}

/// Flags that every command has, or every command with tables.
static std::string common_flags_help() {
  CommonFlags common;
  const Flags flags = common.settings(true, false);
  return settings_help(flags.all(), {});
}

/// The commands that the short help shows, in its order.
constexpr std::string_view kFirst[] = {"start",  "show",  "train", "heads", "pattern", "page",
                                       "ablate", "patch", "prune", "curve", "sweep",   "compare"};

static bool is_first(const Command& command) {
  return std::ranges::find(kFirst, command.name) != std::end(kFirst);
}

static std::string opening() {
  std::string help = wrapped(
      "headlab: train toy transformers, measure what each attention head does, and remove heads "
      "that are not needed.",
      "", text_width());
  help += "\n" + wrapped("begin with these commands (headlab COMMAND --help explains each):", "",
                         text_width());
  for (const char* name : {"start", "train", "heads", "page"}) {
    help += text("  ", find_command(name).example, "\n");
  }
  return help;
}

static std::string closing() {
  std::string help = "\ncommon flags:\n" + common_flags_help() + "\n";
  for (const char* line :
       {"--csv, --latex and --table belong to commands that show tables",
        "headlab --version prints the build",
        "exit status: 0 success, 1 failure, 2 wrong command line, 130 interrupted",
        R"(with --json a failure is an object {"error", "hint", "status"} on stdout)"}) {
    help += wrapped(line, "", text_width());
  }
  return help;
}

static std::string line_of(const Command& command) {
  return beside(text("  ", command.name), 14, command.summary);
}

std::string program_help() {
  std::string help = opening() + "\ncommands:\n";
  for (const std::string_view name : kFirst) help += line_of(find_command(std::string(name)));
  std::size_t more = 0;
  for (const Command& command : commands()) {
    const bool is_own = &command - commands().data() >= std::ssize(table) - own_count;
    if (is_own) help += line_of(command);
    more += is_own || is_first(command) ? 0 : 1;
  }
  return help + text("\n", more, " more: headlab --help all\n") + closing();
}

std::string full_program_help() {
  std::string help = opening();
  const char* group = "";
  for (const Command& command : commands()) {
    if (command.want != group) help += text("\n", command.want, ":\n");
    group = command.want;
    help += line_of(command);
  }
  return help + closing();
}

}  // namespace headlab::cli
