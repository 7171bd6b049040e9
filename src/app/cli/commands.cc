// The table of commands, and what happens around each: its result is printed, and an error becomes
// `error: ...`, `hint: ...` and an exit status, whichever command it came from. Adding a command is
// a file with its function, the function's name below, and a row. Read next: eval.cc.
#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <exception>
#include <new>
#include <optional>

#include "base/digest.h"

namespace headlab::cli {

using Body = Result(Invocation& call);
/// Each in the file of its name.
Body train, eval, sample, heads, ablate, circuits, analysis, prune, curve, reproduce, page, sweep,
    compare, bench, cost, list, explain, show, runs, start, completion, import_command,
    export_command;

constexpr const char *kTrain = "train", *kLook = "look", *kWhy = "ask why", *kRemove = "remove";

/// The commands of the table of analyses, before those that remove heads.
std::vector<Command> with_analyses(std::vector<Command> all) {
  static std::deque<std::string> examples;
  for (const Analysis& row : analyses()) {
    examples.push_back("headlab " + row.name + " runs/full");
    all.insert(std::ranges::find(all, kRemove, &Command::want),
               {row.name.c_str(), kWhy, row.meaning.c_str(), examples.back().c_str(), "RUN",
                analysis});
  }
  return all;
}

std::vector<Command> table = with_analyses({
    // in the order of help
    {"start", kTrain, "a tour of six commands on one small run", "headlab start", "", start, ""},
    {"train", kTrain, "train a model on a task",
     "headlab train --task relations --heads 8 --out runs/full", "", train, ""},
    {"eval", kTrain, "loss and accuracy on held-out data", "headlab eval runs/full", "RUN", eval,
     "targets"},
    {"sample", kTrain, "continue a text", "headlab sample runs/text", "RUN", sample, ""},
    {"sweep", kTrain, "train a grid of runs over heads and seeds, and compare them",
     "headlab sweep --heads 1,2,3,4,5,8 --seeds 10 --out sweeps/knee", "", sweep,
     "groups results roles comparisons"},
    {"compare", kTrain, "runs, groups or pruning methods seed by seed: is it more than chance?",
     "headlab compare sweeps/knee/heads=1 sweeps/knee/heads=4", "ARM [ARM ...]", compare},
    {"runs", kTrain, "the runs in folders, a line for each", "headlab runs runs", "[DIR ...]", runs,
     "runs"},
    {"import", kTrain, "a model that was trained elsewhere, as a run",
     "headlab import gpt2 --task tokens:file=val.bin --out runs/gpt2", "PATH", import_command, ""},
    {"export", kTrain, "a run as others store models",
     "headlab export runs/text --to huggingface-gpt2 --out exported", "RUN", export_command, ""},
    {"bench", kTrain, "time a training step beside the machine's limits",
     "headlab bench step --config toy", "BENCHMARK", bench},
    {"show", kLook, "an example of a task with its truth, and what its settings mean",
     "headlab show relations", "TASK", show},
    {"heads", kLook, "which head does what", "headlab heads runs/full", "RUN [RUN ...]", heads,
     "heads relations divisions classes weights lifts"},
    {"page", kLook, "one HTML file in which the run lives: heads, truth, and the model itself",
     "headlab page runs/full", "[RUN|SWEEP] [RUN ...]", page, "parts"},
    {"explain", kLook, "attention step by step, on small sentences and on runs; what a word means",
     "headlab explain five-tokens", "[TOPIC|WORD] [RUN|WORD ...]", explain},
    {"list", kLook, "list tasks, kinds of model parts, scores, verdicts, methods, columns, files",
     "headlab list tasks", "tasks|kinds|scores|verdicts|methods|columns|files", list},
    {"completion", kLook, "for a shell: completes commands, flags and values; and the manual",
     "headlab completion bash", "bash|zsh|fish|man|words [LINE]", completion, ""},
    {"cost", kLook, "what attention costs: parameters, operations, memory, the cache of generation",
     "headlab cost --d-model 512 --heads 8 --length 1024", "", cost},
    {"ablate", kWhy, "what it costs to silence heads", "headlab ablate runs/full", "RUN", ablate,
     "heads set pairs relations"},
    {"circuits", kWhy, "what the weights of heads match, copy and read",
     "headlab circuits runs/full", "RUN", circuits, "heads compositions"},
    {"prune", kRemove, "remove heads and show what it costs",
     "headlab prune runs/full --keep 4 --finetune 1000", "RUN", prune, "models timing"},
    {"curve", kRemove, "compare pruning methods: loss against heads kept, beside the best subset",
     "headlab curve runs/full --finetune 1000", "RUN|SWEEP/GROUP [RUN ...]", curve,
     "points methods choices losses"},
    {"reproduce", kRemove, "the pruning experiments of two papers, on a run",
     "headlab reproduce voita runs/full", "michel|voita RUN [RUN ...]", reproduce,
     "ablation.heads one_head_per_layer curve.methods timing by_step over_runs rows drift"},
});

std::span<const Command> commands() { return table; }

namespace {

const Command& find_command(const std::string& name) {
  if (name == "version" || name == "-v")
    throw UsageError(text("unknown command '", name, "'; did you mean '--version'?"));
  require_known("command", name, texts_of(commands(), &Command::name));
  return *std::ranges::find(commands(), name, &Command::name);
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

/// Commands that make a result again, in lines that a shell takes for one.
std::string folded(const std::string& shown) {
  constexpr std::size_t kWidth = 80;
  std::vector<std::string> lines = texts_of(split(shown, '\n'), std::identity());
  for (std::string& line : lines) {
    if (!line.starts_with("again: ") || line.find('\\') != line.npos) continue;
    const std::size_t end = std::min(line.find("  # "), line.size());
    const std::string comment = (end < line.size() ? "\n" : "") + line.substr(end);
    line.resize(end);
    bool quoted = false;
    for (std::size_t at = 0, begin = 0, blank = 0; at < line.size(); ++at) {
      quoted = quoted != (line[at] == '\'');
      const bool flag = line[at + 1] == '-', before_flag = blank > begin && line[blank + 1] == '-';
      if (line[at] == ' ' && !quoted && (flag || !before_flag)) blank = at;
      if (at - begin < kWidth - 2 || blank <= begin) continue;
      line.replace(blank, 1, " \\\n    ");
      begin = blank + 3;
      at += 6;
    }
    line += comment;
  }
  return join(lines, "\n");
}

/// Whether the command line asks for JSON, and none was printed yet: stdout holds one object.
bool json_is_wanted = false;

/// JSON in which no control character is left as it is: `dump` escapes those of ASCII but not
/// U+007F to U+009F, to which terminals listen as well.
std::string harmless_json(const std::string& dumped) {
  std::string out;
  for (std::size_t i = 0; i < dumped.size(); ++i) {
    const auto byte = static_cast<unsigned char>(dumped[i]);
    const auto next = static_cast<unsigned char>(i + 1 < dumped.size() ? dumped[i + 1] : 0);
    const bool is_high = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (byte != 0x7F && !is_high) {
      out += dumped[i];
      continue;
    }
    out += "\\u00" + hexadecimal(is_high ? next : byte, 2);
    i += is_high ? 1 : 0;
  }
  return out;
}

/// What a command found, with the command that makes it again.
Result carry_out(Invocation& call) {
  Result result;
  const StepsShown steps;
  with_threads([&] { result = result_of(call); });
  if (result.json.is_object() && result.json.find("command") == nullptr)
    result.json["command"] = call.again();
  return result;
}

int run_command(const std::string& name, std::span<const std::string> words) {
  Invocation call(find_command(name), words);
  const AllowedCommands allowed(call.tasks_named());  // no other word allows a program
  const Result result = carry_out(call);
  if (!call.json())
    print(
        harmless(call.wants_table() ? call.table_text(result.tables) : folded(result.text), true));
  if (call.json() && !result.json.is_null()) {
    json_is_wanted = false;
    print(harmless_json(result.json.dump(2)) + "\n");
  }
  if (!result.note.empty()) note(result.note);
  if (result.unwritten) throw *result.unwritten;
  return result.status;
}

/// The words with the flags before the command's name put after it: they mean the same there.
std::vector<std::string> command_first(std::vector<std::string> words) {
  const std::vector<std::string> alone = {"--help", "--version"};
  auto first = words.begin();
  while (first != words.end() && first->starts_with("--") &&
         std::ranges::find(alone, *first) == alone.end())
    first += *first == "--threads" && first + 1 != words.end() ? 2 : 1;
  if (first != words.end()) std::rotate(words.begin(), first, words.end());
  return words;
}

/// A message on one line of bounded length: what comes from files and command lines may hold
/// anything, escape sequences of terminals included.
std::string line_of(std::string_view message) {
  constexpr std::size_t kMost = 2000;  // bytes
  const std::size_t more = message.size() > kMost ? message.size() - kMost : 0;
  const std::string line = harmless(message.substr(0, kMost));
  return more == 0 ? line : text(line, " ... (", more, " bytes more)");
}

/// A failure; with --json also an object {"error", "hint", "status"} on stdout.
int report(const char* what, const std::string& hint, int status) {
  if (json_is_wanted) {
    Json json = Json::object({{"error", line_of(what)}, {"hint", line_of(hint)}});
    json["status"] = status;
    json_is_wanted = false;
    print(harmless_json(json.dump(2)) + "\n");
  }
  complain("error: " + line_of(what));
  if (!hint.empty()) complain("hint: " + line_of(hint));
  return status;
}

/// Says so without asking for memory, as there is none.
int report_no_memory() {
  constexpr std::string_view kLine = "error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  return 1;
}

int run_and_report(const std::vector<std::string>& words) {
  json_is_wanted = std::ranges::any_of(words, [](const std::string& word) {
    return word == "--json" || word == "--json=true";
  });
  try {
    return run_words(command_first(words));
  } catch (const UsageError& error) {
    return report(error.what(), error.hint(), 2);
  } catch (const Error& error) {
    return report(error.what(), error.hint(), 1);
  } catch (const Stopped&) {
    complain("interrupted: what was not finished is not kept");
    return 130;
  } catch (const std::bad_alloc&) {
    return report("out of memory", "use a smaller batch, length or model", 1);
  } catch (const std::filesystem::filesystem_error& error) {  // its own words are those of C++
    const std::string reason = error.code().message();
    return report(text("cannot use '", error.path1().string(), "': ", reason).c_str(),
                  "check the path, and who may read and write there", 1);
  } catch (const std::exception& error) {
    return report(text("internal error: ", error.what()).c_str(), "", 1);
  }
}

}  // namespace

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

std::string program_help() {
  std::string help =
      "headlab: train toy transformers, see what each attention head does, remove those\n"
      "that do nothing.\n\nbegin with these commands (headlab COMMAND --help says more):\n";
  for (const char* name : {"start", "train", "heads", "page"})
    help += text("  ", find_command(name).example, "\n");
  const char* group = "";
  for (const Command& command : commands()) {
    if (command.want != group) help += text("\n", command.want, ":\n");
    group = command.want;
    help += beside(text("  ", command.name), 14, command.summary);
  }
  return help + R"(
every command takes --json, --quiet and --threads; those that show tables take
--csv, --latex and --table; headlab --version names the build
exit status: 0 done, 1 it could not be done, 2 the command line is wrong,
130 interrupted
with --json a failure is an object {"error", "hint", "status"} on stdout
)";
}

Result result_of_words(const std::vector<std::string>& words) {
  Invocation call(find_command(words[0]), std::span(words).subspan(1));
  const AllowedCommands allowed(call.tasks_named());
  Result result = carry_out(call);
  if (result.unwritten) throw *result.unwritten;
  return result;
}

int run_words(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "--help" : words[0];
  if (first.starts_with("--") && first != "--help" && first != "--version")
    throw UsageError("missing command", "headlab --help lists them");
  const bool help = first == "--help" || first == "-h" || first == "help";
  if (help && words.size() > 1) return run_command(words[1], std::vector<std::string>{"--help"});
  if (!help && first != "--version") return run_command(first, std::span(words).subspan(1));
  const bool json = words.size() == 2 && words[1] == "--json";
  if (words.size() > 1 && !json)
    throw UsageError(text("unexpected argument '", words[1], "'"), "headlab --version");
  print(help   ? program_help()
        : json ? stamped({{"build", build()}}).dump(2) + "\n"
               : program_text() + "\n");
  return 0;
}

bool end_in_words() {
  std::set_terminate([] { std::_Exit(report_no_memory()); });
  return true;
}

int run_program(int count, char** values, Additions additions) {
  const bool ours = count == 0 || std::filesystem::path(values[0]).filename() == "headlab";
  program_name() = ours ? "headlab" : values[0];
  return run_program(std::vector<std::string>(values + 1, values + count), std::move(additions));
}

int run_program(const std::vector<std::string>& words, Additions additions) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write, told in words
  std::signal(SIGPIPE, SIG_IGN);  // who reads no more does not end a training
  say_when_interrupted();
  stop_wanted() = interrupted;
  end_in_words();
  try {
    own_tasks() = std::move(additions.tasks);
    own_scores() = std::move(additions.scores);
    own_methods() = std::move(additions.methods);
    own_optimizers() = std::move(additions.optimizers);
    own_attention_functions() = std::move(additions.attention_functions);
    static const std::size_t ours = table.size();
    table.resize(ours);
    table.insert(table.end(), additions.commands.begin(), additions.commands.end());
    return run_and_report(words);
  } catch (const std::exception&) {  // there was no room for the words
    return report_no_memory();
  }
}

