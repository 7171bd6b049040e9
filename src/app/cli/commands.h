// Code that the commands share: results with the command that reproduces them, names of heads, and
// the terminal: stop signals, the progress line and output. Results go to stdout and everything
// else to stderr, so that `--json` can be piped. The table of commands and the program around them
// are in commands.cc. Read next: eval.cc, the shortest command on a run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/app/cli/arguments.h"
#include "headlab/headlab.h"

namespace headlab::cli {

/// Runs a command line within another command, prints its result and passes on its errors.
int run_words(const std::vector<std::string>& words);
/// Runs a command within another and returns its result without printing it. Errors: those of the
/// command.
Output output_of_words(const std::vector<std::string>& words, bool keeps_results);
/// Does the same and stores the result. Errors: also the one that prevented it from being written.
Output result_of_words(const std::vector<std::string>& words);

/// Returns the row of the table of commands. UsageError that names the nearest one if there is
/// none.
const Command& find_command(const std::string& name);
/// Returns the names of the tables of a command; nothing if it has none or one without a name.
std::vector<std::string> table_names(const Command& command);
/// Returns whether a command shows tables and takes the flags that choose one.
bool has_tables(const Command& command);
/// Adds the commands of another program, in place of those added before.
void set_own_commands(const std::vector<Command>& own);
/// Returns the lists that `headlab list` prints.
std::vector<std::string> list_names();

/// Returns whether a flag is a switch, which has no value on the command line.
bool is_switch(const Setting& setting);

/// Return the texts of `headlab --help` and of a command's help.
std::string program_help();
/// Returns the same with all commands.
std::string full_program_help();
HelpWanted help_of(const Command& command);

/// Returns a result with text after its tables.
Output output_of(const Result& result, const std::string& words = "");
/// Adds a key to the JSON of a result. Error if a table has this name, because its rows would be
/// lost.
void add_fact(Output& output, const std::string& key, Json value);
/// Returns the line with the command that reproduces a result, and below it a shell comment if
/// given.
TonedText command_text(const std::string& command, const std::string& comment = "");
/// Returns a result that ends with the command that reproduces it, and a shell comment if given.
Output reproducible(const Invocation& call, Output output, const std::string& comment = "");
Output reproducible(const Invocation& call, const Result& result, const std::string& words = "");
Output reproducible(const Invocation& call, Json json, const std::string& words);
/// Returns a result with its own JSON, and tables with text before and after them.
Output reproducible(const Invocation& call, Json json, std::vector<Table> tables,
                    const std::string& after, const std::string& before = "");
/// Returns the result for a run and stores it as the file `name` in the run's folder, or at the
/// path of --out, with the settings, the step and a hash of the weights that it describes. If the
/// folder cannot be written, a note reports it. The result of another task than the run's own is
/// stored only at the path of --out.
Output store_result(const Invocation& call, const Run& run, Output found, const std::string& name);
Output store_result(const Invocation& call, const Run& run, const Result& found,
                    const std::string& words, const std::string& name);
/// Writes a file that the call names. Error if it belongs to a run and another command made it.
void write_out(const Invocation& call, const std::filesystem::path& file, std::string_view bytes);
/// Throws an Error before any work if `write_out` could not write this file: its folder is missing,
/// or another command made it.
void check_out(const Invocation& call, const std::filesystem::path& file);
/// Throws a UsageError unless a file that is given ends with .npy or .npz.
void require_array(const std::string& flag, const std::string& file);
/// Writes an array for NumPy; to NAME.npz with the arrays that join it with others: those of its
/// examples and heads.
void write_array(const Invocation& call, const std::string& file, const NamedArray& array,
                 const std::function<std::vector<NamedArray>()>& joins);
/// Writes the JSON of a result as a file; if that fails, the result is still shown, followed by the
/// error.
void keep_as(const std::filesystem::path& file, Output& output);
/// Returns the shell comment after a command that recreates a folder.
std::string replaced_text(const std::filesystem::path& folder);

/// Returns "512 held-out examples, the same in every call", facts about a task with finite data,
/// and a line that names another task than the run's own.
std::string examples_text(const Run& run, Index examples, Split split = Split::validation);

/// Returns the program with its version and its build, on one line.
std::string program_text();
/// Returns "headlab", or for an extended program the name under which it was called.
std::string& program_name();
/// Returns the program as it was typed, quoted for a shell: "build/headlab".
std::string& typed_program();
/// Returns the text with `program` in place of `headlab` at the start of command lines.
std::string with_program(std::string_view said, const std::string& program);
/// Returns the text for a terminal: command lines begin with the program as it was typed. JSON,
/// files and the page say `headlab`.
std::string as_typed(std::string_view said);
/// Returns the program at the start of a command line that reproduces a result: with
/// HEADLAB_COMMAND if that variable has allowed a program, or if this task is one.
std::string program_call(std::string_view task = "");

/// Returns bits per character and perplexity of a model of texts, as keys of `json` and as a line;
/// "" for other models.
std::string add_bits(Json& json, const Run& run, const Evaluation& held_out);

/// Returns the settings of a task, a line for each with its default, and its recommendation.
std::string task_help(const std::string& spec);

/// Throws a UsageError with the nearest name unless `name` is known.
void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known);

