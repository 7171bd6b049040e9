// What the commands share: results that say how to make them again, names of heads, and the
// terminal: the signal that stops a command, the progress line, and how words get out. Results go
// to stdout, all else to stderr, so that `--json` can be piped. The table of commands and the
// program around them are in commands.cc. Read next: eval.cc, the shortest command on a run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/cli/arguments.h"
#include "headlab/headlab.h"

namespace headlab::cli {

/// A command line within another: what it finds is printed, its errors are thrown.
int run_words(const std::vector<std::string>& words);
/// Carries out a command within another and returns what it found, without printing it. Errors:
/// those of the command; what kept the result from being written.
Result result_of_words(const std::vector<std::string>& words);

/// The row of the table of commands. UsageError that names the nearest if there is none.
const Command& find_command(const std::string& name);
/// Adds the commands of a program that adds to ours, in place of those added before.
void set_own_commands(const std::vector<Command>& own);
/// What `headlab --help` prints, and what a command says of itself.
std::string program_help();
HelpWanted help_of(const Command& command);

/// What was found, with words after its tables.
Result result_of(const Finding& finding, const std::string& words = "");
/// A result that ends with the command that makes it again.
Result reproducible(const Invocation& call, Result result);
Result reproducible(const Invocation& call, const Finding& finding, const std::string& words = "");
Result reproducible(const Invocation& call, Json json, const std::string& words);
/// With JSON of its own, and tables with words before and after them.
Result reproducible(const Invocation& call, Json json, std::vector<Table> tables,
                    const std::string& after, const std::string& before = "");
/// The same of what was found of a run: kept as the file `name` beside it, or where --out says,
/// with the settings, the step and a hash of the weights that it describes. Where the folder cannot
/// be written, a note says so.
Result finding(const Invocation& call, const Run& run, Result found, const std::string& name);
Result finding(const Invocation& call, const Run& run, const Finding& found,
               const std::string& words, const std::string& name);
/// Writes a file that the call names. Error if it belongs to a run and another command made it.
void write_out(const Invocation& call, const std::filesystem::path& file, std::string_view bytes);
/// Writes the JSON of a result as a file; where that fails the result is shown all the same, and
/// then what failed.
void keep_as(const std::filesystem::path& file, Result& result);
/// What is said after a command that makes a folder again, as a comment of the shell.
std::string replaced_text(const std::filesystem::path& folder);

/// "512 held-out examples, the same every time", and what is known of finite data behind a task.
std::string examples_text(const Task& task, Index examples, Split split = Split::validation);

/// The program with its version and its build, on one line.
std::string program_text();
/// "headlab"; for a program that adds to it, how it was called.
std::string& program_name();
/// The program as it was typed, as a word of a shell: "build/headlab".
std::string& typed_program();
/// The text with `program` in place of `headlab` where that begins a command line.
std::string with_program(std::string_view said, const std::string& program);
/// The text for a terminal: command lines begin with the program as it was typed. JSON, files and
/// the page say `headlab`.
std::string as_typed(std::string_view said);
/// The same as it begins a command line that makes something again: with HEADLAB_COMMAND where that
/// has allowed a program, or where this task is one.
std::string program_call(std::string_view task = "");

/// For a model of texts, bits per character and perplexity as keys of `json` and as a line; else
/// "".
std::string add_bits(Json& json, const Run& run, const Evaluation& held_out);

/// The settings of a task, a line for each with its default, and what it recommends.
std::string task_help(const std::string& spec);

/// UsageError, with the nearest name, unless `name` is known.
void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known);

/// The head that a flag names, as "0.2": module 0, born as 2. UsageError if the text is no such
/// name, or the model, where there is one, has no such head.
HeadId parse_head(const std::string& flag, const std::string& name,
                  const Transformer* model = nullptr);
/// The same for several of a model: "0.1,0.2"; none for "".
std::vector<HeadId> parse_heads(const std::string& flag, const std::string& names,
                                const Transformer& model);

/// The page of the lessons: trains its models in a folder of the system, which goes at the end,
/// unless options.weights is false. Error if it is interrupted.
Page textbook(const PageOptions& options);

/// The settings of a run that a user may give.
Flags flags_of(RunConfig& config);

/// Says with which kinds of models settings of models go.
void for_models(Flags& settings);
/// Says with which pruning methods, as `flag` names them, settings go.
void for_methods(Flags& settings, const std::string& flag);

/// Until catch_interrupts a Ctrl-C (SIGINT), SIGTERM, SIGHUP or SIGUSR1 ends the program with a
/// word.
void say_when_interrupted();
/// From here on the first of them asks for a clean stop, which `interrupted` tells; the second ends
/// the program at once.
void catch_interrupts();
bool interrupted();
/// 75 s as 1:15.
std::string clock_text(double seconds);
/// For a child of the program that works beside others: all of these signals, and the end of the
/// parent, ask for a clean stop; progress is shown no more.
void stop_with_parent(int parent);