std::string program_text() { return text("headlab ", version(), " (", build(), ")"); }

Result result_of(const Finding& finding, const std::string& words) {
  const std::string shown = text_of(finding, {.width = stdout_width()});
  return {.json = to_json(finding), .text = shown + words, .tables = finding.tables};
}

Result reproducible(const Invocation& call, Result result) {
  result.json["command"] = call.again();
  result.text += "again: " + call.again() + "\n";
  return result;
}

Result reproducible(const Invocation& call, const Finding& finding, const std::string& words) {
  return reproducible(call, result_of(finding, words.empty() ? "\n" : words));
}

Result reproducible(const Invocation& call, Json json, const std::string& words) {
  return reproducible(call, Result{.json = std::move(json), .text = words});
}

Result reproducible(const Invocation& call, Json json, std::vector<Table> tables,
                    const std::string& after, const std::string& before) {
  const std::string shown = text_of(Finding{.tables = tables}, {.width = stdout_width()});
  return reproducible(call, Result{.json = std::move(json),
                                   .text = before + shown + after,
                                   .tables = std::move(tables)});
}

std::string examples_text(const Task& task, Index examples, Split split) {
  const Index different = task.different(split);
  const std::string about = task.about_data();
  return text(examples, " held-out examples, the same every time",
              different > 0 ? text(" (", examples == different ? "all " : "of ", different,
                                   " different ones)")
                            : std::string(),
              about.empty() ? "" : "\ndata: " + about);
}