/// Returns the head that a flag names: "0.2" is original index 2 in attention layer 0. UsageError
/// if the text is no such name, or if the model, if given, has no such head.
HeadId parse_head(const std::string& flag, const std::string& name,
                  const Transformer* model = nullptr);
/// Returns several heads of a model: "0.1,0.2"; none for "".
std::vector<HeadId> parse_heads(const std::string& flag, const std::string& names,
                                const Transformer& model);

/// Returns the page of the lessons. Trains its models in a temporary folder, which is deleted at
/// the end, unless options.weights is false. Error if it is interrupted.
Page textbook(const PageOptions& options);

/// Returns the settings of a run that a user may give.
Flags flags_of(RunConfig& config);

/// Declares the kinds of models to which settings of models apply.
void for_models(Flags& settings);
/// Declares the pruning methods, named by `flag`, to which settings apply.
void for_methods(Flags& settings, const std::string& flag);

/// Makes Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGUSR1 end the program with a message, until
/// catch_interrupts is called.
void say_when_interrupted();
/// Makes the first of these signals request a clean stop, which `interrupted` returns; the second
/// ends the program at once.
void catch_interrupts();
bool interrupted();
/// Returns 75 s as 1:15.
std::string clock_text(double seconds);
/// Prepares a child process that works in parallel with others: all of these signals, and the end
/// of the parent, request a clean stop; progress is no longer shown.
void stop_with_parent(int parent);
/// Opens /dev/null in place of a closed stdin, stdout or stderr, so that no other file gets its
/// number and receives its text.
void open_standard_files();

/// Returns the columns of the terminal; 80 if unknown.
std::size_t stdout_width();

/// Returns the width of running text, such as help: that of the terminal, at most 80 columns.
std::size_t text_width();

void print(const std::string& text);
/// Prints text for a reader, in colours if stdout is a terminal that has them.
void print_shown(const TonedText& text);
/// Prints a line on stderr, unless the user asked for errors only.
void note(const std::string& text);
void set_quiet(bool quiet);
/// Prints a line on stderr in any case.
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
  /// Removes the line from the terminal, for other output.
  void clear();
  /// Returns the result if Ctrl-C came before the last step: the exit status is 130, and the note
  /// shows how to continue the run at `path` on its task.
  Output interrupted_or(Output output, const std::string& path, const std::string& task) const;
  /// Returns the result if Ctrl-C came while the task waited for its program (Stopped).
  Output stopped_while_waiting(const std::string& path, const std::string& task) const;

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

/// Shows the steps of long computations that have no other progress display while it exists: how
/// many are done, their rate, and the time left; nothing for the first two seconds.
class StepsShown {
 public:
  StepsShown();
  ~StepsShown();
  StepsShown(const StepsShown&) = delete;
  StepsShown& operator=(const StepsShown&) = delete;
};

/// Returns callbacks that show progress and stop at Ctrl-C.
RunCallbacks watch(Progress& progress);

// ---- results as pictures: app/report/figures.h makes them
// -------------------------------------------

/// Throws a UsageError unless `file` ends in `ending`, such as ".svg", in any case, or has no
/// ending.
void require_ending(const std::string& flag, const std::string& file, const std::string& ending);

/// Reads the flags of a benchmark: named sizes, what changes them, one or several --threads.
BenchOptions read_bench_options(Invocation& call);
/// Returns the result of a benchmark with the program, its build and the machine.
Output bench_output(const Invocation& call, const Result& found);

struct PictureFlags {
  std::string svg;    // file to write; "": none
  std::string width;  // "84mm"; "": the width for a screen