/// Columns of the terminal; 80 where it cannot be asked.
std::size_t stdout_width();

void print(const std::string& text);
/// A line on stderr, unless the user wants to hear of errors alone.
void note(const std::string& text);
void set_quiet(bool quiet);
/// A line on stderr in any case.
void complain(const std::string& text);

/// Shows training on stderr: one line, redrawn on a terminal; in a file a plain line now and then,
/// and one for each evaluation.
class Progress {
 public:
  explicit Progress(Index steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const StepRecord& record);
  void show(const EvaluationRecord& record);
  /// Takes the line off the terminal, for other output.
  void clear();
  /// If Ctrl-C came before the last step: the exit status is 130, and the note says how to continue
  /// the run at `path` on its task.
  Result interrupted_or(Result result, const std::string& path, const std::string& task) const;
  /// The result if Ctrl-C came while the task waited for its program (Stopped).
  Result stopped_while_waiting(const std::string& path, const std::string& task) const;

 private:
  Index steps_;
  Index first_ = -1;     // the step before the first one seen
  Index last_ = 0;       // the last one seen
  Index evaluated_ = 0;  // the step of the last evaluation
  double first_seconds_ = 0;
  bool terminal_;
  bool drawn_ = false;
  double last_drawn_ = -1e9;
};

/// While it lives, steps of long computations whose training nobody shows are shown: how many are
/// done, their rate, and the time left; nothing for the first two seconds.
class StepsShown {
 public:
  StepsShown();
  ~StepsShown();
  StepsShown(const StepsShown&) = delete;
  StepsShown& operator=(const StepsShown&) = delete;
};

/// Callbacks that show progress and stop at Ctrl-C.
RunCallbacks watch(Progress& progress);

// ---- results as pictures: report/figures.h makes them -------------------------------------------

/// UsageError unless `file` ends in `ending`, such as ".svg", in any case, or in nothing.
void require_ending(const std::string& flag, const std::string& file, const std::string& ending);

struct PictureFlags {
  std::string svg, pdf;  // files to write; "": none
  std::string width;     // "84mm"; "": as on a screen

  void add_to(Flags& settings);
  bool wanted() const { return !svg.empty() || !pdf.empty(); }
  /// UsageError for a file whose name ends as another format does, such as --svg x.png.
  void check_names() const;
  /// What figures take: the width in units, 0 where none was asked for. UsageError for what is no
  /// width, or one without a file to write.
  double units() const;
};

/// If one is wanted, makes the picture, writes it with the command that makes it again inside, and
/// adds its files and a caption to the result.
Result with_picture(const Invocation& call, const PictureFlags& flags, Result result,
                    const std::function<Picture(double units)>& make);

// ---- commands that do much: cells are made side by side (--jobs), by as many processes as are
// given the same command; and of several runs one that fails does not keep the others from being
// done

/// The flag --jobs: how many cells are made at once.
void add_jobs(Flags& settings, Index& jobs);
/// Makes cells, as many at once as `jobs` says, with a line for each. Ctrl-C stops all.
CellsMade make_shown(Index jobs, const std::vector<Cell>& cells);
/// Whether this process is one of several that make_shown started.
bool is_worker();

/// All settings as they are kept with what was found, which is the same however it was made.
Json work_settings(const Invocation& call);
/// What a command says that was stopped.
Result stopped_result(const Invocation& call);

/// What became of runs, in their order.
struct RunsDone {
  std::vector<std::string> paths{};                           // that were done
  std::vector<Json> found{};                                  // of each of these
  std::vector<std::pair<std::string, std::string>> failed{};  // path and error
  std::optional<Error> unwritten{};                           // what could not be kept
  /// What to return where all is not there yet: it was stopped.
  std::optional<Result> ended{};

  /// What a command on several runs prints, for one run too: which these are and the keys `more`;
  /// the tables, the files in which they are kept, and a line for each run that failed.
  Result shown(const Invocation& call, const Json::Object& more, const std::vector<Table>& tables,
               const std::string& files) const;
};
struct RunsWork {
  Index jobs;
  bool force;  // forget what is kept of the runs
  std::vector<std::string> paths;
  std::string file;  // the name of what is kept of each run
  Keeping& keeping;  // of the options, which is set before each of these two
  /// What can be made side by side, of runs that can be written.
  std::function<std::vector<Cell>(const std::vector<std::filesystem::path>& paths)> cells{};
  /// Puts the parts together.
  std::function<Json(const Run& run)> report{};
};
/// The error of a single run is thrown; of several it is counted.
RunsDone do_runs(const Invocation& call, const RunsWork& work);

}  // namespace headlab::cli