void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  as_usage([&] { throw unknown_name(kind, name, known); });
}

std::vector<HeadId> parse_heads(const std::string& flag, const std::string& names,
                                const Transformer& model) {
  std::vector<HeadId> heads;
  if (names.empty()) return heads;
  for (const std::string_view name : split(names, ','))
    heads.push_back(parse_head(flag, std::string(name), &model));
  return heads;
}

/// A whole number in decimal digits without leading zeros; none for any other text.
static std::optional<std::int32_t> index_of(const std::string& digits) {
  const bool plain = !digits.empty() && digits.size() < 10 &&
                     digits.find_first_not_of("0123456789") == digits.npos;
  if (!plain || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  return static_cast<std::int32_t>(std::stol(digits));
}

HeadId parse_head(const std::string& flag, const std::string& name, const Transformer* model) {
  // Strict, so that 0.01 is not taken for 0.1.
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::optional<std::int32_t> module = index_of(name.substr(0, dot));
  const std::optional<std::int32_t> head =
      dot < name.size() ? index_of(name.substr(dot + 1)) : module;
  if (dot == name.size() || !module || !head)
    throw UsageError(text(flag, " ", name, ": a head is LAYER.HEAD, such as 0.2"),
                     "`headlab heads RUN` lists them");
  const HeadId id{*module, *head};
  if (model != nullptr) as_usage([&] { return place_of(*model, id); });
  return id;
}

}  // namespace headlab::cli