  void add_to(Flags& settings);
  bool wanted() const { return !svg.empty(); }
  /// Throws a UsageError for a file with the ending of another format, such as --svg x.png.
  void check_name() const;
  /// Returns the width for figures in units, 0 if none was given. UsageError for an invalid width,
  /// or one without a file to write.
  double units() const;
};

/// The flag --task of commands that analyse a run: another length or other data.
struct TaskFlag {
  std::string spec;  // "": the run's own task

  void add_to(Flags& settings);
  /// Opens a run with this task. UsageError for an unknown task or parameter; errors of open_run
  /// and use_task.
  Run open(const std::string& name) const;
};

/// Help of commands that measure other answers which lines of a file name.
inline constexpr const char* kPromptLines = R"(
many prompts: --task file:held_out=FILE; its lines may name another answer for
a target (`against`) and corrupted tokens, as `headlab show file` explains
)";

/// The flags of one prompt with named answers: --input, --answer, --against, --position, --target.
struct PromptFlags {
  std::string input;  // "": held-out examples
  AnswerWords words;

  void add_to(Flags& settings);
  bool wanted() const { return !input.empty(); }
};
/// Returns a user's own input, the value of `flag`, as an example of the run's task. Errors that
/// name the flag: an encoder-decoder; no token; an unknown token.
Example typed_example(const Run& run, const std::string& flag, const std::string& words);

/// Flags that name the files of patterns of any model, for commands that otherwise read a run.
struct StoredPatternFlags {
  StoredPatternFiles files;

  void add_to(Flags& settings);
  bool wanted() const { return !files.patterns.empty(); }
  /// Reads the files. UsageError if a run is named too, or if tokens are missing.
  StoredPatterns read(const Invocation& call) const;
};

/// Returns the scores of heads as text: the best head of each relation, which fits a screen, or all
/// that `shown` names. `explain`: with the meanings of the columns.
Output scores_output(const HeadsReport& report, const HeadsShown& shown, bool explain);
/// Returns the scores of stored patterns, without the command that reproduces them. Without ground
/// truth, the text has the scores that need none.
Output scores_of_stored(const Invocation& call, const StoredPatterns& patterns,
                        const HeadsOptions& options, HeadsShown shown = {}, bool explain = false);

/// Draws and writes the picture if one is requested, embeds the command that reproduces it, and
/// adds its files and a caption to the result.
Output with_picture(const Invocation& call, const PictureFlags& flags, Output output,
                    const std::function<Picture(double units)>& make);

// ---- commands with long work: jobs run in parallel (--jobs), in as many processes as run the same
// command; if one of several runs fails, the others continue

/// Declares the flag --jobs: the number of jobs in parallel.
void add_jobs(Flags& settings, Index& jobs);
/// Runs jobs, `jobs` of them in parallel, with a line for each. Ctrl-C stops all.
JobsDone make_shown(Index jobs, const std::vector<Job>& parts);
/// Returns whether this process is one of several that make_shown started.
bool is_worker();

/// Returns all settings as stored with a result, independent of how it was computed.
Json work_settings(const Invocation& call);
/// Returns the result of a command that was stopped.
Output stopped_result(const Invocation& call);

/// Outcome of several runs, in their order.
struct RunsDone {
  std::vector<std::string> paths{};                           // paths of completed runs
  std::vector<Json> found{};                                  // one result per completed run
  std::vector<std::pair<std::string, std::string>> failed{};  // path and error
  std::optional<Error> unwritten{};  // the error of a result that could not be stored
  /// Result of a command that was stopped before all runs were complete.
  std::optional<Output> ended{};

  /// Returns the output of a command on one or several runs: the runs and the keys `more`, the
  /// tables, the files that store them, and a line for each run that failed.
  Output shown(const Invocation& call, const Json::Object& more, const std::vector<Table>& tables,
               const std::string& files) const;
};
struct RunsWork {
  Index jobs;
  bool force;  // ignore stored results of the runs
  std::vector<std::string> paths;
  std::string file;  // name of the stored result of each run
  Keeping& keeping;  // storage in the options, set before each of these two calls
  /// Returns the jobs that can run in parallel, for runs that can be written.
  std::function<std::vector<Job>(const std::vector<std::filesystem::path>& paths)> parts{};
  /// Combines the parts.
  std::function<Json(const Run& run)> report{};
};
/// Runs the work. Throws the error of a single run; counts errors of several runs.
RunsDone do_runs(const Invocation& call, const RunsWork& work);

}  // namespace headlab::cli
